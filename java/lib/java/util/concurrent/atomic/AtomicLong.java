package java.util.concurrent.atomic;

import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;

public class AtomicLong extends Number {
	private volatile long value; /* the machine expects it first */

	public AtomicLong() {
	}

	public AtomicLong(long value) {
		this.value = value;
	}

	public final native boolean compareAndSet(long expected, long value);

	public final long get() {
		return value;
	}

	public final void set(long value) {
		this.value = value;
	}

	public final long getAndAdd(long n) {
		long old;

		do
			old = value;
		while (!compareAndSet(old, old + n));
		return old;
	}

	public final long getAndSet(long value) {
		long old;

		do
			old = this.value;
		while (!compareAndSet(old, value));
		return old;
	}

	public final long addAndGet(long n) {
		return getAndAdd(n) + n;
	}

	public final long getAndIncrement() {
		return getAndAdd(1);
	}

	public final long getAndDecrement() {
		return getAndAdd(-1);
	}

	public final long incrementAndGet() {
		return getAndAdd(1) + 1;
	}

	public final long decrementAndGet() {
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
		return Long.toString(value);
	}

	public final long getAndUpdate(LongUnaryOperator f) {
		long old, value;

		do {
			old = get();
			value = f.applyAsLong(old);
		} while (!compareAndSet(old, value));
		return old;
	}

	public final long updateAndGet(LongUnaryOperator f) {
		long old, value;

		do {
			old = get();
			value = f.applyAsLong(old);
		} while (!compareAndSet(old, value));
		return value;
	}

	public final long getAndAccumulate(long x, LongBinaryOperator f) {
		long old, value;

		do {
			old = get();
			value = f.applyAsLong(old, x);
		} while (!compareAndSet(old, value));
		return old;
	}

	public final long accumulateAndGet(long x, LongBinaryOperator f) {
		long old, value;

		do {
			old = get();
			value = f.applyAsLong(old, x);
		} while (!compareAndSet(old, value));
		return value;
	}
}
