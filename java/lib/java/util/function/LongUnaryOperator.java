package java.util.function;

import java.util.Objects;

public interface LongUnaryOperator {
	long applyAsLong(long value);

	default LongUnaryOperator compose(LongUnaryOperator before) {
		Objects.requireNonNull(before);
		return new LongUnaryOperator() {
			public long applyAsLong(long value) {
				return LongUnaryOperator.this.applyAsLong(before.applyAsLong(value));
			}
		};
	}

	default LongUnaryOperator andThen(LongUnaryOperator after) {
		Objects.requireNonNull(after);
		return new LongUnaryOperator() {
			public long applyAsLong(long value) {
				return after.applyAsLong(LongUnaryOperator.this.applyAsLong(value));
			}
		};
	}

	static LongUnaryOperator identity() {
		return new LongUnaryOperator() {
			public long applyAsLong(long value) {
				return value;
			}
		};
	}
}
