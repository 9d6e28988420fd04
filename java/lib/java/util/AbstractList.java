package java.util;

import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

public abstract class AbstractList<E> extends AbstractCollection<E> implements List<E> {
	protected int modCount;

	protected AbstractList() {
	}

	public boolean add(E e) {
		add(size(), e);
		return true;
	}

	public void add(int i, E e) {
		throw new UnsupportedOperationException();
	}

	public E set(int i, E e) {
		throw new UnsupportedOperationException();
	}

	public E remove(int i) {
		throw new UnsupportedOperationException();
	}

	public boolean addAll(int at, Collection<? extends E> c) {
		checkPlace(at);
		for (E e : c)
			add(at++, e);
		return !c.isEmpty();
	}

	public void clear() {
		removeRange(0, size());
	}

	protected void removeRange(int from, int to) {
		ListIterator<E> i = listIterator(from);

		for (; from < to; from++) {
			i.next();
			i.remove();
		}
	}

	public int indexOf(Object o) {
		for (ListIterator<E> i = listIterator(); i.hasNext();)
			if (Objects.equals(o, i.next()))
				return i.previousIndex();
		return -1;
	}

	public int lastIndexOf(Object o) {
		for (ListIterator<E> i = listIterator(size()); i.hasPrevious();)
			if (Objects.equals(o, i.previous()))
				return i.nextIndex();
		return -1;
	}

	private void checkPlace(int i) {
		if (i < 0 || i > size())
			throw new IndexOutOfBoundsException("Index: " + i + ", Size: " + size());
	}

	static void checkRange(int from, int to, int size) {
		if (from < 0)
			throw new IndexOutOfBoundsException("fromIndex = " + from);
		if (to > size)
			throw new IndexOutOfBoundsException("toIndex = " + to);
		if (from > to)
			throw new IllegalArgumentException("fromIndex(" + from + ") > toIndex(" + to + ")");
	}

	public List<E> subList(int from, int to) {
		checkRange(from, to, size());
		return new SubList<E>(this, null, from, to - from);
	}

	public Iterator<E> iterator() {
		return new Walk(0);
	}

	public ListIterator<E> listIterator() {
		return listIterator(0);
	}

	public ListIterator<E> listIterator(int i) {
		checkPlace(i);
		return new Walk(i);
	}

	/* What an iterator compares with. */
	int changes() {
		return modCount;
	}

	boolean isEnd(int at) {
		return at == size();
	}

	/* Whether forEachRemaining notices a change that the last call has made. */
	boolean isArray() {
		return false;
	}

	private class Walk implements ListIterator<E> {
		private int at, last = -1, expected = changes();

		Walk(int at) {
			this.at = at;
		}

		private void check() {
			if (changes() != expected)
				throw new ConcurrentModificationException();
		}

		public boolean hasNext() {
			return !isEnd(at);
		}

		public boolean hasPrevious() {
			return at != 0;
		}

		public int nextIndex() {
			return at;
		}

		public int previousIndex() {
			return at - 1;
		}

		private E step(int i, int then) {
			check();
			try {
				E e = get(i);
				last = i;
				at = then;
				return e;
			} catch (IndexOutOfBoundsException e) {
				check();
				throw new NoSuchElementException();
			}
		}

		public E next() {
			return step(at, at + 1);
		}

		public E previous() {
			return step(at - 1, at - 1);
		}

		private void begin() {
			if (last < 0)
				throw new IllegalStateException();
			check();
		}

		public void remove() {
			begin();
			try {
				AbstractList.this.remove(last);
				if (last < at)
					at--;
				last = -1;
				expected = changes();
			} catch (IndexOutOfBoundsException e) {
				throw new ConcurrentModificationException();
			}
		}

		public void set(E e) {
			begin();
			try {
				AbstractList.this.set(last, e);
				expected = changes();
			} catch (IndexOutOfBoundsException x) {
				throw new ConcurrentModificationException();
			}
		}

		public void add(E e) {
			check();
			try {
				AbstractList.this.add(at, e);
				at++;
				last = -1;
				expected = changes();
			} catch (IndexOutOfBoundsException x) {
				throw new ConcurrentModificationException();
			}
		}

		public void forEachRemaining(Consumer<? super E> action) {
			boolean any = hasNext();

			ListIterator.super.forEachRemaining(action);
			if (any && isArray())
				check();
		}
	}

	public boolean equals(Object o) {
		if (o == this)
			return true;
		if (!(o instanceof List))
			return false;
		Iterator<E> i = iterator();
		Iterator<?> k = ((List<?>)o).iterator();
		while (i.hasNext() && k.hasNext())
			if (!Objects.equals(i.next(), k.next()))
				return false;
		return !i.hasNext() && !k.hasNext();
	}

	public int hashCode() {
		int h = 1;

		for (E e : this)
			h = 31 * h + Objects.hashCode(e);
		return h;
	}

	/* modCount is the root's, as this list and those above it know it. */
	private static class SubList<E> extends AbstractList<E> {
		private final AbstractList<E> root;
		private final SubList<E> parent;
		private final int from; /* in the root */
		private int size;

		SubList(AbstractList<E> root, SubList<E> parent, int from, int size) {
			this.root = root;
			this.parent = parent;
			this.from = from;
			this.size = size;
			modCount = parent != null && isArray() ? parent.modCount : root.modCount;
		}

		private void check() {
			if (root.modCount != modCount)
				throw new ConcurrentModificationException();
		}

		private int at(int i, int end) {
			if (i < 0 || i >= end)
				throw new IndexOutOfBoundsException("Index: " + i + ", Size: " + size);
			check();
			return from + i;
		}

		private void changed(int n) {
			for (SubList<E> list = this; list != null; list = list.parent) {
				list.size += n;
				list.modCount = root.modCount;
			}
		}

		int changes() {
			return root.modCount;
		}

		boolean isEnd(int at) {
			return isArray() ? at == size : at >= size;
		}

		boolean isArray() {
			return root instanceof ArrayList;
		}

		public int size() {
			check();
			return size;
		}

		public E get(int i) {
			return root.get(at(i, size));
		}

		public E set(int i, E e) {
			return root.set(at(i, size), e);
		}

		public void add(int i, E e) {
			root.add(at(i, size + 1), e);
			changed(1);
		}

		public E remove(int i) {
			E e = root.remove(at(i, size));

			changed(-1);
			return e;
		}

		public boolean addAll(Collection<? extends E> c) {
			return addAll(size, c);
		}

		public boolean addAll(int i, Collection<? extends E> c) {
			int at = at(i, size + 1), n = c.size();

			if (n == 0)
				return false;
			root.addAll(at, c);
			changed(n);
			return true;
		}

		protected void removeRange(int a, int b) {
			check();
			root.removeRange(from + a, from + b);
			changed(a - b);
		}

		public List<E> subList(int a, int b) {
			checkRange(a, b, size);
			return new SubList<E>(root, this, from + a, b - a);
		}

		public Iterator<E> iterator() {
			return listIterator(0);
		}

		public boolean removeIf(Predicate<? super E> filter) {
			int before = size();

			if (!isArray())
				return super.removeIf(filter);
			int removed = ((ArrayList<E>)root).removeIf(filter, from, from + before);
			if (removed != 0)
				changed(-removed);
			return removed != 0;
		}

		public void replaceAll(UnaryOperator<E> f) {
			if (isArray())
				((ArrayList<E>)root).replaceAll(f, from, from + size());
			else
				super.replaceAll(f);
		}
	}
}
