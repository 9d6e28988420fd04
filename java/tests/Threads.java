import java.util.*;
import java.util.concurrent.atomic.*;

/* Threads: start, join, interrupt, sleep, wait with a limit, daemons, handlers, initialisation of classes by many. */
public class Threads {
	static class Slow {
		static int value;

		static {
			try {
				Thread.sleep(5);
			} catch (InterruptedException e) {
			}
			value = 42;
		}

		static int get() {
			return value;
		}
	}

	static class Left {
		static int x = 1;

		static int get() {
			return x + Right.x;
		}

		static {
			pause();
			x += Right.x;
		}
	}

	static class Right {
		static int x = 1;

		static {
			x = 2;
		}
	}

	static void pause() {
		try {
			Thread.sleep(2);
		} catch (InterruptedException e) {
			System.out.println("interrupted?");
		}
	}

	static abstract class Worker extends Thread {
		abstract void work() throws Exception;

		public void run() {
			try {
				work();
			} catch (Exception e) {
				System.out.println(e);
			}
		}
	}

	static void joinAll(Thread[] threads) throws InterruptedException {
		for (Thread t : threads)
			t.start();
		for (Thread t : threads)
			t.join();
	}

	static void counters() throws InterruptedException {
		final AtomicInteger atomic = new AtomicInteger();
		final AtomicLong wide = new AtomicLong(1L << 40);
		final long[] plain = new long[1];
		final Object lock = new Object();
		Thread[] threads = new Thread[8];

		for (int i = 0; i < threads.length; i++)
			threads[i] = new Worker() {
				void work() {
					for (int k = 0; k < 300; k++) {
						atomic.incrementAndGet();
						wide.addAndGet(3);
						synchronized (lock) {
							plain[0]++;
						}
						if (k % 50 == 0)
							Thread.yield();
					}
				}
			};
		joinAll(threads);
		System.out.println(atomic + " " + wide + " " + plain[0]);
	}

	static void initialisation() throws InterruptedException {
		final AtomicInteger good = new AtomicInteger();
		Thread[] threads = new Thread[6];

		for (int i = 0; i < threads.length; i++)
			threads[i] = new Worker() {
				void work() {
					if (Slow.get() == 42 && Left.get() == 5)
						good.incrementAndGet();
				}
			};
		joinAll(threads);
		System.out.println("initialised " + good);
	}

	static void interrupts() throws InterruptedException {
		final Object lock = new Object();
		final ArrayList<String> told = new ArrayList<String>();
		Thread waiter = new Worker() {
			void work() {
				synchronized (lock) {
					try {
						lock.wait();
						told.add("no interrupt");
					} catch (InterruptedException e) {
						told.add("wait interrupted " + Thread.holdsLock(lock) + isInterrupted());
					}
				}
			}
		};
		Thread sleeper = new Worker() {
			void work() {
				try {
					Thread.sleep(1000000);
				} catch (InterruptedException e) {
					told.add("sleep interrupted " + isInterrupted());
				}
				interrupt();
				try {
					synchronized (lock) {
						lock.wait(1000000);
					}
				} catch (InterruptedException e) {
					told.add("interrupted before");
				}
			}
		};

		waiter.start();
		waiter.interrupt();
		waiter.join();
		sleeper.start();
		sleeper.interrupt();
		sleeper.join();
		System.out.println(told);
		Thread.currentThread().interrupt();
		System.out.println(Thread.currentThread().isInterrupted() + " " + Thread.interrupted() + " " + Thread.interrupted());
	}

	static void limits() throws InterruptedException {
		Object lock = new Object();
		long begin = System.nanoTime();

		synchronized (lock) {
			lock.wait(5);
		}
		Thread.sleep(5);
		System.out.println("waited " + (System.nanoTime() - begin >= 10000000));
		Thread t = new Worker() {
			void work() throws Exception {
				Thread.sleep(40);
			}
		};
		t.start();
		t.join(1);
		System.out.println(t.isAlive());
		t.join();
		System.out.println(t.isAlive() + " " + t.getState());
		try {
			t.start();
		} catch (IllegalThreadStateException e) {
			System.out.println("no second start");
		}
	}

	static void buffer() throws InterruptedException {
		final int[] ring = new int[4];
		final int[] n = new int[3]; /* filled, put, taken */
		final long[] sum = new long[1];
		final Object lock = new Object();
		Thread[] threads = new Thread[6];

		for (int i = 0; i < 6; i++) {
			final boolean producer = i < 3;
			threads[i] = new Worker() {
				void work() throws Exception {
					for (int k = 0; k < 200; k++)
						synchronized (lock) {
							while (n[0] == (producer ? 4 : 0))
								lock.wait();
							if (producer)
								ring[n[1]++ % 4] = k;
							else
								sum[0] += ring[n[2]++ % 4];
							n[0] += producer ? 1 : -1;
							lock.notifyAll();
						}
				}
			};
		}
		joinAll(threads);
		System.out.println("sum " + sum[0] + " " + n[0]);
	}

	public static void main(String[] args) throws Exception {
		counters();
		initialisation();
		interrupts();
		limits();
		buffer();
		Thread t = new Thread("thrower") {
			public void run() {
				throw new IllegalStateException("mine");
			}
		};
		t.setUncaughtExceptionHandler(new Thread.UncaughtExceptionHandler() {
			public void uncaughtException(Thread t, Throwable e) {
				System.out.println(t.getName() + " " + e);
			}
		});
		t.start();
		t.join();
		final ThreadLocal<Integer> local = new ThreadLocal<Integer>() { protected Integer initialValue() { return 5; } };
		local.set(6);
		Thread[] one = {new Worker() { void work() { System.out.println("local " + local.get()); } }};
		joinAll(one);
		System.out.println("local " + local.get() + " " + Thread.currentThread().getName());
		Thread daemon = new Worker() { void work() throws Exception { Thread.sleep(100000000); } };
		daemon.setDaemon(true);
		daemon.start();
		new Worker() { void work() { pause(); System.out.println("the last"); } }.start();
	}
}
