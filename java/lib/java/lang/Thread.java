package java.lang;

public class Thread implements Runnable {
	public static final int MIN_PRIORITY = 1, NORM_PRIORITY = 5, MAX_PRIORITY = 10;

	public enum State { NEW, RUNNABLE, BLOCKED, WAITING, TIMED_WAITING, TERMINATED }

	public interface UncaughtExceptionHandler {
		void uncaughtException(Thread t, Throwable e);
	}

	private static int lastNumber;
	private static long lastId;
	private static UncaughtExceptionHandler defaultHandler;

	private volatile long vm; /* the machine's struct jthread; 0: not started, or ended */
	private String name;
	private boolean daemon;
	private volatile int priority = NORM_PRIORITY;
	private Runnable target;
	private boolean started;
	private final long id;
	private UncaughtExceptionHandler handler;
	java.util.HashMap<Object, Object> locals; /* ThreadLocal's, used by this thread alone */

	public Thread() {
		this(null, null);
	}

	public Thread(Runnable target) {
		this(target, null);
	}

	public Thread(String name) {
		this(null, name);
	}

	public Thread(Runnable target, String name) {
		this.target = target;
		synchronized (Thread.class) {
			this.name = name != null ? name : "Thread-" + lastNumber++;
			id = ++lastId;
		}
		if (currentThread() != this) {
			daemon = currentThread().daemon;
			priority = currentThread().priority;
		} else {
			started = true;
		}
	}

	public static native Thread currentThread();

	static Thread current() {
		return currentThread();
	}

	private native void setPriority0(int priority);

	public static native void yield();

	private native void start0();

	private static native void sleep0(long ns) throws InterruptedException;

	private native boolean isInterrupted(boolean clear);

	public final native boolean isAlive();

	/* A copy would have the machine's thread too, which ends with this one. */
	protected Object clone() throws CloneNotSupportedException {
		throw new CloneNotSupportedException();
	}

	public native void interrupt();

	public static native boolean holdsLock(Object o);

	/* A time in nanoseconds, at most some 292 years. */
	static long nanos(long ms, int ns) {
		return ms >= Long.MAX_VALUE / 1000000 - 1 ? Long.MAX_VALUE / 2 : ms * 1000000 + ns;
	}

	public static void sleep(long ms) throws InterruptedException {
		sleep(ms, 0);
	}

	public static void sleep(long ms, int ns) throws InterruptedException {
		if (ms < 0 || ns < 0 || ns > 999999)
			throw new IllegalArgumentException("timeout value is negative");
		sleep0(nanos(ms, ns));
	}

	public void start() {
		synchronized (this) {
			if (started)
				throw new IllegalThreadStateException();
			started = true;
		}
		start0();
	}

	public void run() {
		if (target != null)
			target.run();
	}

	public final void join() throws InterruptedException {
		join(0);
	}

	public final synchronized void join(long ms) throws InterruptedException {
		long end = System.nanoTime() + nanos(ms, 0), left;

		if (ms < 0)
			throw new IllegalArgumentException("timeout value is negative");
		while (isAlive()) {
			if (ms == 0) {
				wait();
				continue;
			}
			left = end - System.nanoTime();
			if (left <= 0)
				return;
			wait(left / 1000000, (int)(left % 1000000));
		}
	}

	public static boolean interrupted() {
		return currentThread().isInterrupted(true);
	}

	public boolean isInterrupted() {
		return isInterrupted(false);
	}

	public State getState() {
		return isAlive() ? State.RUNNABLE : started ? State.TERMINATED : State.NEW;
	}

	public final String getName() {
		return name;
	}

	public final synchronized void setName(String name) {
		this.name = name;
	}

	public long getId() {
		return id;
	}

	public final boolean isDaemon() {
		return daemon;
	}

	public final synchronized void setDaemon(boolean daemon) {
		if (started)
			throw new IllegalThreadStateException();
		this.daemon = daemon;
	}

	public final int getPriority() {
		return priority;
	}

	public final void setPriority(int priority) {
		if (priority < MIN_PRIORITY || priority > MAX_PRIORITY)
			throw new IllegalArgumentException();
		synchronized (this) {
			this.priority = priority;
			setPriority0(priority);
		}
	}

	public static void setDefaultUncaughtExceptionHandler(UncaughtExceptionHandler handler) {
		defaultHandler = handler;
	}

	public void setUncaughtExceptionHandler(UncaughtExceptionHandler handler) {
		this.handler = handler;
	}

	public static void dumpStack() {
		new Exception("Stack trace").printStackTrace();
	}

	public StackTraceElement[] getStackTrace() {
		return this == currentThread() ? new Exception().getStackTrace() : new StackTraceElement[0];
	}

	void uncaught(Throwable t) {
		UncaughtExceptionHandler h = handler != null ? handler : defaultHandler;

		if (h != null) {
			h.uncaughtException(this, t);
			return;
		}
		System.err.print("Exception in thread \"" + name + "\" ");
		t.printStackTrace();
	}

	public String toString() {
		return "Thread[" + name + "," + priority + ",main]";
	}
}
