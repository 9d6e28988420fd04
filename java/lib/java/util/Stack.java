package java.util;

public class Stack<E> extends Vector<E> {
	public E push(E e) {
		add(e);
		return e;
	}

	public synchronized E pop() {
		if (isEmpty())
			throw new EmptyStackException();
		return remove(size() - 1);
	}

	public synchronized E peek() {
		if (isEmpty())
			throw new EmptyStackException();
		return get(size() - 1);
	}

	public boolean empty() {
		return isEmpty();
	}
}
