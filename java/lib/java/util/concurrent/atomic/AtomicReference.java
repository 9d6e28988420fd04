package java.util.concurrent.atomic;

public class AtomicReference<V> {
	private volatile V value; /* the machine expects it first */

	public AtomicReference() {
	}

	public AtomicReference(V value) {
		this.value = value;
	}

	public final native boolean compareAndSet(V expected, V value);

	public final V get() {
		return value;
	}

	public final void set(V value) {
		this.value = value;
	}

	public final V getAndSet(V value) {
		V old;

		do
			old = this.value;
		while (!compareAndSet(old, value));
		return old;
	}

	public String toString() {
		return String.valueOf(value);
	}
}
