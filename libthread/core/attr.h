/* attr.h - what an attributes object of a thread holds at first. */
#pragma once
#include <weft/abi.h>

#define DEFAULT_STACK (1ul << 20)
#define DEFAULT_GUARD ((size_t)WEFT_PAGE_SIZE)
#define ATTR_VALID 0x74617474
