/* Threads of three priorities compute on one CPU: those of a higher priority end first. Priority before or after start(). */
public class Priority {
	static final int[] PRIORITIES = {1, 5, 10};
	static final StringBuffer order = new StringBuffer();
	static volatile int ready;
	static volatile boolean go;

	static class Worker extends Thread {
		public void run() {
			int sum = 0;

			synchronized (order) {
				ready++;
				while (!go)
					try {
						order.wait();
					} catch (InterruptedException e) {
						return;
					}
			}
			for (int i = 0; i < 2000; i++) {
				for (int k = 0; k < 100; k++)
					sum += k;
				Thread.yield();
			}
			order.append(getPriority() + " ");
		}
	}

	static void compete(boolean before) throws InterruptedException {
		Worker[] workers = new Worker[PRIORITIES.length];

		ready = 0;
		go = false;
		for (int i = 0; i < workers.length; i++) {
			workers[i] = new Worker();
			if (before)
				workers[i].setPriority(PRIORITIES[i]);
			workers[i].start();
		}
		while (ready < workers.length)
			Thread.sleep(1);
		for (int i = 0; i < workers.length && !before; i++)
			workers[i].setPriority(PRIORITIES[i]);
		Thread.sleep(5);
		synchronized (order) {
			go = true;
			order.notifyAll();
		}
		for (Worker w : workers)
			w.join();
		System.out.println(order);
		order.setLength(0);
	}

	public static void main(String[] args) throws InterruptedException {
		compete(true);
		compete(false);
		Thread.currentThread().setPriority(7);
		System.out.println(new Thread().getPriority());
		Thread.currentThread().setPriority(3);
		System.out.println(new Worker().getPriority());
	}
}
