/*
 * A thread gives its turn to a partner, and collects: Left ROUNDS. The partner gives the turn back, and waits for the next
 * one: it enters a safe region while the collector waits for it. A collector that is not told of it waits for ever, and
 * then the partner does too.
 */
public class Left {
	static final Object gate = new Object();
	static boolean mine;

	static class Partner extends Thread {
		public void run() {
			synchronized (gate) {
				try {
					for (;;) {
						while (!mine)
							gate.wait();
						mine = false;
						gate.notify();
					}
				} catch (InterruptedException e) {
					return;
				}
			}
		}
	}

	public static void main(String[] args) throws InterruptedException {
		Partner partner = new Partner();

		partner.start();
		for (int round = 0; round < Integer.parseInt(args[0]); round++) {
			synchronized (gate) {
				mine = true;
				gate.notify();
			}
			for (int i = 0; i < round * 7 % 100; i++) /* in which the partner comes on, by another way each time */
				;
			System.gc();
			synchronized (gate) {
				while (mine)
					gate.wait();
			}
		}
		partner.interrupt();
		partner.join();
		System.out.println("all collected");
	}
}
