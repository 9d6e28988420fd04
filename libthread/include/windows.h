/* windows.h - the part of Win32 that winthread.h has. */
#ifndef _WINDOWS_H
#define _WINDOWS_H
#include <winthread.h>
#endif
