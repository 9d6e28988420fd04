/*
 * users.c - the user and the group data bases, with one entry each.
 *
 * There is one user, root, whose ids are 0 (process.c), in one group of the same name.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "libc.h"

#define USER "root"

static struct passwd user = {.pw_name = (char *)USER,
			     .pw_passwd = (char *)"x",
			     .pw_comment = (char *)"",
			     .pw_gecos = (char *)"",
			     .pw_dir = (char *)"/",
			     .pw_shell = (char *)"/bin/sh"};
static char *members[] = {(char *)USER, NULL};
static struct group group = {.gr_name = (char *)USER, .gr_passwd = (char *)"x", .gr_mem = members};

static bool user_read, group_read; /* returned by getpwent, getgrent */

/* Every call returns the same memory, which never changes.  NULL, with errno unchanged: no such
 * entry. */
struct passwd *getpwnam(const char *name)
{
	return strcmp(name, USER) == 0 ? &user : NULL;
}

struct passwd *getpwuid(uid_t uid)
{
	return uid == user.pw_uid ? &user : NULL;
}

struct group *getgrnam(const char *name)
{
	return strcmp(name, USER) == 0 ? &group : NULL;
}

struct group *getgrgid(gid_t gid)
{
	return gid == group.gr_gid ? &group : NULL;
}

/*
 * The same, into the caller's structure.  *result points to it, or is NULL: no such entry.  Its
 * strings are constants, so buf is not needed; size is only checked.  These functions return an
 * error number: ERANGE: size is 0.
 */
static int user_out(const struct passwd *found, struct passwd *to, size_t size,
		    struct passwd **result)
{
	*result = NULL;
	if (found == NULL)
		return 0;
	if (size == 0)
		return ERANGE;
	*to = *found;
	*result = to;
	return 0;
}

static int group_out(const struct group *found, struct group *to, size_t size,
		     struct group **result)
{
	*result = NULL;
	if (found == NULL)
		return 0;
	if (size == 0)
		return ERANGE;
	*to = *found;
	*result = to;
	return 0;
}

int getpwnam_r(const char *name, struct passwd *to, char *buf, size_t size, struct passwd **result)
{
	return user_out(getpwnam(name), to, size, result);
}

int getpwuid_r(uid_t uid, struct passwd *to, char *buf, size_t size, struct passwd **result)
{
	return user_out(getpwuid(uid), to, size, result);
}

int getgrnam_r(const char *name, struct group *to, char *buf, size_t size, struct group **result)
{
	return group_out(getgrnam(name), to, size, result);
}

int getgrgid_r(gid_t gid, struct group *to, char *buf, size_t size, struct group **result)
{
	return group_out(getgrgid(gid), to, size, result);
}

void setpwent(void)
{
	user_read = false;
}

void endpwent(void)
{
	user_read = false;
}

struct passwd *getpwent(void)
{
	bool end = user_read;

	user_read = true;
	return end ? NULL : &user;
}

void setgrent(void)
{
	group_read = false;
}

void endgrent(void)
{
	group_read = false;
}

struct group *getgrent(void)
{
	bool end = group_read;

	group_read = true;
	return end ? NULL : &group;
}

char *getlogin(void)
{
	return user.pw_name;
}

/* Returns an error number: ERANGE: size is too small. */
int getlogin_r(char *name, size_t size)
{
	return strlcpy(name, USER, size) >= size ? ERANGE : 0;
}
