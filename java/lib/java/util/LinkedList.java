package java.util;

import java.util.function.Consumer;

public class LinkedList<E> extends AbstractList<E> implements Deque<E> {
	private static class Node<E> {
		E value;
		Node<E> before, after;
	}

	private final Node<E> head = new Node<E>(); /* of a ring */
	private int size;

	public LinkedList() {
		head.before = head.after = head;
	}

	public LinkedList(Collection<? extends E> c) {
		this();
		addAll(c);
	}

	public int size() {
		return size;
	}

	private Node<E> node(int i) {
		Node<E> n = head;

		if (i < 0 || i > size)
			throw new IndexOutOfBoundsException("Index: " + i + ", Size: " + size);
		if (i < size / 2)
			for (; i >= 0; i--)
				n = n.after;
		else
			for (; i < size; i++)
				n = n.before;
		return n;
	}

	private void insert(Node<E> next, E e) {
		Node<E> n = new Node<E>();

		n.value = e;
		n.after = next;
		n.before = next.before;
		n.before.after = n;
		next.before = n;
		size++;
		modCount++;
	}

	private E unlink(Node<E> n) {
		if (n == head)
			return null;
		n.before.after = n.after;
		n.after.before = n.before;
		size--;
		modCount++;
		return n.value;
	}

	private Node<E> present(int i) {
		if (i >= size)
			throw new IndexOutOfBoundsException("Index: " + i + ", Size: " + size);
		return node(i);
	}

	public E get(int i) {
		return present(i).value;
	}

	public E set(int i, E e) {
		Node<E> n = present(i);
		E old = n.value;

		n.value = e;
		return old;
	}

	public void add(int i, E e) {
		insert(node(i), e);
	}

	public E remove(int i) {
		return unlink(present(i));
	}

	public boolean remove(Object o) {
		int i = indexOf(o);

		if (i >= 0)
			remove(i);
		return i >= 0;
	}

	public int indexOf(Object o) {
		int i = 0;

		for (Node<E> n = head.after; n != head; n = n.after, i++)
			if (Objects.equals(o, n.value))
				return i;
		return -1;
	}

	public boolean addAll(Collection<? extends E> c) {
		return addAll(size, c);
	}

	@SuppressWarnings("unchecked")
	public boolean addAll(int i, Collection<? extends E> c) {
		Node<E> next = node(i);
		Object[] all = c.toArray();

		for (Object e : all)
			insert(next, (E)e);
		return all.length != 0;
	}

	public void clear() {
		head.before = head.after = head;
		size = 0;
		modCount++;
	}

	public void addFirst(E e) {
		insert(head.after, e);
	}

	public void addLast(E e) {
		insert(head, e);
	}

	public E peekFirst() {
		return head.after.value;
	}

	public E peekLast() {
		return head.before.value;
	}

	public E pollFirst() {
		return unlink(head.after);
	}

	public E pollLast() {
		return unlink(head.before);
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
		return new Walk(0);
	}

	public ListIterator<E> listIterator(int i) {
		return new Walk(i);
	}

	private class Walk implements ListIterator<E> {
		private Node<E> next, last;
		private int at, expected = modCount;

		Walk(int i) {
			next = node(i);
			at = i;
		}

		private void check() {
			if (modCount != expected)
				throw new ConcurrentModificationException();
		}

		/* By the index: after a change of the size, that decides whether next is called and notices it. */
		public boolean hasNext() {
			return at < size;
		}

		public boolean hasPrevious() {
			return at > 0;
		}

		public int nextIndex() {
			return at;
		}

		public int previousIndex() {
			return at - 1;
		}

		public E next() {
			check();
			if (!hasNext())
				throw new NoSuchElementException();
			last = next;
			next = next.after;
			at++;
			return last.value;
		}

		public E previous() {
			check();
			if (!hasPrevious())
				throw new NoSuchElementException();
			last = next = next.before;
			at--;
			return last.value;
		}

		public void remove() {
			check();
			if (last == null)
				throw new IllegalStateException();
			if (next == last)
				next = last.after;
			else
				at--;
			unlink(last);
			last = null;
			expected = modCount;
		}

		public void set(E e) {
			if (last == null)
				throw new IllegalStateException();
			check();
			last.value = e;
		}

		public void add(E e) {
			check();
			last = null;
			insert(next, e);
			at++;
			expected = modCount;
		}

		public void forEachRemaining(Consumer<? super E> action) {
			ListIterator.super.forEachRemaining(action);
			check();
		}
	}
}
