/*
 * A thread goes in and out of a safe region, while another one collects: Stopped ROUNDS. When it is out, it moves an object
 * between two places before it looks again whether it shall stop. A collector that does not see that the thread runs has
 * been at one place before, and comes to the other one afterwards, because of what it finds in between: it would free the
 * object.
 */
public class Stopped {
	static volatile boolean ended;

	static class Place {
		Object item;
	}

	static class Mover extends Thread {
		/* The collector goes through the fields from the last one on. */
		final Place late = new Place();
		final Object[] between = new Object[2000];
		final Place early = new Place();
		final int rounds;
		boolean wrong;

		Mover(int rounds) {
			this.rounds = rounds;
			late.item = new int[3];
			for (int i = 0; i < between.length; i++)
				between[i] = new int[i & 3];
		}

		public void run() {
			for (int k = 0; k < rounds; k++) {
				Thread.yield();
				early.item = late.item;
				late.item = null;
				Thread.yield();
				wrong |= !(early.item instanceof int[]);
				late.item = early.item;
				early.item = null;
			}
		}
	}

	public static void main(String[] args) throws InterruptedException {
		Mover mover = new Mover(Integer.parseInt(args[0]));
		Thread collector = new Thread() {
			int pause;

			public void run() {
				while (!ended) {
					System.gc();
					pause = (pause * 29 + 7) % 1024;
					for (int i = 0; i < pause; i++) /* in which the mover comes on, by another way each time */
						;
				}
			}
		};

		mover.start();
		collector.start();
		mover.join();
		ended = true;
		collector.join();
		System.out.println(mover.wrong ? "an object that lives was freed" : "it lives");
		System.exit(mover.wrong ? 1 : 0);
	}
}
