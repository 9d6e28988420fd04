/*
 * A thread's priority is set while it begins: Born ROUNDS. Then it and two others of the usual priority compete for two
 * CPUs. They wait at a gate before it, and so wake up before it; it must not be the last to end.
 */
public class Born {
	static final Object gate = new Object();
	static int waiting, ended, late;
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
				if (++ended == 3 && getPriority() == MAX_PRIORITY)
					late++;
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
		for (int round = 0; round < Integer.parseInt(args[0]); round++) {
			Worker[] workers = {new Worker(), new Worker(), new Worker()};

			waiting = ended = 0;
			open = false;
			workers[0].start();
			workers[1].start();
			await(2);
			workers[2].start();
			for (int i = 0; i < round * 20; i++)
				;
			workers[2].setPriority(Thread.MAX_PRIORITY);
			await(3);
			synchronized (gate) {
				open = true;
				gate.notifyAll();
			}
			for (Worker w : workers)
				w.join();
		}
		System.out.println("late " + late);
		System.exit(late == 0 ? 0 : 1);
	}
}
