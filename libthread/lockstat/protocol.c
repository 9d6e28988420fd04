/*
 * protocol.c - the counting copy of sync/protocol.c, for mutex.c's counting copy.  The other
 * functions of that file are not used in this copy.
 */
#define COUNTED
#define __protocol_lock __counted_protocol_lock
#define __protocol_unlock __counted_protocol_unlock
#define __protocol_lost __counted_protocol_lost
#define __protocol_thread_exit __counted_protocol_thread_exit
#define __thread_set_sched __counted_thread_set_sched
#define pthread_mutex_getprioceiling __counted_mutex_getprioceiling
#define pthread_mutex_setprioceiling __counted_mutex_setprioceiling
#define __mutex_lock_plain __counted_mutex_lock_plain
#define __mutex_unlock_plain __counted_mutex_unlock_plain
#include "../sync/protocol.c"
