/*
 * key.c - names for places in user memory at which waiters block (kern/userkey.h).
 */
#include <weft/errno.h>
#include <weft/mman.h>
#include <kern/file.h>
#include <kern/proc.h>
#include <kern/space.h>
#include <kern/userkey.h>
#include "impl.h"

int user_key_get(struct user_key *key, vaddr_t addr, bool shared)
{
	struct address_space *as = curproc()->as;
	int err = 0;

	*key = (struct user_key){.object = as, .offset = addr};
	if (!shared)
		return 0;
	krw_read_enter(&as->lock);
	const struct mapping *m = mapping_find(as, addr);
	if (m == NULL) {
		err = -EFAULT;
	} else if ((m->flags & WEFT_MAP_SHARED) && m->vnode != NULL) {
		key->object = key->held = m->vnode;
		key->offset = m->off + (addr - m->start);
		vnode_hold(key->held);
	}
	krw_read_exit(&as->lock);
	return err;
}

void user_key_put(struct user_key *key)
{
	if (key->held != NULL)
		vnode_rele(key->held);
}
