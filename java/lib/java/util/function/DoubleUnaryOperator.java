package java.util.function;

import java.util.Objects;

public interface DoubleUnaryOperator {
	double applyAsDouble(double value);

	default DoubleUnaryOperator compose(DoubleUnaryOperator before) {
		Objects.requireNonNull(before);
		return new DoubleUnaryOperator() {
			public double applyAsDouble(double value) {
				return DoubleUnaryOperator.this.applyAsDouble(before.applyAsDouble(value));
			}
		};
	}

	default DoubleUnaryOperator andThen(DoubleUnaryOperator after) {
		Objects.requireNonNull(after);
		return new DoubleUnaryOperator() {
			public double applyAsDouble(double value) {
				return after.applyAsDouble(DoubleUnaryOperator.this.applyAsDouble(value));
			}
		};
	}

	static DoubleUnaryOperator identity() {
		return new DoubleUnaryOperator() {
			public double applyAsDouble(double value) {
				return value;
			}
		};
	}
}
