package java.util;

import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

public class ArrayList<E> extends AbstractList<E> implements RandomAccess, Cloneable, java.io.Serializable {
	private Object[] elements;
	private int size;

	public ArrayList() {
		this(10);
	}

	public ArrayList(int room) {
		if (room < 0)
			throw new IllegalArgumentException("Illegal Capacity: " + room);
		elements = new Object[room];
	}

	public ArrayList(Collection<? extends E> c) {
		elements = c.toArray();
		size = elements.length;
	}

	public int size() {
		return size;
	}

	private void check(int i, int end) {
		if (i < 0 || i >= end)
			throw new IndexOutOfBoundsException("Index: " + i + ", Size: " + size);
	}

	@SuppressWarnings("unchecked")
	public E get(int i) {
		check(i, size);
		return (E)elements[i];
	}

	public E set(int i, E e) {
		E old = get(i);

		elements[i] = e;
		return old;
	}

	public boolean add(E e) {
		ensureCapacity(size + 1);
		elements[size++] = e;
		modCount++;
		return true;
	}

	public void add(int i, E e) {
		check(i, size + 1);
		ensureCapacity(size + 1);
		System.arraycopy(elements, i, elements, i + 1, size - i);
		elements[i] = e;
		size++;
		modCount++;
	}

	public E remove(int i) {
		E old = get(i);

		System.arraycopy(elements, i + 1, elements, i, --size - i);
		elements[size] = null;
		modCount++;
		return old;
	}

	public void clear() {
		Arrays.fill(elements, 0, size, null);
		size = 0;
		modCount++;
	}

	public void ensureCapacity(int n) {
		if (n > elements.length)
			elements = Arrays.copyOf(elements, Math.max(n, elements.length * 3 / 2 + 1));
	}

	public void trimToSize() {
		elements = Arrays.copyOf(elements, size);
	}

	public Object clone() {
		return new ArrayList<E>(this);
	}

	private void check(int expected) {
		if (modCount != expected)
			throw new ConcurrentModificationException();
	}

	public void forEach(Consumer<? super E> action) {
		int expected = modCount, end = size;

		Objects.requireNonNull(action);
		for (int i = 0; i < end && modCount == expected; i++)
			action.accept(get(i));
		check(expected);
	}

	/* Tests all elements before it removes any. */
	@SuppressWarnings("unchecked")
	public boolean removeIf(Predicate<? super E> filter) {
		Object[] all = elements, kept = new Object[size];
		int expected = modCount, end = size, n = 0;

		Objects.requireNonNull(filter);
		for (int i = 0; i < end; i++)
			if (!filter.test((E)all[i]))
				kept[n++] = all[i];
		check(expected);
		if (n == end)
			return false;
		elements = kept;
		size = n;
		modCount++;
		return true;
	}

	public void replaceAll(UnaryOperator<E> f) {
		int expected = modCount, end = size;

		Objects.requireNonNull(f);
		for (int i = 0; i < end && modCount == expected; i++)
			elements[i] = f.apply(get(i));
		check(expected);
		modCount++;
	}

	public void sort(Comparator<? super E> c) {
		Object[] a = Arrays.copyOf(elements, size);
		int expected = modCount;

		Arrays.sortObjects(a, c);
		check(expected);
		elements = a;
		modCount++;
	}
}
