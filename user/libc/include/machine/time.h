/* machine/time.h - the unit of clock() and times(): microseconds, as XSI requires. */
#pragma once
#define _CLOCKS_PER_SEC_ 1000000
