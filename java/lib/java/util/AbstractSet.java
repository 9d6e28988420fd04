package java.util;

public abstract class AbstractSet<E> extends AbstractCollection<E> implements Set<E> {
	protected AbstractSet() {
	}

	public boolean equals(Object o) {
		return o instanceof Set && ((Set<?>)o).size() == size() && containsAll((Set<?>)o);
	}

	public int hashCode() {
		int h = 0;

		for (E e : this)
			h += Objects.hashCode(e);
		return h;
	}
}
