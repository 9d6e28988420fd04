package java.util;

import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

public class ArrayList<E> extends AbstractList<E> implements RandomAccess, Cloneable, java.io.Serializable {
	private static final Object[] NONE = {};
	private Object[] elements = NONE; /* NONE: ten places when the first element comes */
	private int size;

	public ArrayList() {
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

	public boolean addAll(Collection<? extends E> c) {
		return addAll(size, c);
	}

	public boolean addAll(int i, Collection<? extends E> c) {
		check(i, size + 1);
		Object[] all = c.toArray();

		modCount++;
		ensureCapacity(size + all.length);
		System.arraycopy(elements, i, elements, i + all.length, size - i);
		System.arraycopy(all, 0, elements, i, all.length);
		size += all.length;
		return all.length != 0;
	}

	protected void removeRange(int from, int to) {
		int end = size;

		if (from > to)
			throw new IndexOutOfBoundsException("From Index: " + from + " > To Index: " + to);
		System.arraycopy(elements, to, elements, from, end - to);
		size -= to - from;
		Arrays.fill(elements, size, end, null);
		modCount++;
	}

	boolean isArray() {
		return true;
	}

	public void ensureCapacity(int n) {
		if (n > elements.length)
			elements = Arrays.copyOf(elements, Math.max(n, elements == NONE ? 10 : elements.length * 3 / 2));
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

	public boolean removeIf(Predicate<? super E> filter) {
		return removeIf(filter, 0, size) != 0;
	}

	/* Tests all elements before it removes any; how many it has removed. */
	@SuppressWarnings("unchecked")
	int removeIf(Predicate<? super E> filter, int from, int to) {
		Object[] all = elements, kept = new Object[to - from];
		int expected = modCount, n = 0;

		Objects.requireNonNull(filter);
		for (int i = from; i < to; i++)
			if (!filter.test((E)all[i]))
				kept[n++] = all[i];
		check(expected);
		if (n == to - from)
			return 0;
		System.arraycopy(kept, 0, elements, from, n);
		removeRange(from + n, to);
		return to - from - n;
	}

	public void replaceAll(UnaryOperator<E> f) {
		replaceAll(f, 0, size);
		modCount++;
	}

	void replaceAll(UnaryOperator<E> f, int from, int to) {
		int expected = modCount;

		Objects.requireNonNull(f);
		for (int i = from; i < to && modCount == expected; i++)
			elements[i] = f.apply(get(i));
		check(expected);
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
