/*
 * transfers.c - two threads, two mutexes, a deadlock: each thread moves money from its account to that of
 * the other, locks its own account first, and then waits for the other account for ever.
 */
#include <pthread.h>
#include <stdlib.h>

static struct account {
	pthread_mutex_t lock;
	long money;
} alice = {PTHREAD_MUTEX_INITIALIZER, 100}, bob = {PTHREAD_MUTEX_INITIALIZER, 100};
static pthread_barrier_t both_hold;

static void transfer(struct account *from, struct account *to, long money)
{
	pthread_mutex_lock(&from->lock);
	pthread_barrier_wait(&both_hold); /* so that it happens each time */
	pthread_mutex_lock(&to->lock);
	from->money -= money;
	to->money += money;
	pthread_mutex_unlock(&to->lock);
	pthread_mutex_unlock(&from->lock);
}

static void *alice_pays(void *arg)
{
	transfer(&alice, &bob, 10);
	return arg;
}

static void *bob_pays(void *arg)
{
	transfer(&bob, &alice, 20);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_barrier_init(&both_hold, NULL, 2);
	if (pthread_create(&threads[0], NULL, alice_pays, NULL) != 0 ||
	    pthread_create(&threads[1], NULL, bob_pays, NULL) != 0)
		abort();
	pthread_setname_np(threads[0], "alice pays");
	pthread_setname_np(threads[1], "bob pays");
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return alice.money + bob.money != 200;
}
