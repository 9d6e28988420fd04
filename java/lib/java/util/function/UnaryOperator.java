package java.util.function;

public interface UnaryOperator<T> extends Function<T, T> {
	@SuppressWarnings("unchecked")
	static <T> UnaryOperator<T> identity() {
		return (UnaryOperator<T>)Identity.IDENTITY;
	}
}
