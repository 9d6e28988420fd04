/*
 * ids.c - the table of ids, the sets of threads, and all their locks at once (ids.h).
 *
 * Ids count up from 1, the first thread's.  They are not used again until they wrap, so a stale id is
 * recognised.  Threads that are created one after the other are in different sets, also if different CPUs
 * create them, so two CPUs hardly ever want the lock of one set.
 */
#include "ids.h"

struct ilock __threads_lock;
struct thread *__thread_list, *__last_taker;

static struct id_set first_set;
struct id_set *__id_sets = &first_set;
uint32_t __id_sets_mask;
bool __are_apart;

#define FIRST_TABLE 64
static struct thread *first_table[FIRST_TABLE];
struct thread **__id_table = first_table;
uint32_t __id_table_mask = FIRST_TABLE - 1;
uint32_t __ids_used, __last_id;
bool __ids_wrapped;

void __threads_lock_all(void)
{
	ilock_lock(&__threads_lock);
	for (uint32_t i = 0; are_apart() && i <= __id_sets_mask; i++)
		ilock_lock(&__id_sets[i].lock);
}

void __threads_unlock_all_but(const struct ilock *kept)
{
	for (uint32_t i = 0; are_apart() && i <= __id_sets_mask; i++)
		if (&__id_sets[i].lock != kept)
			ilock_unlock_inner(&__id_sets[i].lock);
	if (&__threads_lock != kept)
		ilock_unlock(&__threads_lock);
}

void __threads_unlock_all(void)
{
	__threads_unlock_all_but(NULL);
}

void __id_search(void)
{
	__ids_wrapped = true;
	while (__last_id == 0 || id_find(__last_id) != NULL)
		__last_id++;
}

/* `wrapped` is set two billion ids early, so no thread can miss it. */
void __id_give_apart(struct thread *t)
{
	for (;;) {
		uint32_t id = __atomic_add_fetch(&__last_id, 1, __ATOMIC_RELAXED);
		struct ilock *lock = &id_set_of(id)->lock;

		if (unlikely((int32_t)id < 0))
			__atomic_store_n(&__ids_wrapped, true, __ATOMIC_RELAXED);
		ilock_lock(lock);
		if (likely(!__ids_wrapped) || (id != 0 && id_find(id) == NULL)) {
			t->id = id;
			id_insert(t);
			return;
		}
		ilock_unlock(lock);
	}
}

/* The table gets at least `size` entries, unless there is no memory for them or it has as many. */
static void table_enlarge(uint32_t size)
{
	struct thread **larger = __pages_alloc(size * sizeof(*larger)), **old = NULL, *t;
	size_t old_size = (__id_table_mask + 1ul) * sizeof(*larger);

	if (larger == NULL)
		return;
	__threads_lock_all();
	if (size - 1 > __id_table_mask) { /* no other thread has grown it meanwhile */
		t = __thread_list;
		do {
			if (t->id != 0) {
				t->hash_next = larger[t->id & (size - 1)];
				larger[t->id & (size - 1)] = t;
			}
			t = t->list_next;
		} while (t != __thread_list);
		old = __id_table;
		__id_table = larger;
		__id_table_mask = size - 1;
	}
	__threads_unlock_all();
	if (old == NULL)
		__sys_munmap(larger, size * sizeof(*larger));
	else if (old != first_table)
		__sys_munmap(old, old_size);
}

/* If there is no memory for a larger table, the chains grow, and no call fails. */
void __id_table_grow(void)
{
	table_enlarge((__id_table_mask + 1) * 4);
}

/*
 * Eight sets a CPU.  A CPU may stop while it holds a lock, and the others then give some more ids before it goes on:
 * these are mostly in other sets.  Without memory for the sets there is one.
 */
void __threads_apart(void)
{
	uint32_t n = FIRST_TABLE;
	struct id_set *sets;

	while (n < 8 * __ncpu)
		n *= 2;
	if (n > FIRST_TABLE)
		table_enlarge(n);
	if (n > __id_table_mask + 1)
		n = __id_table_mask + 1;
	sets = __pages_alloc(n * sizeof(*sets));
	if (sets == NULL)
		return;
	__id_sets = sets;
	__id_sets_mask = n - 1;
	__are_apart = true;
}

/* In a child of fork: no lock is held, and no thread has exited. */
void __threads_locks_forked(void)
{
	__threads_lock.held = 0;
	for (uint32_t i = 0; i <= __id_sets_mask; i++)
		__id_sets[i] = (struct id_set){};
}
