/* offsets.h - of struct thread (impl.h, which asserts them), for assembly. */
#pragma once

#define THREAD_ID 48
#define THREAD_CANCEL 56

#define CANCEL_DUE 1 /* struct thread, cancel */
