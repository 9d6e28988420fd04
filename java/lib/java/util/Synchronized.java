package java.util;

import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/* The views of Collections whose single operations several threads may call; who iterates takes the lock himself. */
final class Synchronized {
	private Synchronized() {
	}

	static class View<E> implements Collection<E>, java.io.Serializable {
		final Collection<E> c;
		final Object lock;

		View(Collection<E> c, Object lock) {
			this.c = Objects.requireNonNull(c);
			this.lock = lock == null ? this : lock;
		}

		public int size() {
			synchronized (lock) {
				return c.size();
			}
		}

		public boolean isEmpty() {
			synchronized (lock) {
				return c.isEmpty();
			}
		}

		public boolean contains(Object o) {
			synchronized (lock) {
				return c.contains(o);
			}
		}

		public Object[] toArray() {
			synchronized (lock) {
				return c.toArray();
			}
		}

		public <T> T[] toArray(T[] a) {
			synchronized (lock) {
				return c.toArray(a);
			}
		}

		public Iterator<E> iterator() {
			return c.iterator();
		}

		public boolean add(E e) {
			synchronized (lock) {
				return c.add(e);
			}
		}

		public boolean remove(Object o) {
			synchronized (lock) {
				return c.remove(o);
			}
		}

		public boolean containsAll(Collection<?> o) {
			synchronized (lock) {
				return c.containsAll(o);
			}
		}

		public boolean addAll(Collection<? extends E> o) {
			synchronized (lock) {
				return c.addAll(o);
			}
		}

		public boolean removeAll(Collection<?> o) {
			synchronized (lock) {
				return c.removeAll(o);
			}
		}

		public boolean retainAll(Collection<?> o) {
			synchronized (lock) {
				return c.retainAll(o);
			}
		}

		public void clear() {
			synchronized (lock) {
				c.clear();
			}
		}

		public String toString() {
			synchronized (lock) {
				return c.toString();
			}
		}

		public void forEach(Consumer<? super E> action) {
			synchronized (lock) {
				c.forEach(action);
			}
		}

		public boolean removeIf(Predicate<? super E> filter) {
			synchronized (lock) {
				return c.removeIf(filter);
			}
		}
	}

	static class SetView<E> extends View<E> implements Set<E> {
		SetView(Set<E> s, Object lock) {
			super(s, lock);
		}

		public boolean equals(Object o) {
			if (o == this)
				return true;
			synchronized (lock) {
				return c.equals(o);
			}
		}

		public int hashCode() {
			synchronized (lock) {
				return c.hashCode();
			}
		}
	}

	static class ListView<E> extends View<E> implements List<E> {
		private final List<E> list;

		ListView(List<E> list, Object lock) {
			super(list, lock);
			this.list = list;
		}

		public E get(int i) {
			synchronized (lock) {
				return list.get(i);
			}
		}

		public E set(int i, E e) {
			synchronized (lock) {
				return list.set(i, e);
			}
		}

		public void add(int i, E e) {
			synchronized (lock) {
				list.add(i, e);
			}
		}

		public E remove(int i) {
			synchronized (lock) {
				return list.remove(i);
			}
		}

		public int indexOf(Object o) {
			synchronized (lock) {
				return list.indexOf(o);
			}
		}

		public int lastIndexOf(Object o) {
			synchronized (lock) {
				return list.lastIndexOf(o);
			}
		}

		public boolean addAll(int i, Collection<? extends E> o) {
			synchronized (lock) {
				return list.addAll(i, o);
			}
		}

		public List<E> subList(int from, int to) {
			synchronized (lock) {
				return new ListView<E>(list.subList(from, to), lock);
			}
		}

		public ListIterator<E> listIterator() {
			return list.listIterator();
		}

		public ListIterator<E> listIterator(int i) {
			return list.listIterator(i);
		}

		public void replaceAll(UnaryOperator<E> f) {
			synchronized (lock) {
				list.replaceAll(f);
			}
		}

		public void sort(Comparator<? super E> c) {
			synchronized (lock) {
				list.sort(c);
			}
		}

		public boolean equals(Object o) {
			if (o == this)
				return true;
			synchronized (lock) {
				return list.equals(o);
			}
		}

		public int hashCode() {
			synchronized (lock) {
				return list.hashCode();
			}
		}
	}

	static class MapView<K, V> implements Map<K, V>, java.io.Serializable {
		private final Map<K, V> m;
		private final Object lock = this;

		MapView(Map<K, V> m) {
			this.m = Objects.requireNonNull(m);
		}

		public int size() {
			synchronized (lock) {
				return m.size();
			}
		}

		public boolean isEmpty() {
			synchronized (lock) {
				return m.isEmpty();
			}
		}

		public boolean containsKey(Object key) {
			synchronized (lock) {
				return m.containsKey(key);
			}
		}

		public boolean containsValue(Object value) {
			synchronized (lock) {
				return m.containsValue(value);
			}
		}

		public V get(Object key) {
			synchronized (lock) {
				return m.get(key);
			}
		}

		public V put(K key, V value) {
			synchronized (lock) {
				return m.put(key, value);
			}
		}

		public V remove(Object key) {
			synchronized (lock) {
				return m.remove(key);
			}
		}

		public void putAll(Map<? extends K, ? extends V> o) {
			synchronized (lock) {
				m.putAll(o);
			}
		}

		public void clear() {
			synchronized (lock) {
				m.clear();
			}
		}

		public Set<K> keySet() {
			synchronized (lock) {
				return new SetView<K>(m.keySet(), lock);
			}
		}

		public Collection<V> values() {
			synchronized (lock) {
				return new View<V>(m.values(), lock);
			}
		}

		public Set<Entry<K, V>> entrySet() {
			synchronized (lock) {
				return new SetView<Entry<K, V>>(m.entrySet(), lock);
			}
		}

		public String toString() {
			synchronized (lock) {
				return m.toString();
			}
		}

		public V getOrDefault(Object key, V other) {
			synchronized (lock) {
				return m.getOrDefault(key, other);
			}
		}

		public V putIfAbsent(K key, V value) {
			synchronized (lock) {
				return m.putIfAbsent(key, value);
			}
		}

		public boolean remove(Object key, Object value) {
			synchronized (lock) {
				return m.remove(key, value);
			}
		}

		public boolean replace(K key, V old, V value) {
			synchronized (lock) {
				return m.replace(key, old, value);
			}
		}

		public V replace(K key, V value) {
			synchronized (lock) {
				return m.replace(key, value);
			}
		}

		public void forEach(BiConsumer<? super K, ? super V> action) {
			synchronized (lock) {
				m.forEach(action);
			}
		}

		public void replaceAll(BiFunction<? super K, ? super V, ? extends V> f) {
			synchronized (lock) {
				m.replaceAll(f);
			}
		}

		public V computeIfAbsent(K key, Function<? super K, ? extends V> f) {
			synchronized (lock) {
				return m.computeIfAbsent(key, f);
			}
		}

		public V computeIfPresent(K key, BiFunction<? super K, ? super V, ? extends V> f) {
			synchronized (lock) {
				return m.computeIfPresent(key, f);
			}
		}

		public V compute(K key, BiFunction<? super K, ? super V, ? extends V> f) {
			synchronized (lock) {
				return m.compute(key, f);
			}
		}

		public V merge(K key, V value, BiFunction<? super V, ? super V, ? extends V> f) {
			synchronized (lock) {
				return m.merge(key, value, f);
			}
		}

		public boolean equals(Object o) {
			if (o == this)
				return true;
			synchronized (lock) {
				return m.equals(o);
			}
		}

		public int hashCode() {
			synchronized (lock) {
				return m.hashCode();
			}
		}
	}
}
