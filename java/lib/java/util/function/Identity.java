package java.util.function;

final class Identity implements UnaryOperator<Object> {
	static final UnaryOperator<?> IDENTITY = new Identity();

	public Object apply(Object o) {
		return o;
	}
}
