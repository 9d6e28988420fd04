package java.util.function;

import java.util.Objects;

public interface Predicate<T> {
	boolean test(T t);

	default Predicate<T> and(Predicate<? super T> other) {
		Objects.requireNonNull(other);
		return new Predicate<T>() {
			public boolean test(T t) {
				return Predicate.this.test(t) && other.test(t);
			}
		};
	}

	default Predicate<T> or(Predicate<? super T> other) {
		Objects.requireNonNull(other);
		return new Predicate<T>() {
			public boolean test(T t) {
				return Predicate.this.test(t) || other.test(t);
			}
		};
	}

	default Predicate<T> negate() {
		return new Predicate<T>() {
			public boolean test(T t) {
				return !Predicate.this.test(t);
			}
		};
	}

	static <T> Predicate<T> isEqual(Object target) {
		return new Predicate<T>() {
			public boolean test(T t) {
				return target == null ? t == null : target.equals(t);
			}
		};
	}
}
