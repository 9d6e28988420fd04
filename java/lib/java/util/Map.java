package java.util;

import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;

public interface Map<K, V> {
	interface Entry<K, V> {
		K getKey();

		V getValue();

		V setValue(V value);

		static <K, V> Comparator<Entry<K, V>> comparingByKey(Comparator<? super K> c) {
			Objects.requireNonNull(c);
			return new Comparator<Entry<K, V>>() {
				public int compare(Entry<K, V> a, Entry<K, V> b) {
					return c.compare(a.getKey(), b.getKey());
				}
			};
		}

		static <K, V> Comparator<Entry<K, V>> comparingByValue(Comparator<? super V> c) {
			Objects.requireNonNull(c);
			return new Comparator<Entry<K, V>>() {
				public int compare(Entry<K, V> a, Entry<K, V> b) {
					return c.compare(a.getValue(), b.getValue());
				}
			};
		}

		static <K extends Comparable<? super K>, V> Comparator<Entry<K, V>> comparingByKey() {
			return comparingByKey(Comparator.<K>naturalOrder());
		}

		static <K, V extends Comparable<? super V>> Comparator<Entry<K, V>> comparingByValue() {
			return comparingByValue(Comparator.<V>naturalOrder());
		}
	}

	int size();

	boolean isEmpty();

	boolean containsKey(Object key);

	boolean containsValue(Object value);

	V get(Object key);

	V put(K key, V value);

	V remove(Object key);

	void putAll(Map<? extends K, ? extends V> m);

	void clear();

	Set<K> keySet();

	Collection<V> values();

	Set<Entry<K, V>> entrySet();

	default V getOrDefault(Object key, V other) {
		V value = get(key);

		return value != null || containsKey(key) ? value : other;
	}

	default V putIfAbsent(K key, V value) {
		V old = get(key);

		if (old == null)
			put(key, value);
		return old;
	}

	default boolean remove(Object key, Object value) {
		if (!Objects.equals(get(key), value) || !containsKey(key))
			return false;
		remove(key);
		return true;
	}

	default boolean replace(K key, V old, V value) {
		if (!Objects.equals(get(key), old) || !containsKey(key))
			return false;
		put(key, value);
		return true;
	}

	default V replace(K key, V value) {
		return containsKey(key) ? put(key, value) : null;
	}

	default void forEach(BiConsumer<? super K, ? super V> action) {
		Objects.requireNonNull(action);
		for (Entry<K, V> e : entrySet())
			action.accept(e.getKey(), e.getValue());
	}

	default void replaceAll(BiFunction<? super K, ? super V, ? extends V> f) {
		Objects.requireNonNull(f);
		for (Entry<K, V> e : entrySet())
			e.setValue(f.apply(e.getKey(), e.getValue()));
	}

	default V computeIfAbsent(K key, Function<? super K, ? extends V> f) {
		V value = get(key);

		Objects.requireNonNull(f);
		if (value != null)
			return value;
		value = f.apply(key);
		if (value != null)
			put(key, value);
		return value;
	}

	default V computeIfPresent(K key, BiFunction<? super K, ? super V, ? extends V> f) {
		Objects.requireNonNull(f);
		return get(key) == null ? null : compute(key, f);
	}

	default V compute(K key, BiFunction<? super K, ? super V, ? extends V> f) {
		V value = f.apply(key, get(key));

		if (value != null)
			put(key, value);
		else
			remove(key);
		return value;
	}

	default V merge(K key, V value, BiFunction<? super V, ? super V, ? extends V> f) {
		V old = get(key);

		Objects.requireNonNull(f);
		Objects.requireNonNull(value);
		if (old != null)
			value = f.apply(old, value);
		if (value != null)
			put(key, value);
		else
			remove(key);
		return value;
	}
}
