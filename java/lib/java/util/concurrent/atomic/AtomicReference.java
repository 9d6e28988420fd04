package java.util.concurrent.atomic;

import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;

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

	public final V getAndUpdate(UnaryOperator<V> f) {
		V old, value;

		do {
			old = get();
			value = f.apply(old);
		} while (!compareAndSet(old, value));
		return old;
	}

	public final V updateAndGet(UnaryOperator<V> f) {
		V old, value;

		do {
			old = get();
			value = f.apply(old);
		} while (!compareAndSet(old, value));
		return value;
	}

	public final V getAndAccumulate(V x, BinaryOperator<V> f) {
		V old, value;

		do {
			old = get();
			value = f.apply(old, x);
		} while (!compareAndSet(old, value));
		return old;
	}

	public final V accumulateAndGet(V x, BinaryOperator<V> f) {
		V old, value;

		do {
			old = get();
			value = f.apply(old, x);
		} while (!compareAndSet(old, value));
		return value;
	}
}
