package java.util.concurrent.atomic;

import java.util.function.IntBinaryOperator;
import java.util.function.IntUnaryOperator;

public class AtomicInteger extends Number {
	private volatile int value; /* the machine expects it first */

	public AtomicInteger() {
	}

	public AtomicInteger(int value) {
		this.value = value;
	}

	public final native boolean compareAndSet(int expected, int value);

	public final int get() {
		return value;
	}

	public final void set(int value) {
		this.value = value;
	}

	public final int getAndAdd(int n) {
		int old;

		do
			old = value;
		while (!compareAndSet(old, old + n));
		return old;
	}

	public final int getAndSet(int value) {
		int old;

		do
			old = this.value;
		while (!compareAndSet(old, value));
		return old;
	}

	public final int addAndGet(int n) {
		return getAndAdd(n) + n;
	}

	public final int getAndIncrement() {
		return getAndAdd(1);
	}

	public final int getAndDecrement() {
		return getAndAdd(-1);
	}

	public final int incrementAndGet() {
		return getAndAdd(1) + 1;
	}

	public final int decrementAndGet() {
		return getAndAdd(-1) - 1;
	}

	public int intValue() {
		return (int)value;
	}

	public long longValue() {
		return value;
	}

	public float floatValue() {
		return value;
	}

	public double doubleValue() {
		return value;
	}

	public String toString() {
		return Integer.toString(value);
	}

	public final int getAndUpdate(IntUnaryOperator f) {
		int old, value;

		do {
			old = get();
			value = f.applyAsInt(old);
		} while (!compareAndSet(old, value));
		return old;
	}

	public final int updateAndGet(IntUnaryOperator f) {
		int old, value;

		do {
			old = get();
			value = f.applyAsInt(old);
		} while (!compareAndSet(old, value));
		return value;
	}

	public final int getAndAccumulate(int x, IntBinaryOperator f) {
		int old, value;

		do {
			old = get();
			value = f.applyAsInt(old, x);
		} while (!compareAndSet(old, value));
		return old;
	}

	public final int accumulateAndGet(int x, IntBinaryOperator f) {
		int old, value;

		do {
			old = get();
			value = f.applyAsInt(old, x);
		} while (!compareAndSet(old, value));
		return value;
	}
}
