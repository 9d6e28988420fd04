package java.util.function;

import java.util.Objects;

public interface DoubleConsumer {
	void accept(double value);

	default DoubleConsumer andThen(DoubleConsumer after) {
		Objects.requireNonNull(after);
		return new DoubleConsumer() {
			public void accept(double value) {
				DoubleConsumer.this.accept(value);
				after.accept(value);
			}
		};
	}
}
