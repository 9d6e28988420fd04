package java.util;

import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/* A list whose single operations several threads may call. */
public class Vector<E> extends AbstractList<E> implements RandomAccess {
	private final ArrayList<E> list = new ArrayList<E>();

	public synchronized int size() {
		return list.size();
	}

	public synchronized E get(int i) {
		return list.get(i);
	}

	public synchronized E set(int i, E e) {
		return list.set(i, e);
	}

	public synchronized boolean add(E e) {
		modCount++;
		return list.add(e);
	}

	public synchronized void add(int i, E e) {
		modCount++;
		list.add(i, e);
	}

	public synchronized E remove(int i) {
		modCount++;
		return list.remove(i);
	}

	public synchronized boolean remove(Object o) {
		modCount++;
		return list.remove(o);
	}

	public synchronized void clear() {
		modCount++;
		list.clear();
	}

	public void addElement(E e) {
		add(e);
	}

	public E elementAt(int i) {
		return get(i);
	}

	public synchronized void forEach(Consumer<? super E> action) {
		list.forEach(action);
	}

	public synchronized boolean removeIf(Predicate<? super E> filter) {
		modCount++;
		return list.removeIf(filter);
	}

	public synchronized void replaceAll(UnaryOperator<E> f) {
		modCount++;
		list.replaceAll(f);
	}

	public synchronized void sort(Comparator<? super E> c) {
		modCount++;
		list.sort(c);
	}
}
