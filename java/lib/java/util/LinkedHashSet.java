package java.util;

public class LinkedHashSet<E> extends AbstractSet<E> implements java.io.Serializable {
	private final LinkedHashMap<E, Boolean> map = new LinkedHashMap<E, Boolean>();

	public LinkedHashSet() {
	}

	public LinkedHashSet(int room) {
	}

	public LinkedHashSet(Collection<? extends E> c) {
		addAll(c);
	}

	public int size() {
		return map.size();
	}

	public boolean contains(Object o) {
		return map.containsKey(o);
	}

	public boolean add(E e) {
		return map.put(e, Boolean.TRUE) == null;
	}

	public boolean remove(Object o) {
		return map.remove(o) != null;
	}

	public void clear() {
		map.clear();
	}

	public Iterator<E> iterator() {
		return map.keySet().iterator();
	}
}
