/*
 * offsets.h - of struct thread (impl.h, which asserts them), for assembly, and for tools that look
 * at the threads of another process (user/bin/thread.h).
 */
#pragma once

#define THREAD_RSP 32
#define THREAD_FP_CONTROL 40
#define THREAD_ID 56
#define THREAD_ON_STACK 64
#define THREAD_CANCEL 72
#define THREAD_NAMED 77
#define THREAD_NAME_AT 449

#define THREAD_NAME 16 /* bytes of a name */

#define CANCEL_DUE 1 /* struct thread, cancel */
