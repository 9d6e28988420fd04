/* offsets.h - of struct thread (impl.h, which asserts them), for assembly. */
#pragma once

#define THREAD_RSP 32
#define THREAD_FP_CONTROL 40
#define THREAD_ID 56
#define THREAD_ON_STACK 64
#define THREAD_CANCEL 72

#define CANCEL_DUE 1 /* struct thread, cancel */
