package java.lang;

public class Object {
	public Object() {
	}

	public final native Class<?> getClass();

	public native int hashCode();

	public boolean equals(Object other) {
		return this == other;
	}

	protected native Object clone() throws CloneNotSupportedException;

	public String toString() {
		return getClass().getName() + "@" + Integer.toHexString(hashCode());
	}

	public final native void notify();

	public final native void notifyAll();

	/* Nanoseconds; negative: without an end. */
	private native void wait0(long ns) throws InterruptedException;

	public final void wait() throws InterruptedException {
		wait0(-1);
	}

	public final void wait(long ms) throws InterruptedException {
		wait(ms, 0);
	}

	public final void wait(long ms, int ns) throws InterruptedException {
		if (ms < 0 || ns < 0 || ns > 999999)
			throw new IllegalArgumentException("timeout value is negative");
		wait0(ms == 0 && ns == 0 ? -1 : Thread.nanos(ms, ns));
	}

	protected void finalize() throws Throwable {
	}
}
