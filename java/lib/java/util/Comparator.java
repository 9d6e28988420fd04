package java.util;

import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;

public interface Comparator<T> {
	int compare(T a, T b);

	boolean equals(Object o);

	static <T extends Comparable<? super T>> Comparator<T> naturalOrder() {
		return Orders.natural();
	}

	static <T extends Comparable<? super T>> Comparator<T> reverseOrder() {
		return Collections.reverseOrder();
	}

	static <T> Comparator<T> nullsFirst(Comparator<? super T> c) {
		return new Orders.Nulls<T>(-1, c);
	}

	static <T> Comparator<T> nullsLast(Comparator<? super T> c) {
		return new Orders.Nulls<T>(1, c);
	}

	default Comparator<T> reversed() {
		return Collections.reverseOrder(this);
	}

	default Comparator<T> thenComparing(Comparator<? super T> other) {
		Objects.requireNonNull(other);
		return new Comparator<T>() {
			public int compare(T a, T b) {
				int order = Comparator.this.compare(a, b);

				return order != 0 ? order : other.compare(a, b);
			}
		};
	}

	default <U> Comparator<T> thenComparing(Function<? super T, ? extends U> f, Comparator<? super U> c) {
		return thenComparing(comparing(f, c));
	}

	default <U extends Comparable<? super U>> Comparator<T> thenComparing(Function<? super T, ? extends U> f) {
		return thenComparing(comparing(f));
	}

	static <T, U> Comparator<T> comparing(Function<? super T, ? extends U> f, Comparator<? super U> c) {
		Objects.requireNonNull(f);
		Objects.requireNonNull(c);
		return new Comparator<T>() {
			public int compare(T a, T b) {
				return c.compare(f.apply(a), f.apply(b));
			}
		};
	}

	static <T, U extends Comparable<? super U>> Comparator<T> comparing(Function<? super T, ? extends U> f) {
		return comparing(f, Comparator.<U>naturalOrder());
	}

	static <T> Comparator<T> comparingInt(ToIntFunction<? super T> f) {
		Objects.requireNonNull(f);
		return new Comparator<T>() {
			public int compare(T a, T b) {
				return Integer.compare(f.applyAsInt(a), f.applyAsInt(b));
			}
		};
	}

	default Comparator<T> thenComparingInt(ToIntFunction<? super T> f) {
		return thenComparing(comparingInt(f));
	}

	static <T> Comparator<T> comparingLong(ToLongFunction<? super T> f) {
		Objects.requireNonNull(f);
		return new Comparator<T>() {
			public int compare(T a, T b) {
				return Long.compare(f.applyAsLong(a), f.applyAsLong(b));
			}
		};
	}

	default Comparator<T> thenComparingLong(ToLongFunction<? super T> f) {
		return thenComparing(comparingLong(f));
	}

	static <T> Comparator<T> comparingDouble(ToDoubleFunction<? super T> f) {
		Objects.requireNonNull(f);
		return new Comparator<T>() {
			public int compare(T a, T b) {
				return Double.compare(f.applyAsDouble(a), f.applyAsDouble(b));
			}
		};
	}

	default Comparator<T> thenComparingDouble(ToDoubleFunction<? super T> f) {
		return thenComparing(comparingDouble(f));
	}
}
