/* attr.h - the initial values of a thread's attributes object. */
#pragma once
#include <weft/abi.h>

#define DEFAULT_STACK (1ul << 20)
#define DEFAULT_GUARD ((size_t)WEFT_PAGE_SIZE)
#define ATTR_VALID 0x74617474
