/*
 * signal.h - signal numbers, as in the BSDs (design: SIGWAITING is Solaris's).
 */
#pragma once

#define WEFT_SIGHUP 1
#define WEFT_SIGINT 2
#define WEFT_SIGQUIT 3
#define WEFT_SIGILL 4
#define WEFT_SIGTRAP 5
#define WEFT_SIGABRT 6
#define WEFT_SIGFPE 8
#define WEFT_SIGKILL 9
#define WEFT_SIGBUS 10
#define WEFT_SIGSEGV 11
#define WEFT_SIGSYS 12
#define WEFT_SIGPIPE 13
#define WEFT_SIGALRM 14
#define WEFT_SIGTERM 15
#define WEFT_SIGCHLD 20
#define WEFT_NSIG 64
