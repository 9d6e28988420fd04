package java.util.function;

import java.util.Objects;

public interface LongPredicate {
	boolean test(long value);

	default LongPredicate and(LongPredicate other) {
		Objects.requireNonNull(other);
		return new LongPredicate() {
			public boolean test(long value) {
				return LongPredicate.this.test(value) && other.test(value);
			}
		};
	}

	default LongPredicate or(LongPredicate other) {
		Objects.requireNonNull(other);
		return new LongPredicate() {
			public boolean test(long value) {
				return LongPredicate.this.test(value) || other.test(value);
			}
		};
	}

	default LongPredicate negate() {
		return new LongPredicate() {
			public boolean test(long value) {
				return !LongPredicate.this.test(value);
			}
		};
	}
}
