/* nl_types.h - message catalogues, of which weft has none (catalogue.c). */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef void *nl_catd;
typedef int nl_item;

#define NL_SETD 1
#define NL_CAT_LOCALE 1

nl_catd catopen(const char *__name, int __flag);
char *catgets(nl_catd __catalogue, int __set, int __message, const char *__text);
int catclose(nl_catd __catalogue);

#ifdef __cplusplus
}
#endif
