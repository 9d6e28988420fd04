/*
 * A thread's priority is set while it begins: Born ROUNDS. It has the highest one, as its creator, and gets the lowest. Then
 * it and two others of the usual priority compete for two CPUs, and it must be the last to end in most rounds. In some it is
 * not, because a CPU runs an LWP of its own queue before one of higher priority in the queue of another CPU.
 */
public class Born {
	static final Object gate = new Object();
	static int waiting, ended, early;
	static boolean open;

	static class Worker extends Thread {
		public void run() {
			synchronized (gate) {
				waiting++;
				gate.notifyAll();
				while (!open)
					try {
						gate.wait();
					} catch (InterruptedException e) {
						return;
					}
			}
			for (int i = 0; i < 3000; i++)
				;
			synchronized (gate) {
				if (++ended < 3 && getPriority() == MIN_PRIORITY)
					early++;
			}
		}
	}

	static void await(int n) throws InterruptedException {
		synchronized (gate) {
			while (waiting < n)
				gate.wait();
		}
	}

	public static void main(String[] args) throws InterruptedException {
		Thread.currentThread().setPriority(Thread.MAX_PRIORITY);
		int rounds = Integer.parseInt(args[0]);

		for (int round = 0; round < rounds; round++) {
			Worker[] workers = {new Worker(), new Worker(), new Worker()};

			waiting = ended = 0;
			open = false;
			for (int i = 0; i < 2; i++) {
				workers[i].setPriority(Thread.NORM_PRIORITY);
				workers[i].start();
			}
			await(2);
			workers[2].start();
			for (int i = 0; i < round % 5 * 10; i++)
				;
			workers[2].setPriority(Thread.MIN_PRIORITY);
			await(3);
			synchronized (gate) {
				open = true;
				gate.notifyAll();
			}
			for (Worker w : workers)
				w.join();
		}
		System.out.println("early " + early);
		System.exit(early * 2 < rounds ? 0 : 1);
	}
}
