/*
 * libc_users.c - small questions that programs ask a system: the one user and the one group, limits of
 * paths, and memory that is to stay.
 */
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/mman.h>
#include "tap.h"

static void users(void)
{
	struct passwd *p = getpwuid(getuid()), pw, *found;
	struct group *g = getgrgid(getgid()), gr, *group;
	char buf[100];

	ok("getpwuid of the caller", p != NULL && p->pw_uid == getuid() && p->pw_gid == getgid());
	ok("by name it is the same", p != NULL && getpwnam(p->pw_name) == p);
	ok("it has a home and a shell",
	   p != NULL && access(p->pw_dir, X_OK) == 0 && access(p->pw_shell, X_OK) == 0);
	errno = 0;
	ok("getpwnam of nobody", getpwnam("nobody") == NULL && errno == 0);
	ok("getpwuid of nobody", getpwuid(1000) == NULL && errno == 0);
	is("getpwuid_r", getpwuid_r(0, &pw, buf, sizeof(buf), &found), 0);
	ok("fills the structure", found == &pw && strcmp(pw.pw_name, p->pw_name) == 0);
	is("getpwnam_r of nobody", getpwnam_r("nobody", &pw, buf, sizeof(buf), &found), 0);
	ok("finds nothing", found == NULL);
	is("getpwnam_r without room", getpwnam_r(p->pw_name, &pw, buf, 0, &found), ERANGE);
	setpwent();
	ok("getpwent: one user", getpwent() == p && getpwent() == NULL);
	setpwent();
	ok("setpwent: from the start", getpwent() == p);
	endpwent();

	ok("getgrgid of the caller", g != NULL && g->gr_gid == getgid());
	ok("getgrnam", g != NULL && getgrnam(g->gr_name) == g);
	ok("the user is in it", g != NULL && strcmp(g->gr_mem[0], p->pw_name) == 0);
	ok("getgrnam of nobody", getgrnam("nobody") == NULL && getgrgid(1000) == NULL);
	is("getgrgid_r", getgrgid_r(0, &gr, buf, sizeof(buf), &group), 0);
	ok("fills it", group == &gr && gr.gr_gid == 0);
	is("getgrnam_r of nobody", getgrnam_r("nobody", &gr, buf, sizeof(buf), &group), 0);
	ok("finds none", group == NULL);
	ok("getgrent: one group", getgrent() == g && getgrent() == NULL);
	endgrent();
	ok("getlogin", strcmp(getlogin(), p->pw_name) == 0);
	is("getlogin_r", getlogin_r(buf, sizeof(buf)), 0);
	ok("says the same", strcmp(buf, getlogin()) == 0);
	is("getlogin_r without room", getlogin_r(buf, 4), ERANGE);
}

static void limits(void)
{
	char name[300];
	int fd;

	long most = pathconf("/tmp", _PC_NAME_MAX);
	memset(name, 'x', sizeof(name));
	memcpy(name, "/tmp/", 5);
	name[5 + most] = '\0';
	fd = open(name, O_CREAT | O_RDWR, 0600);
	ok("a name of _PC_NAME_MAX bytes", fd >= 0 && unlink(name) == 0);
	is("fpathconf says the same", fpathconf(fd, _PC_NAME_MAX), most);
	name[5 + most] = 'x';
	name[6 + most] = '\0';
	fails("and one more", open(name, O_CREAT | O_RDWR, 0600), ENAMETOOLONG);
	ok("_PC_PIPE_BUF", fpathconf(fd, _PC_PIPE_BUF) >= 512);
	errno = 0;
	ok("_PC_LINK_MAX: no limit", pathconf("/", _PC_LINK_MAX) == -1 && errno == 0);
	fails("no such name", pathconf("/", 12345), EINVAL);
	fails("no such file", pathconf("/none", _PC_NAME_MAX), ENOENT);
	close(fd);
	fails("no such descriptor", fpathconf(fd, _PC_NAME_MAX), EBADF);
}

static void memory(void)
{
	char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);

	is("mlock", mlock(p, 3 * 4096), 0);
	is("of any bytes", mlock(p + 100, 8000), 0);
	is("of none", mlock(p, 0), 0);
	is("munlock", munlock(p, 3 * 4096), 0);
	munmap(p + 4096, 4096);
	fails("over a hole", mlock(p, 3 * 4096), ENOMEM);
	fails("a byte in it", mlock(p + 5000, 1), ENOMEM);
	fails("up to it", mlock(p + 4000, 200), ENOMEM);
	fails("munlock there", munlock(p, 3 * 4096), ENOMEM);
	fails("beyond the last address", mlock(p, SIZE_MAX), ENOMEM);
	is("mlockall", mlockall(MCL_CURRENT | MCL_FUTURE), 0);
	is("munlockall", munlockall(), 0);
	fails("mlockall of nothing", mlockall(0), EINVAL);
	fails("mlockall of what is not known", mlockall(64), EINVAL);
	ok("sysconf knows", sysconf(_SC_MEMLOCK) > 0 && sysconf(_SC_MEMLOCK_RANGE) > 0);
}

int main(void)
{
	users();
	limits();
	memory();
	return tap_done();
}
