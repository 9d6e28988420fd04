/* search.h - newlib's, and the linear searches and queues that it leaves out. */
#ifndef _WEFT_SEARCH_H
#define _WEFT_SEARCH_H
#include_next <search.h>

#ifdef __cplusplus
extern "C" {
#endif

void *lfind(const void *__key, const void *__base, size_t *__count, size_t __size,
	    int (*__compare)(const void *, const void *));
void *lsearch(const void *__key, void *__base, size_t *__count, size_t __size,
	      int (*__compare)(const void *, const void *));
void insque(void *__element, void *__before);
void remque(void *__element);

#ifdef __cplusplus
}
#endif
#endif
