package java.util;

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
		for (E e : c)
			add(at++, e);
		return !c.isEmpty();
	}

	public int indexOf(Object o) {
		for (int i = 0; i < size(); i++)
			if (Objects.equals(o, get(i)))
				return i;
		return -1;
	}

	public int lastIndexOf(Object o) {
		int i = size() - 1;

		while (i >= 0 && !Objects.equals(o, get(i)))
			i--;
		return i;
	}

	public List<E> subList(int from, int to) {
		if (from < 0 || to > size() || from > to)
			throw new IndexOutOfBoundsException();
		return new SubList<E>(this, from, to - from);
	}

	public Iterator<E> iterator() {
		return new Iterator<E>() {
			private int at, expected = modCount;
			private boolean removable;

			public boolean hasNext() {
				return at < size();
			}

			public E next() {
				if (modCount != expected)
					throw new ConcurrentModificationException();
				if (at >= size())
					throw new NoSuchElementException();
				removable = true;
				return get(at++);
			}

			public void remove() {
				if (!removable)
					throw new IllegalStateException();
				AbstractList.this.remove(--at);
				removable = false;
				expected = modCount;
			}
		};
	}

	public boolean equals(Object o) {
		if (!(o instanceof List) || ((List<?>)o).size() != size())
			return false;
		for (int i = 0; i < size(); i++)
			if (!Objects.equals(get(i), ((List<?>)o).get(i)))
				return false;
		return true;
	}

	public int hashCode() {
		int h = 1;

		for (E e : this)
			h = 31 * h + Objects.hashCode(e);
		return h;
	}

	private static class SubList<E> extends AbstractList<E> {
		private final AbstractList<E> list;
		private final int from;
		private int size;

		SubList(AbstractList<E> list, int from, int size) {
			this.list = list;
			this.from = from;
			this.size = size;
		}

		private int at(int i, int end) {
			if (i < 0 || i >= end)
				throw new IndexOutOfBoundsException("Index: " + i + ", Size: " + size);
			return from + i;
		}

		public int size() {
			return size;
		}

		public E get(int i) {
			return list.get(at(i, size));
		}

		public E set(int i, E e) {
			return list.set(at(i, size), e);
		}

		public void add(int i, E e) {
			list.add(at(i, size + 1), e);
			size++;
			modCount++;
		}

		public E remove(int i) {
			E e = list.remove(at(i, size));

			size--;
			modCount++;
			return e;
		}
	}
}
