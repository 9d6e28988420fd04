package java.util.function;

import java.util.Objects;

public interface BiConsumer<T, U> {
	void accept(T t, U u);

	default BiConsumer<T, U> andThen(BiConsumer<? super T, ? super U> after) {
		Objects.requireNonNull(after);
		return new BiConsumer<T, U>() {
			public void accept(T t, U u) {
				BiConsumer.this.accept(t, u);
				after.accept(t, u);
			}
		};
	}
}
