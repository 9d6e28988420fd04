/* Two threads come to a call site that is not linked yet, at once: a lambda expression without captured values is one object. */
public class Same {
	static final int SITES = 12;
	static int different, arrived;

	static Runnable site(int i) {
		switch (i) {
		case 0:
			return () -> {};
		case 1:
			return () -> {};
		case 2:
			return () -> {};
		case 3:
			return () -> {};
		case 4:
			return () -> {};
		case 5:
			return () -> {};
		case 6:
			return () -> {};
		case 7:
			return () -> {};
		case 8:
			return () -> {};
		case 9:
			return () -> {};
		case 10:
			return () -> {};
		default:
			return () -> {};
		}
	}

	/* Returns when both threads have called it so many times. */
	static void meet(int times) {
		synchronized (Same.class) {
			arrived++;
		}
		for (boolean both = false; !both;)
			synchronized (Same.class) {
				both = arrived >= 2 * times;
			}
	}

	static void visit() {
		for (int i = 0; i < SITES; i++) {
			meet(i + 1);
			Runnable first = site(i);
			if (first != site(i))
				synchronized (Same.class) {
					different++;
				}
		}
	}

	public static void main(String[] args) throws InterruptedException {
		Thread other = new Thread(Same::visit);

		other.start();
		visit();
		other.join();
		System.out.println(different == 0 ? "one object each" : different + " differ");
		System.exit(different == 0 ? 0 : 1);
	}
}
