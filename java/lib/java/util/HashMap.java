package java.util;

import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/* Chains in a table of a power of two; the entries of LinkedHashMap are in the order of their insertion too. */
public class HashMap<K, V> extends AbstractMap<K, V> implements Map<K, V>, Cloneable, java.io.Serializable {
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

		for (int i = 0; i < table.length; i++) {
			/* In their order, so that an iteration gives what Java's does. A walk over the old table then ends. */
			Node<K, V> n = table[i], low = null, high = null, next;
			table[i] = null;
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

	public boolean containsKey(Object key) {
		return node(key) != null;
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
		Node<K, V> n = node(key);

		return n == null ? null : unlink(n);
	}

	private V unlink(Node<K, V> n) {
		Node<K, V> p = table[n.hash & table.length - 1];

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
			n.before = n.after = head; /* a walk that is here ends */
		}
		size--;
		changes++;
		return n.value;
	}

	public void clear() {
		Arrays.fill(table, null);
		head.before = head.after = head;
		size = 0;
		changes++;
	}

	/* What: 0 keys, 1 values, 2 entries. */
	private class Walk<T> implements Iterator<T> {
		private final int what;
		private final Node<K, V>[] begun; /* null: this.table */
		private int at, expected = changes;
		private Node<K, V> next, last;

		Walk(int what) {
			this(what, null);
		}

		Walk(int what, Node<K, V>[] begun) {
			this.what = what;
			this.begun = begun;
			advance();
		}

		private void advance() {
			if (isLinked()) {
				next = next == null ? head.after : next.after;
				if (next == head)
					next = null;
				return;
			}
			Node<K, V>[] t = begun == null ? table : begun;
			next = next == null ? null : next.next;
			while (next == null && at < t.length)
				next = t[at++];
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
			check(expected);
			unlink(last);
			last = null;
			expected = changes;
		}
	}

	private void check(int expected) {
		if (changes != expected)
			throw new ConcurrentModificationException();
	}

	/* Goes over the table that it finds, even if the map has another one meanwhile, and notices a change at the end. */
	private <T> void each(int what, Consumer<? super T> action) {
		Walk<T> w = new Walk<T>(what, table);

		Objects.requireNonNull(action);
		for (; w.next != null; w.advance())
			action.accept(w.of(w.next));
		check(w.expected);
	}

	public void forEach(BiConsumer<? super K, ? super V> action) {
		Walk<V> w = new Walk<V>(1, table);

		Objects.requireNonNull(action);
		for (; w.next != null; w.advance())
			action.accept(w.next.key, w.next.value);
		check(w.expected);
	}

	public void replaceAll(BiFunction<? super K, ? super V, ? extends V> f) {
		Walk<V> w = new Walk<V>(1, table);

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

			public void clear() {
				HashMap.this.clear();
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
				each(0, action);
			}
		};
	}

	public Collection<V> values() {
		return new AbstractCollection<V>() {
			public int size() {
				return size;
			}

			public void clear() {
				HashMap.this.clear();
			}

			public Iterator<V> iterator() {
				return new Walk<V>(1);
			}

			public void forEach(Consumer<? super V> action) {
				each(1, action);
			}
		};
	}

	public Set<Map.Entry<K, V>> entrySet() {
		return new AbstractSet<Map.Entry<K, V>>() {
			public int size() {
				return size;
			}

			public void clear() {
				HashMap.this.clear();
			}

			public Iterator<Map.Entry<K, V>> iterator() {
				return new Walk<Map.Entry<K, V>>(2);
			}

			public void forEach(Consumer<? super Map.Entry<K, V>> action) {
				each(2, action);
			}
		};
	}

	public Object clone() {
		return isLinked() ? new LinkedHashMap<K, V>(this) : new HashMap<K, V>(this);
	}
}
