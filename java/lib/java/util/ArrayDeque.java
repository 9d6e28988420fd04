package java.util;

/* A ring of a power of two places. */
public class ArrayDeque<E> extends AbstractCollection<E> implements Deque<E> {
	private Object[] ring = new Object[16];
	private int first, size;

	public ArrayDeque() {
	}

	public ArrayDeque(int room) {
	}

	public ArrayDeque(Collection<? extends E> c) {
		addAll(c);
	}

	public int size() {
		return size;
	}

	@SuppressWarnings("unchecked")
	private E at(int i) {
		return (E)ring[first + i & ring.length - 1];
	}

	private void room(E e) {
		if (e == null)
			throw new NullPointerException();
		if (size < ring.length)
			return;
		Object[] more = new Object[2 * size];
		for (int i = 0; i < size; i++)
			more[i] = at(i);
		ring = more;
		first = 0;
	}

	public void addFirst(E e) {
		room(e);
		first = first - 1 & ring.length - 1;
		ring[first] = e;
		size++;
	}

	public void addLast(E e) {
		room(e);
		ring[first + size++ & ring.length - 1] = e;
	}

	public E peekFirst() {
		return size == 0 ? null : at(0);
	}

	public E peekLast() {
		return size == 0 ? null : at(size - 1);
	}

	public E pollFirst() {
		E e = peekFirst();

		if (size != 0) {
			ring[first] = null;
			first = first + 1 & ring.length - 1;
			size--;
		}
		return e;
	}

	public E pollLast() {
		E e = peekLast();

		if (size != 0)
			ring[first + --size & ring.length - 1] = null;
		return e;
	}

	public void clear() {
		while (size != 0)
			pollFirst();
	}

	public boolean add(E e) {
		addLast(e);
		return true;
	}

	public boolean offer(E e) {
		addLast(e);
		return true;
	}

	public boolean offerFirst(E e) {
		addFirst(e);
		return true;
	}

	public boolean offerLast(E e) {
		addLast(e);
		return true;
	}

	public void push(E e) {
		addFirst(e);
	}

	private E present() {
		if (size() == 0)
			throw new NoSuchElementException();
		return peekFirst();
	}

	public E getFirst() {
		return present();
	}

	public E element() {
		return present();
	}

	public E getLast() {
		present();
		return peekLast();
	}

	public E removeFirst() {
		present();
		return pollFirst();
	}

	public E removeLast() {
		present();
		return pollLast();
	}

	public E remove() {
		return removeFirst();
	}

	public E pop() {
		return removeFirst();
	}

	public E poll() {
		return pollFirst();
	}

	public E peek() {
		return peekFirst();
	}

	public Iterator<E> iterator() {
		return new Iterator<E>() {
			private int at;

			public boolean hasNext() {
				return at < size;
			}

			public E next() {
				if (at >= size)
					throw new NoSuchElementException();
				return at(at++);
			}

			public void remove() {
				for (int i = --at; i < size - 1; i++)
					ring[first + i & ring.length - 1] = at(i + 1);
				pollLast();
			}
		};
	}
}
