package java.util;

public interface Iterator<E> {
	boolean hasNext();

	E next();

	default void remove() {
		throw new UnsupportedOperationException("remove");
	}
}
