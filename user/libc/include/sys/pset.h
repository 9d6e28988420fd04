/* sys/pset.h - processor sets (Solaris: pset_create(2), pset_bind(2), pset_info(2)). */
#pragma once
#include <sys/processor.h>

typedef int psetid_t;

#ifdef __cplusplus
extern "C" {
#endif

int pset_create(psetid_t *set);
int pset_destroy(psetid_t set);
int pset_assign(psetid_t set, processorid_t cpu, psetid_t *old);
int pset_bind(psetid_t set, idtype_t type, id_t id, psetid_t *old);
int pset_info(psetid_t set, int *type, unsigned *ncpu, processorid_t *cpus);
int pset_list(psetid_t *sets, unsigned *n);

#ifdef __cplusplus
}
#endif
