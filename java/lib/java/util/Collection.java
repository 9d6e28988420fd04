package java.util;

import java.util.function.Predicate;

public interface Collection<E> extends Iterable<E> {
	int size();

	boolean isEmpty();

	boolean contains(Object o);

	Iterator<E> iterator();

	Object[] toArray();

	<T> T[] toArray(T[] a);

	boolean add(E e);

	boolean remove(Object o);

	boolean containsAll(Collection<?> c);

	boolean addAll(Collection<? extends E> c);

	boolean removeAll(Collection<?> c);

	boolean retainAll(Collection<?> c);

	void clear();

	default boolean removeIf(Predicate<? super E> filter) {
		boolean changed = false;

		Objects.requireNonNull(filter);
		for (Iterator<E> i = iterator(); i.hasNext();)
			if (filter.test(i.next())) {
				i.remove();
				changed = true;
			}
		return changed;
	}
}
