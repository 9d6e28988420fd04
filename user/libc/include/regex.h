/* regex.h - newlib's, which needs off_t and size_t. */
#pragma once
#include <sys/types.h>
#include_next <regex.h>
