/*
 * A thread moves and clones arrays of references, and another one reads them: each element is an object of the array at
 * any time. Tear ROUNDS. Objects do not move, and their hash codes tell their addresses.
 */
public class Tear {
	static final Object[] all = new Object[40], moved = new Object[8];
	static final boolean[] known = new boolean[1 << 16];
	static volatile Object[] copy;
	static volatile boolean ended;

	static void check(Object o) {
		if (!known[System.identityHashCode(o) & 0xffff]) {
			System.out.println("half of an address");
			System.exit(1);
		}
	}

	public static void main(String[] args) throws InterruptedException {
		final int rounds = Integer.parseInt(args[0]);

		for (int i = 0; i < all.length; i++) {
			for (int k = 0; k < 5 + i; k++) /* addresses that differ in more than one byte */
				all[i] = new int[10];
			known[System.identityHashCode(all[i]) & 0xffff] = true;
		}
		System.arraycopy(all, 0, moved, 0, moved.length);
		copy = all.clone();
		Thread mover = new Thread() {
			public void run() {
				for (int i = 0; i < rounds; i++) {
					System.arraycopy(all, i % 30, moved, 0, 8);
					for (int k = 0; k < 6; k++)
						System.arraycopy(moved, 0, moved, 1, 7);
					copy = all.clone();
				}
				ended = true;
			}
		};
		mover.start();
		for (int i = 0; !ended; i++) {
			check(moved[i & 7]);
			all[32 + (i & 7)] = all[i & 31];
			check(copy[32 + (i & 7)]);
		}
		mover.join();
		System.out.println("whole");
	}
}
