package java.lang;

import java.util.Objects;
import java.util.function.Supplier;

public class ThreadLocal<T> {
	protected T initialValue() {
		return null;
	}

	public static <S> ThreadLocal<S> withInitial(Supplier<? extends S> supplier) {
		Objects.requireNonNull(supplier);
		return new ThreadLocal<S>() {
			protected S initialValue() {
				return supplier.get();
			}
		};
	}

	@SuppressWarnings("unchecked")
	public T get() {
		java.util.HashMap<Object, Object> map = Thread.currentThread().locals;

		if (map == null || !map.containsKey(this))
			set(initialValue());
		return (T)Thread.currentThread().locals.get(this);
	}

	public void set(T value) {
		Thread t = Thread.currentThread();

		if (t.locals == null)
			t.locals = new java.util.HashMap<Object, Object>();
		t.locals.put(this, value);
	}

	public void remove() {
		if (Thread.currentThread().locals != null)
			Thread.currentThread().locals.remove(this);
	}
}
