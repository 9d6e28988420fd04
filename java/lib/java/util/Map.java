package java.util;

public interface Map<K, V> {
	interface Entry<K, V> {
		K getKey();

		V getValue();

		V setValue(V value);
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
		return containsKey(key) ? get(key) : other;
	}

	default V putIfAbsent(K key, V value) {
		V old = get(key);

		if (old == null)
			put(key, value);
		return old;
	}
}
