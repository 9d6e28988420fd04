package java.util;

import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/* Chains in a table of a power of two; the entries of LinkedHashMap are in the order of their insertion too. */
public class HashMap<K, V> implements Map<K, V>, Cloneable, java.io.Serializable {
	static class Node<K, V> implements Map.Entry<K, V> {
		final K key;
		V value;
		final int hash;
		Node<K, V> next, before, after;

		Node(K key, V value, int hash) {
			this.key = key;
			this.value = value;
			this.hash = hash;
		}

		public K getKey() {
			return key;
		}

		public V getValue() {
			return value;
		}

		public V setValue(V value) {
			V old = this.value;

			this.value = value;
			return old;
		}

		public int hashCode() {
			return Objects.hashCode(key) ^ Objects.hashCode(value);
		}

		public boolean equals(Object o) {
			if (!(o instanceof Map.Entry))
				return false;
			Map.Entry<?, ?> e = (Map.Entry<?, ?>)o;
			return Objects.equals(key, e.getKey()) && Objects.equals(value, e.getValue());
		}

		public String toString() {
			return key + "=" + value;
		}
	}

	private Node<K, V>[] table = table(16);
	private int size, changes;
	final Node<K, V> head = new Node<K, V>(null, null, 0); /* LinkedHashMap's ring */

	public HashMap() {
		head.before = head.after = head;
	}

	public HashMap(int room) {
		this();
		if (room < 0)
			throw new IllegalArgumentException("Illegal initial capacity: " + room);
	}

	public HashMap(int room, float load) {
		this(room);
	}

	public HashMap(Map<? extends K, ? extends V> m) {
		this();
		putAll(m);
	}

	@SuppressWarnings("unchecked")
	private static <K, V> Node<K, V>[] table(int n) {
		return (Node<K, V>[])new Node[n];
	}

	private static int hash(Object key) {
		int h = key == null ? 0 : key.hashCode();

		return h ^ h >>> 16;
	}

	private Node<K, V> node(Object key) {
		int h = hash(key);
		Node<K, V> n = table[h & table.length - 1];

		while (n != null && !(n.hash == h && (n.key == key || key != null && key.equals(n.key))))
			n = n.next;
		return n;
	}

	boolean isLinked() {
		return false;
	}

	private void grow() {
		Node<K, V>[] more = table(2 * table.length);

		for (Node<K, V> n : table) {
			/* In their order, so that an iteration gives what Java's does. */
			Node<K, V> low = null, high = null, next;
			for (; n != null; n = next) {
				next = n.next;
				n.next = null;
				Node<K, V> last = (n.hash & table.length) == 0 ? low : high;
				if ((n.hash & table.length) == 0)
					low = n;
				else
					high = n;
				if (last != null)
					last.next = n;
				else
					more[n.hash & more.length - 1] = n;
			}
		}
		table = more;
	}

	public int size() {
		return size;
	}

	public boolean isEmpty() {
		return size == 0;
	}

	public boolean containsKey(Object key) {
		return node(key) != null;
	}

	public boolean containsValue(Object value) {
		return values().contains(value);
	}

	public V get(Object key) {
		Node<K, V> n = node(key);

		return n == null ? null : n.value;
	}

	private void room() {
		if (size > table.length / 4 * 3)
			grow();
	}

	private void insert(K key, V value, boolean first) {
		Node<K, V> n = new Node<K, V>(key, value, hash(key));
		int at = n.hash & table.length - 1;
		Node<K, V> last = table[at];

		if (first || last == null) {
			n.next = last;
			table[at] = n;
		} else {
			while (last.next != null)
				last = last.next;
			last.next = n;
		}
		if (isLinked()) {
			n.after = head;
			n.before = head.before;
			n.before.after = head.before = n;
		}
		changes++;
		size++;
	}

	public V put(K key, V value) {
		Node<K, V> n = node(key);

		if (n != null)
			return n.setValue(value);
		insert(key, value, false);
		room();
		return null;
	}

	public V remove(Object key) {
		Node<K, V> n = node(key), p;

		if (n == null)
			return null;
		p = table[n.hash & table.length - 1];
		if (p == n)
			table[n.hash & table.length - 1] = n.next;
		else {
			while (p.next != n)
				p = p.next;
			p.next = n.next;
		}
		if (isLinked()) {
			n.before.after = n.after;
			n.after.before = n.before;
		}
		size--;
		changes++;
		return n.value;
	}

	public void putAll(Map<? extends K, ? extends V> m) {
		for (Map.Entry<? extends K, ? extends V> e : m.entrySet())
			put(e.getKey(), e.getValue());
	}

	public void clear() {
		table = table(16);
		head.before = head.after = head;
		size = 0;
		changes++;
	}

	/* What: 0 keys, 1 values, 2 entries. */
	private class Walk<T> implements Iterator<T> {
		private final int what;
		private int at, expected = changes;
		private Node<K, V> next, last;

		Walk(int what) {
			this.what = what;
			advance();
		}

		private void advance() {
			if (isLinked()) {
				next = next == null ? head.after : next.after;
				if (next == head)
					next = null;
				return;
			}
			next = next == null ? null : next.next;
			while (next == null && at < table.length)
				next = table[at++];
		}

		public boolean hasNext() {
			return next != null;
		}

		@SuppressWarnings("unchecked")
		private T of(Node<K, V> n) {
			return (T)(what == 0 ? n.key : what == 1 ? n.value : n);
		}

		public T next() {
			check(expected);
			if (next == null)
				throw new NoSuchElementException();
			last = next;
			advance();
			return of(last);
		}

		public void remove() {
			if (last == null)
				throw new IllegalStateException();
			HashMap.this.remove(last.key);
			last = null;
			expected = changes;
		}
	}

	private void check(int expected) {
		if (changes != expected)
			throw new ConcurrentModificationException();
	}

	/* Notices a change of the map at the end. */
	private <T> void each(Walk<T> w, Consumer<? super T> action) {
		Objects.requireNonNull(action);
		for (; w.next != null; w.advance())
			action.accept(w.of(w.next));
		check(w.expected);
	}

	public void forEach(BiConsumer<? super K, ? super V> action) {
		Walk<V> w = new Walk<V>(1);

		Objects.requireNonNull(action);
		for (; w.next != null; w.advance())
			action.accept(w.next.key, w.next.value);
		check(w.expected);
	}

	public void replaceAll(BiFunction<? super K, ? super V, ? extends V> f) {
		Walk<V> w = new Walk<V>(1);

		Objects.requireNonNull(f);
		for (; w.next != null; w.advance())
			w.next.value = f.apply(w.next.key, w.next.value);
		check(w.expected);
	}

	/* Puts what a function has returned, if the function has not changed the map. As in Java's, which an iteration
	   shows, a new node becomes the first of its chain, and it is the next call that may grow the table. */
	private V store(int expected, K key, V value) {
		Node<K, V> n = node(key);

		check(expected);
		if (value == null)
			remove(key);
		else if (n != null)
			n.value = value;
		else
			insert(key, value, true);
		return value;
	}

	public V computeIfAbsent(K key, Function<? super K, ? extends V> f) {
		V value = get(key);
		int expected = changes;

		Objects.requireNonNull(f);
		room();
		if (value != null)
			return value;
		value = f.apply(key);
		check(expected);
		return value == null ? null : store(expected, key, value);
	}

	public V compute(K key, BiFunction<? super K, ? super V, ? extends V> f) {
		Objects.requireNonNull(f);
		room();
		return store(changes, key, f.apply(key, get(key)));
	}

	/* Not by compute, which may grow the table. */
	public V computeIfPresent(K key, BiFunction<? super K, ? super V, ? extends V> f) {
		V value = get(key);

		Objects.requireNonNull(f);
		return value == null ? null : store(changes, key, f.apply(key, value));
	}

	public V merge(K key, V value, BiFunction<? super V, ? super V, ? extends V> f) {
		V old = get(key);

		Objects.requireNonNull(f);
		Objects.requireNonNull(value);
		room();
		return store(changes, key, old == null ? value : f.apply(old, value));
	}

	public Set<K> keySet() {
		return new AbstractSet<K>() {
			public int size() {
				return size;
			}

			public boolean contains(Object o) {
				return containsKey(o);
			}

			public boolean remove(Object o) {
				boolean was = containsKey(o);

				HashMap.this.remove(o);
				return was;
			}

			public Iterator<K> iterator() {
				return new Walk<K>(0);
			}

			public void forEach(Consumer<? super K> action) {
				each(new Walk<K>(0), action);
			}
		};
	}

	public Collection<V> values() {
		return new AbstractCollection<V>() {
			public int size() {
				return size;
			}

			public Iterator<V> iterator() {
				return new Walk<V>(1);
			}

			public void forEach(Consumer<? super V> action) {
				each(new Walk<V>(1), action);
			}
		};
	}

	public Set<Map.Entry<K, V>> entrySet() {
		return new AbstractSet<Map.Entry<K, V>>() {
			public int size() {
				return size;
			}

			public Iterator<Map.Entry<K, V>> iterator() {
				return new Walk<Map.Entry<K, V>>(2);
			}

			public void forEach(Consumer<? super Map.Entry<K, V>> action) {
				each(new Walk<Map.Entry<K, V>>(2), action);
			}
		};
	}

	public Object clone() {
		return isLinked() ? new LinkedHashMap<K, V>(this) : new HashMap<K, V>(this);
	}

	public boolean equals(Object o) {
		return o instanceof Map && entrySet().equals(((Map<?, ?>)o).entrySet());
	}

	public int hashCode() {
		return entrySet().hashCode();
	}

	public String toString() {
		StringBuilder s = new StringBuilder("{");

		for (Map.Entry<K, V> e : entrySet())
			s.append(s.length() == 1 ? "" : ", ").append(e);
		return s.append('}').toString();
	}
}
