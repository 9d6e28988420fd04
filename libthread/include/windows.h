/* windows.h - of Win32, what winthread.h has. */
#ifndef _WINDOWS_H
#define _WINDOWS_H
#include <winthread.h>
#endif
