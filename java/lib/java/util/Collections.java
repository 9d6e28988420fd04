package java.util;

import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

public final class Collections {
	private Collections() {
	}

	public static <T extends Comparable<? super T>> void sort(List<T> list) {
		list.sort(null);
	}

	public static <T> void sort(List<T> list, Comparator<? super T> c) {
		list.sort(c);
	}

	public static void reverse(List<?> list) {
		for (int i = 0, k = list.size() - 1; i < k; i++, k--)
			swap(list, i, k);
	}

	@SuppressWarnings("unchecked")
	public static void swap(List<?> list, int i, int k) {
		List<Object> l = (List<Object>)list;

		l.set(i, l.set(k, l.get(i)));
	}

	public static void shuffle(List<?> list, Random random) {
		for (int i = list.size(); i > 1; i--)
			swap(list, i - 1, random.nextInt(i));
	}

	public static void shuffle(List<?> list) {
		shuffle(list, new Random());
	}

	public static <T extends Object & Comparable<? super T>> T max(Collection<? extends T> c) {
		Iterator<? extends T> i = c.iterator();
		T best = i.next();

		while (i.hasNext()) {
			T e = i.next();
			if (e.compareTo(best) > 0)
				best = e;
		}
		return best;
	}

	public static <T extends Object & Comparable<? super T>> T min(Collection<? extends T> c) {
		Iterator<? extends T> i = c.iterator();
		T best = i.next();

		while (i.hasNext()) {
			T e = i.next();
			if (e.compareTo(best) < 0)
				best = e;
		}
		return best;
	}

	private static class EmptyList extends AbstractList<Object> implements RandomAccess, java.io.Serializable {
		public int size() {
			return 0;
		}

		public Object get(int i) {
			throw new IndexOutOfBoundsException("Index: " + i);
		}
	}

	private static class EmptySet extends AbstractSet<Object> implements java.io.Serializable {
		public int size() {
			return 0;
		}

		public Iterator<Object> iterator() {
			return Collections.<Object>emptyList().iterator();
		}
	}

	private static class EmptyMap extends Unmodifiable.Fixed<Object, Object> {
		@SuppressWarnings("unchecked")
		public Set<Map.Entry<Object, Object>> entrySet() {
			return (Set<Map.Entry<Object, Object>>)(Set<?>)EMPTY_SET;
		}
	}

	@SuppressWarnings("rawtypes")
	public static final List EMPTY_LIST = new EmptyList();
	@SuppressWarnings("rawtypes")
	public static final Set EMPTY_SET = new EmptySet();
	@SuppressWarnings("rawtypes")
	public static final Map EMPTY_MAP = new EmptyMap();

	@SuppressWarnings("unchecked")
	public static <T> List<T> emptyList() {
		return (List<T>)EMPTY_LIST;
	}

	@SuppressWarnings("unchecked")
	public static <T> Set<T> emptySet() {
		return (Set<T>)EMPTY_SET;
	}

	@SuppressWarnings("unchecked")
	public static <K, V> Map<K, V> emptyMap() {
		return (Map<K, V>)EMPTY_MAP;
	}

	private static class One<T> implements Iterator<T> {
		private final T o;
		private boolean was;

		One(T o) {
			this.o = o;
		}

		public boolean hasNext() {
			return !was;
		}

		public T next() {
			if (was)
				throw new NoSuchElementException();
			was = true;
			return o;
		}
	}

	private static class SingletonList<T> extends AbstractList<T> implements RandomAccess, java.io.Serializable {
		private final T o;

		SingletonList(T o) {
			this.o = o;
		}

		public int size() {
			return 1;
		}

		public T get(int i) {
			if (i != 0)
				throw new IndexOutOfBoundsException("Index: " + i + ", Size: 1");
			return o;
		}

		public Iterator<T> iterator() {
			return new One<T>(o);
		}

		public boolean removeIf(Predicate<? super T> filter) {
			throw new UnsupportedOperationException();
		}

		public void replaceAll(UnaryOperator<T> f) {
			throw new UnsupportedOperationException();
		}

		public void sort(Comparator<? super T> c) {
		}
	}

	private static class Singleton<T> extends AbstractSet<T> implements java.io.Serializable {
		private final T o;

		Singleton(T o) {
			this.o = o;
		}

		public int size() {
			return 1;
		}

		public Iterator<T> iterator() {
			return new One<T>(o);
		}

		public boolean removeIf(Predicate<? super T> filter) {
			throw new UnsupportedOperationException();
		}
	}

	private static class SingletonMap<K, V> extends Unmodifiable.Fixed<K, V> {
		private final Map.Entry<K, V> e;

		SingletonMap(K key, V value) {
			e = new Unmodifiable.Entry<K, V>(new HashMap.Node<K, V>(key, value, 0));
		}

		public Set<Map.Entry<K, V>> entrySet() {
			return singleton(e);
		}

		public Set<K> keySet() {
			return singleton(e.getKey());
		}

		public Collection<V> values() {
			return singleton(e.getValue());
		}

		public void replaceAll(BiFunction<? super K, ? super V, ? extends V> f) {
			throw new UnsupportedOperationException();
		}
	}

	public static <T> List<T> singletonList(T o) {
		return new SingletonList<T>(o);
	}

	public static <T> Set<T> singleton(T o) {
		return new Singleton<T>(o);
	}

	public static <K, V> Map<K, V> singletonMap(K key, V value) {
		return new SingletonMap<K, V>(key, value);
	}

	public static <T> Collection<T> unmodifiableCollection(Collection<? extends T> c) {
		return new Unmodifiable.View<T>(c);
	}

	public static <T> Set<T> unmodifiableSet(Set<? extends T> c) {
		return new Unmodifiable.SetView<T>(c);
	}

	public static <T> List<T> unmodifiableList(List<? extends T> c) {
		return new Unmodifiable.ListView<T>(c);
	}

	public static <K, V> Map<K, V> unmodifiableMap(Map<? extends K, ? extends V> c) {
		return new Unmodifiable.MapView<K, V>(c);
	}

	public static <T> Collection<T> synchronizedCollection(Collection<T> c) {
		return new Synchronized.View<T>(c, null);
	}

	public static <T> Set<T> synchronizedSet(Set<T> c) {
		return new Synchronized.SetView<T>(c, null);
	}

	public static <T> List<T> synchronizedList(List<T> c) {
		return new Synchronized.ListView<T>(c, null);
	}

	public static <K, V> Map<K, V> synchronizedMap(Map<K, V> c) {
		return new Synchronized.MapView<K, V>(c);
	}

	public static <T> Comparator<T> reverseOrder() {
		return Orders.reverse();
	}

	public static <T> Comparator<T> reverseOrder(Comparator<T> c) {
		return c == null ? Orders.<T>reverse() : new Orders.Reversed<T>(c);
	}

	@SafeVarargs
	public static <T> boolean addAll(Collection<? super T> c, T... elements) {
		boolean changed = false;

		for (T e : elements)
			changed |= c.add(e);
		return changed;
	}
}
