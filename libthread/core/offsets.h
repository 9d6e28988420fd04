/* offsets.h - offsets in struct thread (tcb.h asserts them), for assembly. */
#pragma once

#define THREAD_RSP 32
#define THREAD_FP_CONTROL 40
#define THREAD_STATE 64
#define THREAD_ID 72
#define THREAD_ON_STACK 80
#define THREAD_CANCEL 88
#define THREAD_APART 552
#define APART_SAVED 2 /* struct thread, apart */
#define ULWP_RUN_LOCK 44

#define THREAD_NAME 16 /* bytes of a name */

#define CANCEL_DUE 1 /* struct thread, cancel */

/* Offsets in struct weft_ucontext (core/context.c asserts them). */
#define CONTEXT_R12 80
#define CONTEXT_R13 88
#define CONTEXT_R14 96
#define CONTEXT_R15 104
#define CONTEXT_RBP 128
#define CONTEXT_RBX 136
#define CONTEXT_RSP 168
#define CONTEXT_RIP 176
