/* sys/processor.h - CPUs: state and binding (Solaris: p_online(2), processor_bind(2)). */
#pragma once
#include <sys/procset.h>
#include <weft/processor.h>

typedef int processorid_t;

#ifdef __cplusplus
extern "C" {
#endif

int p_online(processorid_t cpu, int flag);
int processor_bind(idtype_t type, id_t id, processorid_t cpu, processorid_t *old);

#ifdef __cplusplus
}
#endif
