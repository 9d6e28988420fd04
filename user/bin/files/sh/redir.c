/*
 * redir.c - redirections.  The shell opens the files first, on descriptors that no script names,
 * and then moves them into place: in a child, in the shell permanently (exec), or in
 * the shell until a command has ended.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sh.h"

/* The minimum (POSIX, _POSIX_PIPE_BUF). */
#define PIPE_HOLDS 512

int own_fd(int fd)
{
	int own, saved;

	if (fd < 0 || fd >= FIRST_OWN_FD)
		return fd;
	own = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_OWN_FD);
	saved = errno;
	close(fd);
	errno = saved;
	return own;
}

/*
 * Returns a pipe that contains the text.  If the text may not fit into the pipe at once, a process
 * of its own writes it; the shell does not wait for that process.
 */
static int here_document(const char *text)
{
	struct place place = NO_PLACE;
	size_t len = strlen(text);
	int p[2];
	ssize_t n;

	if (pipe(p) < 0)
		return -1;
	if (len > PIPE_HOLDS) {
		place.close_too = p[0];
		if (start_fork(&place) != 0)
			goto out;
	}
	while (len) {
		n = write(p[1], text, len);
		if (n < 0)
			break;
		text += n;
		len -= n;
	}
	if (place.close_too >= 0)
		_exit(0);
out:
	close(p[1]);
	return own_fd(p[0]);
}

/* Parses the N or - behind >& or <&. */
static bool set_source(struct move *m, const char *word)
{
	char *end;
	long n;

	if (!strcmp(word, "-")) {
		m->from = -1;
		return true;
	}
	n = strtol(word, &end, 10);
	if (!isdigit((unsigned char)*word) || *end || n >= FIRST_OWN_FD) {
		complain("not a descriptor: %s", word);
		return false;
	}
	m->from = n; /* an earlier redirection may still have to create it */
	return true;
}

static bool open_one(const struct redir *r, struct move *m)
{
	static const int flags[] = {
		[REDIR_READ] = O_RDONLY,
		[REDIR_WRITE] = O_WRONLY | O_CREAT | O_TRUNC,
		[REDIR_APPEND] = O_WRONLY | O_CREAT | O_APPEND,
		[REDIR_RDWR] = O_RDWR | O_CREAT,
	};
	char *word = expand_string(r->word);

	*m = (struct move){.fd = r->fd, .saved = -1};
	if (m->fd >= FIRST_OWN_FD) {
		complain("descriptor %d: only 0 to 9 may be redirected", m->fd);
		return false;
	}
	if (r->kind == REDIR_DUP)
		return set_source(m, word);
	if (r->kind == REDIR_HERE)
		m->from = here_document(word);
	else
		m->from = own_fd(open(word, flags[r->kind] | O_CLOEXEC, 0666));
	m->owned = m->from >= 0;
	if (!m->owned)
		complain("%s: %s", r->kind == REDIR_HERE ? "here-document" : word, strerror(errno));
	return m->owned;
}

bool redir_open(const struct redir *r, struct moves *m)
{
	const struct redir *i;
	int n = 0;

	for (i = r; i; i = i->next)
		n++;
	*m = (struct moves){.v = arena_alloc(sh.tmp, n * sizeof(*m->v))};
	for (; r; r = r->next) {
		if (!open_one(r, &m->v[m->n])) {
			redir_close(m);
			return false;
		}
		m->n++;
	}
	return true;
}

void redir_close(struct moves *m)
{
	int i;

	for (i = 0; i < m->n; i++)
		if (m->v[i].owned) {
			close(m->v[i].from);
			m->v[i].owned = false;
		}
}

bool redir_apply(struct moves *m, bool save)
{
	struct move *v;

	for (v = m->v; v < m->v + m->n; v++) {
		if (save)
			v->saved = fcntl(v->fd, F_DUPFD_CLOEXEC, FIRST_OWN_FD);
		if (v->from < 0) {
			close(v->fd);
		} else if (dup2(v->from, v->fd) < 0) {
			complain("descriptor %d: %s", v->from, strerror(errno));
			if (v->saved >= 0)
				close(v->saved);
			redir_close(m);
			return false;
		}
		v->applied = true;
	}
	redir_close(m);
	return true;
}

void redir_undo(void *moves)
{
	struct moves *m = moves;
	struct move *v;

	fflush(stdout);
	for (v = m->v + m->n; v-- > m->v;) {
		if (!v->applied)
			continue;
		v->applied = false;
		if (v->saved < 0) {
			close(v->fd);
			continue;
		}
		dup2(v->saved, v->fd);
		close(v->saved);
	}
}

void redir_keep(void *moves)
{
	struct moves *m = moves;
	struct move *v;

	for (v = m->v; v < m->v + m->n; v++)
		if (v->applied && v->saved >= 0)
			close(v->saved);
}
