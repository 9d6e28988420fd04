package java.util;

import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/* The views of Collections that refuse each change, also one that would have no effect. */
final class Unmodifiable {
	private Unmodifiable() {
	}

	static class View<E> implements Collection<E>, java.io.Serializable {
		final Collection<E> c;

		@SuppressWarnings("unchecked")
		View(Collection<? extends E> c) {
			this.c = (Collection<E>)Objects.requireNonNull(c);
		}

		public int size() {
			return c.size();
		}

		public boolean isEmpty() {
			return c.isEmpty();
		}

		public boolean contains(Object o) {
			return c.contains(o);
		}

		public Object[] toArray() {
			return c.toArray();
		}

		public <T> T[] toArray(T[] a) {
			return c.toArray(a);
		}

		public boolean containsAll(Collection<?> o) {
			return c.containsAll(o);
		}

		public String toString() {
			return c.toString();
		}

		public void forEach(Consumer<? super E> action) {
			c.forEach(action);
		}

		public Iterator<E> iterator() {
			return new Walk<E>(c.iterator());
		}

		public boolean add(E e) {
			throw new UnsupportedOperationException();
		}

		public boolean remove(Object o) {
			throw new UnsupportedOperationException();
		}

		public boolean addAll(Collection<? extends E> o) {
			throw new UnsupportedOperationException();
		}

		public boolean removeAll(Collection<?> o) {
			throw new UnsupportedOperationException();
		}

		public boolean retainAll(Collection<?> o) {
			throw new UnsupportedOperationException();
		}

		public void clear() {
			throw new UnsupportedOperationException();
		}

		public boolean removeIf(Predicate<? super E> filter) {
			throw new UnsupportedOperationException();
		}
	}

	private static class Walk<E> implements Iterator<E> {
		private final Iterator<E> i;

		Walk(Iterator<E> i) {
			this.i = i;
		}

		public boolean hasNext() {
			return i.hasNext();
		}

		public E next() {
			return i.next();
		}

		public void remove() {
			throw new UnsupportedOperationException();
		}

		public void forEachRemaining(Consumer<? super E> action) {
			i.forEachRemaining(action);
		}
	}

	private static class ListWalk<E> extends Walk<E> implements ListIterator<E> {
		private final ListIterator<E> i;

		ListWalk(ListIterator<E> i) {
			super(i);
			this.i = i;
		}

		public boolean hasPrevious() {
			return i.hasPrevious();
		}

		public E previous() {
			return i.previous();
		}

		public int nextIndex() {
			return i.nextIndex();
		}

		public int previousIndex() {
			return i.previousIndex();
		}

		public void set(E e) {
			throw new UnsupportedOperationException();
		}

		public void add(E e) {
			throw new UnsupportedOperationException();
		}
	}

	static class SetView<E> extends View<E> implements Set<E> {
		SetView(Set<? extends E> s) {
			super(s);
		}

		public boolean equals(Object o) {
			return o == this || c.equals(o);
		}

		public int hashCode() {
			return c.hashCode();
		}
	}

	static class ListView<E> extends View<E> implements List<E> {
		private final List<E> list;

		ListView(List<? extends E> list) {
			super(list);
			this.list = (List<E>)c;
		}

		public E get(int i) {
			return list.get(i);
		}

		public int indexOf(Object o) {
			return list.indexOf(o);
		}

		public int lastIndexOf(Object o) {
			return list.lastIndexOf(o);
		}

		public List<E> subList(int from, int to) {
			return new ListView<E>(list.subList(from, to));
		}

		public ListIterator<E> listIterator() {
			return listIterator(0);
		}

		public ListIterator<E> listIterator(int i) {
			return new ListWalk<E>(list.listIterator(i));
		}

		public boolean equals(Object o) {
			return o == this || list.equals(o);
		}

		public int hashCode() {
			return list.hashCode();
		}

		public E set(int i, E e) {
			throw new UnsupportedOperationException();
		}

		public void add(int i, E e) {
			throw new UnsupportedOperationException();
		}

		public E remove(int i) {
			throw new UnsupportedOperationException();
		}

		public boolean addAll(int i, Collection<? extends E> o) {
			throw new UnsupportedOperationException();
		}

		public void replaceAll(UnaryOperator<E> f) {
			throw new UnsupportedOperationException();
		}

		public void sort(Comparator<? super E> c) {
			throw new UnsupportedOperationException();
		}
	}

	/* What refuses in each map that cannot be changed, whether it has the key or not. */
	abstract static class Fixed<K, V> extends AbstractMap<K, V> implements java.io.Serializable {
		public V putIfAbsent(K key, V value) {
			throw new UnsupportedOperationException();
		}

		public boolean remove(Object key, Object value) {
			throw new UnsupportedOperationException();
		}

		public boolean replace(K key, V old, V value) {
			throw new UnsupportedOperationException();
		}

		public V replace(K key, V value) {
			throw new UnsupportedOperationException();
		}

		public V computeIfAbsent(K key, Function<? super K, ? extends V> f) {
			throw new UnsupportedOperationException();
		}

		public V computeIfPresent(K key, BiFunction<? super K, ? super V, ? extends V> f) {
			throw new UnsupportedOperationException();
		}

		public V compute(K key, BiFunction<? super K, ? super V, ? extends V> f) {
			throw new UnsupportedOperationException();
		}

		public V merge(K key, V value, BiFunction<? super V, ? super V, ? extends V> f) {
			throw new UnsupportedOperationException();
		}
	}

	static class MapView<K, V> extends Fixed<K, V> {
		private final Map<K, V> m;

		@SuppressWarnings("unchecked")
		MapView(Map<? extends K, ? extends V> m) {
			this.m = (Map<K, V>)Objects.requireNonNull(m);
		}

		public int size() {
			return m.size();
		}

		public boolean containsKey(Object key) {
			return m.containsKey(key);
		}

		public boolean containsValue(Object value) {
			return m.containsValue(value);
		}

		public V get(Object key) {
			return m.get(key);
		}

		public V getOrDefault(Object key, V other) {
			return m.getOrDefault(key, other);
		}

		public Set<K> keySet() {
			return new SetView<K>(m.keySet());
		}

		public Collection<V> values() {
			return new View<V>(m.values());
		}

		public Set<Entry<K, V>> entrySet() {
			return new Entries<K, V>(m.entrySet());
		}

		public String toString() {
			return m.toString();
		}

		public void forEach(BiConsumer<? super K, ? super V> action) {
			m.forEach(action);
		}

		public boolean equals(Object o) {
			return o == this || m.equals(o);
		}

		public int hashCode() {
			return m.hashCode();
		}

		public V put(K key, V value) {
			throw new UnsupportedOperationException();
		}

		public V remove(Object key) {
			throw new UnsupportedOperationException();
		}

		public void putAll(Map<? extends K, ? extends V> o) {
			throw new UnsupportedOperationException();
		}

		public void clear() {
			throw new UnsupportedOperationException();
		}

		public void replaceAll(BiFunction<? super K, ? super V, ? extends V> f) {
			throw new UnsupportedOperationException();
		}
	}

	/* Its entries refuse setValue. */
	private static class Entries<K, V> extends SetView<Map.Entry<K, V>> {
		Entries(Set<Map.Entry<K, V>> s) {
			super(s);
		}

		public Iterator<Map.Entry<K, V>> iterator() {
			return new Walk<Map.Entry<K, V>>(c.iterator()) {
				public Map.Entry<K, V> next() {
					return new Entry<K, V>(super.next());
				}

				public void forEachRemaining(Consumer<? super Map.Entry<K, V>> action) {
					super.forEachRemaining(fixed(action));
				}
			};
		}

		public void forEach(Consumer<? super Map.Entry<K, V>> action) {
			c.forEach(fixed(action));
		}

		private static <K, V> Consumer<Map.Entry<K, V>> fixed(Consumer<? super Map.Entry<K, V>> action) {
			Objects.requireNonNull(action);
			return new Consumer<Map.Entry<K, V>>() {
				public void accept(Map.Entry<K, V> e) {
					action.accept(new Entry<K, V>(e));
				}
			};
		}

		public Object[] toArray() {
			return toArray(new Object[size()]);
		}

		@SuppressWarnings("unchecked")
		public <T> T[] toArray(T[] a) {
			T[] all = c.toArray(a);

			for (int i = 0; i < all.length && all[i] != null; i++)
				all[i] = (T)new Entry<K, V>((Map.Entry<K, V>)all[i]);
			return all;
		}
	}

	static class Entry<K, V> implements Map.Entry<K, V>, java.io.Serializable {
		private final Map.Entry<K, V> e;

		Entry(Map.Entry<K, V> e) {
			this.e = e;
		}

		public K getKey() {
			return e.getKey();
		}

		public V getValue() {
			return e.getValue();
		}

		public boolean equals(Object o) {
			return o == this || e.equals(o);
		}

		public int hashCode() {
			return e.hashCode();
		}

		public String toString() {
			return e.toString();
		}

		public V setValue(V value) {
			throw new UnsupportedOperationException();
		}
	}
}
