/* sys/select.h - newlib's, with room for all descriptors of a process. */
#pragma once
#define FD_SETSIZE 1024 /* WEFT_OPEN_MAX */
#include_next <sys/select.h>
