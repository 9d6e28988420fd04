package java.util;

public abstract class AbstractCollection<E> implements Collection<E> {
	protected AbstractCollection() {
	}

	public boolean isEmpty() {
		return size() == 0;
	}

	public boolean contains(Object o) {
		for (Iterator<E> i = iterator(); i.hasNext();)
			if (Objects.equals(o, i.next()))
				return true;
		return false;
	}

	public Object[] toArray() {
		return toArray(new Object[size()]);
	}

	@SuppressWarnings("unchecked")
	public <T> T[] toArray(T[] a) {
		int n = size(), k = 0;

		if (a.length < n)
			a = Arrays.copyOf(a, n);
		for (Iterator<E> i = iterator(); k < n && i.hasNext();)
			a[k++] = (T)i.next();
		if (k < a.length)
			a[k] = null;
		return a;
	}

	public boolean add(E e) {
		throw new UnsupportedOperationException();
	}

	public boolean remove(Object o) {
		for (Iterator<E> i = iterator(); i.hasNext();)
			if (Objects.equals(o, i.next())) {
				i.remove();
				return true;
			}
		return false;
	}

	public boolean containsAll(Collection<?> c) {
		for (Object o : c)
			if (!contains(o))
				return false;
		return true;
	}

	public boolean addAll(Collection<? extends E> c) {
		boolean changed = false;

		for (E e : c)
			changed |= add(e);
		return changed;
	}

	private boolean keep(Collection<?> c, boolean those) {
		boolean changed = false;

		for (Iterator<E> i = iterator(); i.hasNext();)
			if (c.contains(i.next()) != those) {
				i.remove();
				changed = true;
			}
		return changed;
	}

	public boolean removeAll(Collection<?> c) {
		return keep(c, false);
	}

	public boolean retainAll(Collection<?> c) {
		return keep(c, true);
	}

	public void clear() {
		for (Iterator<E> i = iterator(); i.hasNext();) {
			i.next();
			i.remove();
		}
	}

	public String toString() {
		StringBuilder s = new StringBuilder("[");

		for (Iterator<E> i = iterator(); i.hasNext();) {
			E e = i.next();
			s.append(e == this ? "(this Collection)" : String.valueOf(e));
			if (i.hasNext())
				s.append(", ");
		}
		return s.append(']').toString();
	}
}
