/*
 * spawn.h - newlib's, and two additions of the GNU library.
 */
#pragma once
#include_next <spawn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The child's group becomes the console's foreground group: Ctrl-C goes to it. */
int posix_spawn_file_actions_addtcsetpgrp_np(posix_spawn_file_actions_t *fa, int fd);
/* The child starts in this directory. */
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *fa, const char *path);

#ifdef __cplusplus
}
#endif
