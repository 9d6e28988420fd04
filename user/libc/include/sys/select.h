/* sys/select.h - newlib's, with room for all descriptors that a process may have. */
#pragma once
#define FD_SETSIZE 1024 /* WEFT_OPEN_MAX */
#include_next <sys/select.h>
