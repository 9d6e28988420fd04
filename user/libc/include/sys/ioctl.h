/* sys/ioctl.h - requests on the console.  The pointer argument depends on the request. */
#pragma once
#include <weft/file.h>

#define TIOCGPGRP WEFT_TIOCGPGRP   /* pid_t * */
#define TIOCSPGRP WEFT_TIOCSPGRP   /* const pid_t * */
#define TIOCGWINSZ WEFT_TIOCGWINSZ /* struct winsize * */
#define TIOCSWINSZ WEFT_TIOCSWINSZ /* const struct winsize * */

struct winsize {
	unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};

#ifdef __cplusplus
extern "C" {
#endif

int ioctl(int fd, unsigned long request, ...);

#ifdef __cplusplus
}
#endif
