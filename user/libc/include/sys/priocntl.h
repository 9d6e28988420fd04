/* sys/priocntl.h - scheduling classes (Solaris: priocntl(2)); weft/priocntl.h describes them. */
#pragma once
#include <sys/procset.h>
#include <weft/priocntl.h>

typedef struct pcinfo pcinfo_t;
typedef struct pcparms pcparms_t;
typedef struct pcnice pcnice_t;
typedef struct pcadmin pcadmin_t;
typedef struct tsparms tsparms_t;
typedef struct rtparms rtparms_t;
typedef struct ntparms ntparms_t;

#ifdef __cplusplus
extern "C" {
#endif

long priocntl(idtype_t type, id_t id, int command, void *arg);

#ifdef __cplusplus
}
#endif
