package java.util.function;

import java.util.Objects;

public interface IntUnaryOperator {
	int applyAsInt(int value);

	default IntUnaryOperator compose(IntUnaryOperator before) {
		Objects.requireNonNull(before);
		return new IntUnaryOperator() {
			public int applyAsInt(int value) {
				return IntUnaryOperator.this.applyAsInt(before.applyAsInt(value));
			}
		};
	}

	default IntUnaryOperator andThen(IntUnaryOperator after) {
		Objects.requireNonNull(after);
		return new IntUnaryOperator() {
			public int applyAsInt(int value) {
				return after.applyAsInt(IntUnaryOperator.this.applyAsInt(value));
			}
		};
	}

	static IntUnaryOperator identity() {
		return new IntUnaryOperator() {
			public int applyAsInt(int value) {
				return value;
			}
		};
	}
}
