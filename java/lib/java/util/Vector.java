package java.util;

import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/* A list whose single operations several threads may call. */
public class Vector<E> extends AbstractList<E> implements RandomAccess {
	private final ArrayList<E> list;

	public Vector() {
		this(10);
	}

	public Vector(int room) {
		list = new ArrayList<E>(room);
	}

	public Vector(int room, int more) {
		this(room);
	}

	public Vector(Collection<? extends E> c) {
		list = new ArrayList<E>(c);
	}

	private void check(int i) {
		if (i < 0 || i >= list.size())
			throw new ArrayIndexOutOfBoundsException("Array index out of range: " + i);
	}

	public synchronized int size() {
		return list.size();
	}

	public synchronized E get(int i) {
		check(i);
		return list.get(i);
	}

	public synchronized E set(int i, E e) {
		check(i);
		return list.set(i, e);
	}

	public synchronized boolean add(E e) {
		modCount++;
		return list.add(e);
	}

	public synchronized void add(int i, E e) {
		if (i < 0 || i > list.size())
			throw new ArrayIndexOutOfBoundsException(i + " > " + list.size());
		modCount++;
		list.add(i, e);
	}

	public synchronized boolean addAll(Collection<? extends E> c) {
		modCount++;
		return list.addAll(c);
	}

	public synchronized boolean addAll(int i, Collection<? extends E> c) {
		if (i < 0 || i > list.size())
			throw new ArrayIndexOutOfBoundsException("Array index out of range: " + i);
		modCount++;
		return list.addAll(i, c);
	}

	public synchronized E remove(int i) {
		check(i);
		modCount++;
		return list.remove(i);
	}

	/* A change also if there is none. */
	public synchronized boolean remove(Object o) {
		modCount++;
		list.modCount++;
		return list.remove(o);
	}

	public synchronized void clear() {
		modCount++;
		list.clear();
	}

	protected synchronized void removeRange(int from, int to) {
		modCount++;
		list.removeRange(from, to);
	}

	private boolean changed(boolean was) {
		if (was)
			modCount++;
		return was;
	}

	public synchronized boolean removeAll(Collection<?> c) {
		return changed(list.removeAll(c));
	}

	public synchronized boolean retainAll(Collection<?> c) {
		return changed(list.retainAll(c));
	}

	public synchronized boolean removeIf(Predicate<? super E> filter) {
		return changed(list.removeIf(filter));
	}

	public void addElement(E e) {
		add(e);
	}

	public E elementAt(int i) {
		return get(i);
	}

	public synchronized int indexOf(Object o) {
		return list.indexOf(o);
	}

	public synchronized int lastIndexOf(Object o) {
		return list.lastIndexOf(o);
	}

	public boolean contains(Object o) {
		return indexOf(o) >= 0;
	}

	public synchronized boolean containsAll(Collection<?> c) {
		return list.containsAll(c);
	}

	public synchronized <T> T[] toArray(T[] a) {
		return list.toArray(a);
	}

	public synchronized Object[] toArray() {
		return list.toArray();
	}

	public synchronized boolean equals(Object o) {
		return o == this || list.equals(o);
	}

	public synchronized int hashCode() {
		return list.hashCode();
	}

	public synchronized String toString() {
		return super.toString();
	}

	public synchronized List<E> subList(int from, int to) {
		return new Synchronized.ListView<E>(super.subList(from, to), this);
	}

	boolean isArray() {
		return true;
	}

	public synchronized void forEach(Consumer<? super E> action) {
		list.forEach(action);
	}

	public synchronized void replaceAll(UnaryOperator<E> f) {
		list.replaceAll(f);
		modCount++;
	}

	public synchronized void sort(Comparator<? super E> c) {
		list.sort(c);
		modCount++;
	}
}
