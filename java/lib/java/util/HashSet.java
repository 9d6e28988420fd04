package java.util;

public class HashSet<E> extends AbstractSet<E> implements java.io.Serializable {
	private final HashMap<E, Boolean> map = new HashMap<E, Boolean>();

	public HashSet() {
	}

	public HashSet(int room) {
	}

	public HashSet(Collection<? extends E> c) {
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
