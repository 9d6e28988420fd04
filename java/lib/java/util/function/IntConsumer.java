package java.util.function;

import java.util.Objects;

public interface IntConsumer {
	void accept(int value);

	default IntConsumer andThen(IntConsumer after) {
		Objects.requireNonNull(after);
		return new IntConsumer() {
			public void accept(int value) {
				IntConsumer.this.accept(value);
				after.accept(value);
			}
		};
	}
}
