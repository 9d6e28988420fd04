package java.util;

public abstract class AbstractMap<K, V> implements Map<K, V> {
	protected AbstractMap() {
	}

	private Entry<K, V> entry(Object key) {
		for (Entry<K, V> e : entrySet())
			if (Objects.equals(key, e.getKey()))
				return e;
		return null;
	}

	public int size() {
		return entrySet().size();
	}

	public boolean isEmpty() {
		return size() == 0;
	}

	public boolean containsKey(Object key) {
		return entry(key) != null;
	}

	public boolean containsValue(Object value) {
		return values().contains(value);
	}

	public V get(Object key) {
		Entry<K, V> e = entry(key);

		return e == null ? null : e.getValue();
	}

	public V put(K key, V value) {
		throw new UnsupportedOperationException();
	}

	public V remove(Object key) {
		for (Iterator<Entry<K, V>> i = entrySet().iterator(); i.hasNext();) {
			Entry<K, V> e = i.next();
			if (!Objects.equals(key, e.getKey()))
				continue;
			V value = e.getValue();
			i.remove();
			return value;
		}
		return null;
	}

	public void putAll(Map<? extends K, ? extends V> m) {
		for (Entry<? extends K, ? extends V> e : m.entrySet())
			put(e.getKey(), e.getValue());
	}

	public void clear() {
		entrySet().clear();
	}

	/* What keySet and values iterate over. */
	private class Walk<T> implements Iterator<T> {
		private final Iterator<Entry<K, V>> i = entrySet().iterator();
		private final boolean keys;

		Walk(boolean keys) {
			this.keys = keys;
		}

		public boolean hasNext() {
			return i.hasNext();
		}

		@SuppressWarnings("unchecked")
		public T next() {
			Entry<K, V> e = i.next();

			return (T)(keys ? e.getKey() : e.getValue());
		}

		public void remove() {
			i.remove();
		}
	}

	public Set<K> keySet() {
		return new AbstractSet<K>() {
			public int size() {
				return AbstractMap.this.size();
			}

			public void clear() {
				AbstractMap.this.clear();
			}

			public boolean contains(Object o) {
				return containsKey(o);
			}

			public Iterator<K> iterator() {
				return new Walk<K>(true);
			}
		};
	}

	public Collection<V> values() {
		return new AbstractCollection<V>() {
			public int size() {
				return AbstractMap.this.size();
			}

			public void clear() {
				AbstractMap.this.clear();
			}

			public Iterator<V> iterator() {
				return new Walk<V>(false);
			}
		};
	}

	public abstract Set<Entry<K, V>> entrySet();

	public boolean equals(Object o) {
		if (o == this)
			return true;
		if (!(o instanceof Map) || ((Map<?, ?>)o).size() != size())
			return false;
		Map<?, ?> m = (Map<?, ?>)o;
		for (Entry<K, V> e : entrySet()) {
			Object value = m.get(e.getKey());
			if (!Objects.equals(e.getValue(), value) || value == null && !m.containsKey(e.getKey()))
				return false;
		}
		return true;
	}

	public int hashCode() {
		int h = 0;

		for (Entry<K, V> e : entrySet())
			h += e.hashCode();
		return h;
	}

	public String toString() {
		StringBuilder s = new StringBuilder("{");

		for (Entry<K, V> e : entrySet()) {
			K key = e.getKey();
			V value = e.getValue();
			s.append(s.length() == 1 ? "" : ", ").append(key == this ? "(this Map)" : String.valueOf(key)).append('=')
			 .append(value == this ? "(this Map)" : String.valueOf(value));
		}
		return s.append('}').toString();
	}
}
