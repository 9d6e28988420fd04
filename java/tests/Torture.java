import java.util.*;

/*
 * Many threads allocate, lock, wait, notify, interrupt and throw at random, and check what they have: Torture SEED THREADS
 * ROUNDS. Each thread owns a tree, whose sum it knows; accounts are shared, and their sum stays. A gate has two permits, and
 * wakes one waiter for each: a notification that goes to no waiter leaves another asleep for ever. One of four threads
 * collects in each round, so that the others are stopped wherever they are.
 */
public class Torture {
	static class Node {
		Node left, right;
		int value;
		byte[] ballast;
	}

	static class Failure extends RuntimeException {
		Failure(String message) {
			super(message);
		}
	}

	static class Account {
		long money = 1000;
		int waiters;
	}

	static final Account[] accounts = new Account[5];
	static Thread[] threads;
	static final Object gate = new Object();
	static int permits = 2, failures;
	static volatile int ended;

	static Node build(Random random, int depth) {
		Node n = new Node();

		n.value = random.nextInt(100);
		if (random.nextInt(8) == 0)
			n.ballast = new byte[random.nextInt(3000)];
		if (depth > 0 && random.nextInt(10) != 0)
			n.left = build(random, depth - 1);
		if (depth > 0 && random.nextInt(10) != 0)
			n.right = build(random, depth - 1);
		return n;
	}

	static int sum(Node n) {
		if (n == null)
			return 0;
		if (n.ballast != null)
			for (int i = 0; i < n.ballast.length; i += 100)
				if (n.ballast[i] != 0)
					throw new Failure("memory that is not zero");
		return n.value + sum(n.left) + sum(n.right);
	}

	static void transfer(Random random) {
		Account a = accounts[random.nextInt(5)], b = accounts[random.nextInt(5)];
		int amount = random.nextInt(50);

		if (System.identityHashCode(a) > System.identityHashCode(b)) {
			Account c = a;
			a = b;
			b = c;
		}
		synchronized (a) {
			synchronized (b) {
				a.money -= amount;
				if (random.nextInt(4) == 0)
					Thread.yield();
				b.money += amount;
				if (random.nextInt(10) == 0)
					throw new IllegalStateException("thrown with locks");
			}
		}
	}

	static void meet(Random random) {
		Account a = accounts[random.nextInt(5)];

		synchronized (a) {
			int before = a.waiters++;
			try {
				if (random.nextBoolean())
					a.wait(0, 1 + random.nextInt(200000));
				else
					a.notify();
			} catch (InterruptedException e) {
				if (!Thread.holdsLock(a))
					throw new Failure("interrupted without the lock");
			} finally {
				a.waiters--;
			}
			if (a.waiters < 0 || before < 0)
				throw new Failure("the lock was not held");
			a.notifyAll();
		}
	}

	static void pass(Random random) {
		boolean limited = random.nextInt(3) == 0;

		synchronized (gate) {
			try {
				while (permits == 0) {
					if (limited)
						gate.wait(0, 1 + random.nextInt(100000));
					else
						gate.wait();
					if (limited && permits == 0)
						return;
				}
			} catch (InterruptedException e) {
				return;
			}
			permits--;
		}
		sum(build(random, 3));
		Thread.yield();
		synchronized (gate) {
			permits++;
			gate.notify();
		}
	}

	static void round(Random random, Object[] mine) {
		switch (random.nextInt(8)) {
		case 0:
			mine[0] = build(random, 6);
			mine[1] = sum((Node)mine[0]);
			break;
		case 1:
			try {
				transfer(random);
			} catch (IllegalStateException e) {
				if (e.getStackTrace().length < 3)
					throw new Failure("no trace");
			}
			break;
		case 2:
			meet(random);
			break;
		case 3:
			Thread t = threads[random.nextInt(threads.length)];
			if (t != null)
				t.interrupt();
			break;
		case 4:
			HashMap<Integer, String> map = new HashMap<Integer, String>();
			for (int i = 0; i < 60; i++)
				map.put(i * 37, "value " + i);
			for (int i = 0; i < 60; i++)
				if (!map.get(i * 37).equals("value " + i))
					throw new Failure("a map has changed");
			break;
		case 5:
		case 6:
			pass(random);
			break;
		default:
			if (random.nextInt(20) == 0)
				System.gc();
			Object[] links = null;
			for (int i = 0; i < 100; i++)
				links = new Object[] {links, Integer.valueOf(i + 1000)};
			for (int i = 100; i-- > 0; links = (Object[])links[0])
				if (((Integer)links[1]).intValue() != i + 1000)
					throw new Failure("a list has changed");
		}
		if (mine[0] != null && sum((Node)mine[0]) != ((Integer)mine[1]).intValue())
			throw new Failure("a tree has changed");
	}

	public static void main(String[] args) throws InterruptedException {
		final int seed = Integer.parseInt(args[0]), rounds = Integer.parseInt(args[2]);
		long money = 0;

		for (int i = 0; i < 5; i++)
			accounts[i] = new Account();
		threads = new Thread[Integer.parseInt(args[1])];
		for (int i = 0; i < threads.length; i++) {
			final int number = i;
			threads[i] = new Thread() {
				public void run() {
					Random random = new Random(seed * 1000 + number);
					Object[] mine = new Object[2];
					try {
						for (int k = 0; k < rounds; k++) {
							round(random, mine);
							if (number % 4 == 3)
								System.gc();
						}
					} catch (Throwable t) {
						t.printStackTrace();
						synchronized (Torture.class) {
							failures++;
						}
					}
					synchronized (Torture.class) {
						ended++;
					}
				}
			};
		}
		for (Thread t : threads)
			t.start();
		for (Thread t : threads)
			while (t.isAlive())
				try {
					t.join();
				} catch (InterruptedException e) {
				}
		for (Account a : accounts)
			money += a.money;
		System.out.println("ended " + ended + " failures " + failures + " money " + money + " permits " + permits);
		System.exit(failures == 0 && money == 5000 && permits == 2 && ended == threads.length ? 0 : 1);
	}
}
