package java.util.function;

import java.util.Comparator;
import java.util.Objects;

public interface BinaryOperator<T> extends BiFunction<T, T, T> {
	static <T> BinaryOperator<T> minBy(Comparator<? super T> c) {
		Objects.requireNonNull(c);
		return new BinaryOperator<T>() {
			public T apply(T a, T b) {
				return c.compare(a, b) <= 0 ? a : b;
			}
		};
	}

	static <T> BinaryOperator<T> maxBy(Comparator<? super T> c) {
		Objects.requireNonNull(c);
		return new BinaryOperator<T>() {
			public T apply(T a, T b) {
				return c.compare(a, b) >= 0 ? a : b;
			}
		};
	}
}
