/* deadlock.c - waits for itself, for ever: what exact timing reports as a standstill. */
#include <pthread.h>

int main(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&m);
	pthread_mutex_lock(&m);
	return 0;
}
