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

	ListIterator<E> listIterator();

	ListIterator<E> listIterator(int i);

	default void sort(Comparator<? super E> c) {
		Object[] a = toArray();

		Arrays.sortObjects(a, c);
		ListIterator<E> i = listIterator();
		for (Object o : a) {
			@SuppressWarnings("unchecked")
			E e = (E)o;
			i.next();
			i.set(e);
		}
	}

	default void replaceAll(UnaryOperator<E> f) {
		Objects.requireNonNull(f);
		for (ListIterator<E> i = listIterator(); i.hasNext();)
			i.set(f.apply(i.next()));
	}
}
