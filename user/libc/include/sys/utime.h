/* sys/utime.h - newlib's, which needs time_t. */
#pragma once
#include <sys/types.h>
#include_next <sys/utime.h>
