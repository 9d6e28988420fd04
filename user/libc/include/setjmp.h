/* setjmp.h - newlib's, and the two functions that also save the signal mask. */
#ifndef _WEFT_SETJMP_H
#define _WEFT_SETJMP_H
#include_next <setjmp.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
	jmp_buf __registers;
	int __saved; /* is the mask to be restored? */
	unsigned long __mask;
} sigjmp_buf[1];

void __sigjmp_save(sigjmp_buf __env, int __savemask);
void siglongjmp(sigjmp_buf __env, int __value) __attribute__((__noreturn__));

/* Macros, as setjmp is, because the function that calls setjmp must not return before the jump. */
#define sigsetjmp(env, savemask) (__sigjmp_save((env), (savemask)), setjmp((env)->__registers))
#define _setjmp(env) setjmp(env)
#define _longjmp(env, value) longjmp((env), (value))

#ifdef __cplusplus
}
#endif
#endif
