package java.util.function;

import java.util.Objects;

public interface LongConsumer {
	void accept(long value);

	default LongConsumer andThen(LongConsumer after) {
		Objects.requireNonNull(after);
		return new LongConsumer() {
			public void accept(long value) {
				LongConsumer.this.accept(value);
				after.accept(value);
			}
		};
	}
}
