package java.util.function;

public interface IntBinaryOperator {
	int applyAsInt(int a, int b);
}
