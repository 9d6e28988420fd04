package java.util;

import java.util.function.Consumer;
import java.util.function.Predicate;

/* A ring with at least one free place. As in Java's there is no count of changes; what notices one is that a place
   is empty, or that the end is another. So the ring has Java's sizes, and elements move as they do there. */
public class ArrayDeque<E> extends AbstractCollection<E> implements Deque<E> {
	private Object[] ring;
	private int first, end;

	public ArrayDeque() {
		this(16);
	}

	public ArrayDeque(int room) {
		ring = new Object[Math.max(room, 0) + 1];
	}

	public ArrayDeque(Collection<? extends E> c) {
		this(c.size());
		addAll(c);
	}

	private static int after(int i, Object[] ring) {
		return i + 1 == ring.length ? 0 : i + 1;
	}

	private static int before(int i, Object[] ring) {
		return (i == 0 ? ring.length : i) - 1;
	}

	/* From place a to b. */
	private static int distance(int a, int b, Object[] ring) {
		return b - a + (b < a ? ring.length : 0);
	}

	public int size() {
		return distance(first, end, ring);
	}

	@SuppressWarnings("unchecked")
	private static <E> E at(Object[] ring, int i) {
		return (E)ring[i];
	}

	private void grow(int needed) {
		int old = ring.length, n = old + Math.max(needed, old < 64 ? old + 2 : old / 2);
		boolean wraps = end < first || end == first && ring[first] != null;

		ring = Arrays.copyOf(ring, n);
		if (!wraps)
			return;
		System.arraycopy(ring, first, ring, first + n - old, old - first);
		Arrays.fill(ring, first, first + n - old, null);
		first += n - old;
	}

	public boolean addAll(Collection<? extends E> c) {
		int size = size(), needed = size + c.size() + 1 - ring.length;

		if (needed > 0)
			grow(needed);
		c.forEach(new Consumer<E>() {
			public void accept(E e) {
				addLast(e);
			}
		});
		return size() > size;
	}

	public void addFirst(E e) {
		Objects.requireNonNull(e);
		first = before(first, ring);
		ring[first] = e;
		if (first == end)
			grow(1);
	}

	public void addLast(E e) {
		Objects.requireNonNull(e);
		ring[end] = e;
		end = after(end, ring);
		if (first == end)
			grow(1);
	}

	public E peekFirst() {
		return at(ring, first);
	}

	public E peekLast() {
		return at(ring, before(end, ring));
	}

	public E pollFirst() {
		E e = peekFirst();

		if (e != null) {
			ring[first] = null;
			first = after(first, ring);
		}
		return e;
	}

	public E pollLast() {
		E e = peekLast();

		if (e != null) {
			end = before(end, ring);
			ring[end] = null;
		}
		return e;
	}

	public void clear() {
		Arrays.fill(ring, null);
		first = end = 0;
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

	/* The shorter side moves. Whether it is that behind the place. */
	private boolean delete(int i) {
		boolean behind = distance(first, i, ring) >= distance(i, end, ring) - 1;
		int k;

		if (behind) {
			for (; (k = after(i, ring)) != end; i = k)
				ring[i] = ring[k];
			end = i;
		} else {
			for (; i != first; i = k)
				ring[i] = ring[k = before(i, ring)];
			first = after(i, ring);
		}
		ring[i] = null;
		return behind;
	}

	private static void check(boolean same) {
		if (!same)
			throw new ConcurrentModificationException();
	}

	public void forEach(Consumer<? super E> action) {
		Objects.requireNonNull(action);
		each(first, action);
	}

	private void each(int i, Consumer<? super E> action) {
		Object[] begun = ring;
		int stop = end;

		for (; i != stop; i = after(i, begun))
			action.accept(ArrayDeque.<E>at(begun, i));
		check(end == stop);
	}

	/* Tests all elements before it removes any. What is there after the first one to remove counts, as in Java's. */
	public boolean removeIf(Predicate<? super E> filter) {
		Object[] begun = ring;
		int stop = end, i = first, n = 0;

		Objects.requireNonNull(filter);
		while (i != stop && !filter.test(ArrayDeque.<E>at(begun, i)))
			i = after(i, begun);
		if (i == stop) {
			check(end == stop);
			return false;
		}
		begun = ring;
		stop = end;
		Object[] kept = new Object[begun.length];
		for (int k = after(i, begun); k != stop; k = after(k, begun))
			if (!filter.test(ArrayDeque.<E>at(begun, k)))
				kept[n++] = begun[k];
		check(end == stop);
		for (int k = 0; i != stop; i = after(i, begun)) {
			begun[i] = kept[k];
			if (k++ == n)
				end = i;
		}
		return true;
	}

	private boolean keep(Collection<?> c, boolean those) {
		Objects.requireNonNull(c);
		return removeIf(new Predicate<E>() {
			public boolean test(E e) {
				return c.contains(e) != those;
			}
		});
	}

	public boolean removeAll(Collection<?> c) {
		return keep(c, false);
	}

	public boolean retainAll(Collection<?> c) {
		return keep(c, true);
	}

	public Iterator<E> iterator() {
		return new Iterator<E>() {
			private int at = first, last = -1, left = size();

			public boolean hasNext() {
				return left > 0;
			}

			public E next() {
				if (left <= 0)
					throw new NoSuchElementException();
				E e = at(ring, at);
				check(e != null);
				last = at;
				at = after(at, ring);
				left--;
				return e;
			}

			public void remove() {
				if (last < 0)
					throw new IllegalStateException();
				if (delete(last))
					at = before(at, ring);
				last = -1;
			}

			public void forEachRemaining(Consumer<? super E> action) {
				int n = left;

				Objects.requireNonNull(action);
				left = 0;
				if (n <= 0)
					return;
				check(ring[at] != null && distance(at, end, ring) == n);
				each(at, action);
				last = before(end, ring);
			}
		};
	}
}
