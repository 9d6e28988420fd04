/*
 * userkey.h - a name for a place in user memory (mm/key.c).
 */
#pragma once
#include "types.h"

struct vnode;

/*
 * The name of a place in memory, the same for all LWPs that can reach it (mm/key.c).  It is the
 * object that is mapped there and the offset in it; for private memory, the address space and the
 * address.  So it is the same before and after a page is copied or replaced.
 */
struct user_key {
	const void *object;
	uint64_t offset;
	struct vnode *held; /* keeps the object, if it is not the address space */
};
/*
 * Finds the key of addr in the current process.  If shared is false, the key is that of private
 * memory, whatever is mapped there.  -EFAULT: nothing is mapped there.  The key is held until
 * user_key_put.  Takes as->lock; may sleep.
 */
int user_key_get(struct user_key *key, vaddr_t addr, bool shared);
void user_key_put(struct user_key *key);
