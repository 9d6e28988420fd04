package java.util;

import java.util.function.UnaryOperator;

public interface List<E> extends Collection<E> {
	E get(int i);

	E set(int i, E e);

	void add(int i, E e);

	E remove(int i);

	int indexOf(Object o);

	int lastIndexOf(Object o);

	boolean addAll(int i, Collection<? extends E> c);

	List<E> subList(int from, int to);

	default void sort(Comparator<? super E> c) {
		Object[] a = toArray();

		Arrays.sortObjects(a, c);
		for (int i = 0; i < a.length; i++) {
			@SuppressWarnings("unchecked")
			E e = (E)a[i];
			set(i, e);
		}
	}

	default void replaceAll(UnaryOperator<E> f) {
		Objects.requireNonNull(f);
		for (int i = 0; i < size(); i++)
			set(i, f.apply(get(i)));
	}
}
