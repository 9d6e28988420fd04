/* A race to hunt for: two threads look whether the one object exists, and both may make it. */
public class Lazy {
	static Lazy one;
	static int made;

	static Lazy get() {
		if (one == null) {
			made++;
			one = new Lazy();
		}
		return one;
	}

	public static void main(String[] args) throws InterruptedException {
		Thread[] threads = new Thread[2];

		for (int i = 0; i < threads.length; i++)
			threads[i] = new Thread() {
				public void run() {
					get();
				}
			};
		for (Thread t : threads)
			t.start();
		for (Thread t : threads)
			t.join();
		if (made != 1)
			throw new IllegalStateException("made " + made + " times");
	}
}
