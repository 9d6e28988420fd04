import java.util.*;
import java.util.function.*;

/* Collections that change while something goes over them, and the views of Collections. */
public class Views {
	static void show(Object... values) {
		StringBuilder s = new StringBuilder();

		for (Object o : values)
			s.append(s.length() == 0 ? "" : " ").append(o);
		System.out.println(s);
	}

	/* What it throws, without the message, and what is left then. */
	static void tried(String what, Object left, Runnable r) {
		String thrown = "nothing";

		try {
			r.run();
		} catch (RuntimeException e) {
			thrown = e.getClass().getSimpleName();
		}
		show(what, thrown, left);
	}

	static <C extends Collection<Integer>> C filled(C c, int n) {
		for (int i = 0; i < n; i++)
			c.add(i);
		return c;
	}

	static Map<Integer, Integer> map(boolean linked, int n) {
		Map<Integer, Integer> m = linked ? new LinkedHashMap<>() : new HashMap<>();

		for (int i = 0; i < n; i++)
			m.put(i, i);
		return m;
	}

	static void growing() {
		for (int kind = 0; kind < 5; kind++) {
			Map<Integer, Integer> m = map(false, 1);
			int[] calls = new int[1];
			Consumer<Integer> put = k -> {
				calls[0]++;
				m.put(k + 1, k + 1);
			};
			int k = kind;
			tried("growing " + kind, "", () -> {
				switch (k) {
				case 0: m.forEach((x, y) -> put.accept(x)); break;
				case 1: m.replaceAll((x, y) -> { put.accept(x); return y; }); break;
				case 2: m.keySet().forEach(put); break;
				case 3: m.values().forEach(put); break;
				case 4: m.entrySet().forEach(e -> put.accept(e.getKey()));
				}
			});
			show(calls[0], m.size(), m);
		}
	}

	static void maps() {
		growing();
		for (boolean linked : new boolean[] {false, true}) {
			Map<Integer, Integer> a = map(linked, 5), b = map(linked, 5), c = map(linked, 5), d = map(linked, 20), e = map(linked, 3);
			List<Object> seen = new ArrayList<>();
			tried("remove", a, () -> a.forEach((k, v) -> { seen.add(k); a.remove(k); }));
			tried("remove next", b, () -> b.keySet().forEach(k -> { seen.add(k); b.remove(k + 1); }));
			tried("clear", c, () -> c.values().forEach(v -> { seen.add(v); c.clear(); }));
			tried("put old", d, () -> d.forEach((k, v) -> d.put(k, v + 1)));
			tried("limited", e, () -> e.replaceAll((k, v) -> { if (e.size() < 8) e.put(e.size(), 0); return v + 1; }));
			show(seen);
			Map<Integer, Integer> m = map(linked, 3);
			Iterator<Integer> i = m.keySet().iterator();
			tried("remove before next", m, i::remove);
			i.next();
			i.remove();
			tried("twice", m, i::remove);
			i.next();
			m.put(9, 9);
			tried("after a change", m, i::remove);
			tried("next", m, i::next);
			tried("removeIf", m, () -> m.keySet().removeIf(k -> m.put(k + 20, 0) == null));
			tried("removeIf of values", m, () -> m.values().removeIf(v -> v == 9));
			tried("replaceAll", m, () -> m.replaceAll((k, v) -> k));
		}
		Set<Integer> s = filled(new HashSet<>(), 3);
		tried("set", s, () -> s.forEach(k -> s.add(k + 3)));
		tried("set removeIf", s, () -> s.removeIf(k -> s.add(k + 30)));
	}

	static void lists(String name, Supplier<List<Integer>> of) {
		List<Integer> l = of.get();

		show(name);
		tried("forEach", l, () -> l.forEach(x -> { if (l.size() < 9) l.add(7); }));
		tried("removeIf", l, () -> l.removeIf(x -> l.add(7)));
		tried("replaceAll", l, () -> l.replaceAll(x -> { l.remove(0); return x; }));
		tried("sort", "", () -> l.sort((x, y) -> { if (l.size() < 12) l.add(6); return x - y; }));
		l.clear();
		filled(l, 4);
		tried("sorted", l, () -> l.sort(Comparator.reverseOrder()));
		tried("none removed", l, () -> { for (Integer x : l) l.removeIf(y -> false); });
		tried("replaced", l, () -> { for (Integer x : l) l.replaceAll(y -> y + 1); });
		tried("last but one", l, () -> { for (Integer x : l) if (x == l.get(l.size() - 2)) l.remove(x); });
		tried("last", l, () -> { for (Integer x : l) if (x == l.get(l.size() - 1)) l.remove(x); });
		tried("absent", l, () -> { for (Integer x : l) l.remove((Integer)99); });
		tried("add none", l, () -> { for (Integer x : l) l.addAll(new ArrayList<>()); });
		tried("add itself", l, () -> l.addAll(l));
		tried("rest", l, () -> l.iterator().forEachRemaining(x -> l.remove(l.size() - 1)));
		l.clear();
		filled(l, 5);
		Iterator<Integer> i = l.iterator();
		tried("remove before next", l, i::remove);
		i.next();
		i.remove();
		tried("twice", l, i::remove);
		i.next();
		l.add(5);
		tried("after a change", l, i::remove);
		tried("next", l, i::next);
		ListIterator<Integer> k = l.listIterator(2);
		show(k.next(), k.nextIndex(), k.previous(), k.previousIndex(), k.previous(), k.hasPrevious());
		k.set(40);
		k.add(41);
		tried("set after add", l, () -> k.set(1));
		show(k.previous(), k.next(), k.next());
		k.remove();
		tried("remove twice", l, k::remove);
		while (k.hasNext())
			k.next();
		tried("at the end", l, k::next);
		tried("no place", l, () -> l.listIterator(99));
		show(l.indexOf(41), l.lastIndexOf(41), l.indexOf(8), l.equals(new ArrayList<>(l)), l.equals(new LinkedList<>()), l.hashCode());
	}

	static void subLists(String name, Supplier<List<Integer>> of) {
		List<Integer> l = of.get(), part = l.subList(1, 5), inner = part.subList(1, 3);
		Iterator<Integer> i = part.iterator();

		show(name, part, inner);
		inner.set(0, 20);
		inner.add(21);
		inner.remove(1);
		show(l, part, inner, part.indexOf(20), part.lastIndexOf(4), part.size());
		tried("old iterator", l, i::next);
		inner.clear();
		show(l, part, inner);
		tried("throws midway", l, () -> part.removeIf(x -> {
			if (x > 3)
				throw new IllegalStateException();
			return true;
		}));
		show(part.removeIf(x -> x == 1), part.removeIf(x -> false), l);
		part.addAll(Arrays.asList(9, 8, 7));
		part.sort(null);
		part.replaceAll(x -> -x);
		show(l, part);
		List<Integer> empty = part.subList(1, 1);
		empty.addAll(Arrays.asList(50, 51));
		show(l, part, empty);
		tried("changed inside", l, () -> part.forEach(x -> part.add(0, 1)));
		tried("changed outside", l, () -> { for (Integer x : part) if (l.size() < 30) l.add(2); });
		tried("size", l, part::size);
		tried("get", l, () -> part.get(0));
		tried("get out", l, () -> part.get(100));
		tried("iterator", l, part::iterator);
		tried("add", l, () -> part.add(1));
		tried("clear", l, part::clear);
		tried("removeIf", l, () -> part.removeIf(x -> true));
		tried("forEach", l, () -> part.forEach(x -> { }));
		tried("toString", l, part::toString);
		tried("equals", l, () -> part.equals(l));
		List<Integer> stale = part.subList(0, 1), fresh = l.subList(0, 1);
		tried("of a stale one", l, () -> show(stale.isEmpty()));
		tried("from", l, () -> l.subList(-1, 0));
		tried("to", l, () -> l.subList(0, 99));
		tried("swapped", l, () -> l.subList(2, 1));
		fresh.clear();
		show(l, fresh);
	}

	static void fixed() {
		List<String> l = Arrays.asList("a", "b");
		Iterator<String> i = l.iterator();

		i.next();
		i.next();
		tried("remove", l, i::remove);
		tried("next", l, i::next);
		tried("removed first", l, l.iterator()::remove);
		tried("removeIf", l, () -> l.removeIf(x -> x == "b"));
		tried("none", l, () -> l.removeIf(x -> false));
		tried("add", l, () -> l.add("c"));
		tried("clear", l, l::clear);
		tried("remove it", l, () -> l.remove("a"));
		tried("absent", l, () -> l.remove("z"));
		l.replaceAll(x -> x + x);
		l.sort(Comparator.reverseOrder());
		l.subList(1, 2).replaceAll(x -> x + ".");
		show(l, l.subList(0, 1));
		String[] words = {"d", "c", "b", "a"};
		Arrays.sort(words, 1, 4);
		show((Object[])words);
		Arrays.sort(words, 0, 3, Comparator.reverseOrder());
		show((Object[])words);
		Arrays.sort(words, 0, 4, null);
		Arrays.sort(words, 2, 2, (x, y) -> x.length() / 0);
		show((Object[])words);
		tried("from over to", "", () -> Arrays.sort(words, 2, 1, Comparator.naturalOrder()));
		tried("below", "", () -> Arrays.sort(words, -1, 1, Comparator.naturalOrder()));
		tried("above", "", () -> Arrays.sort(words, 0, 5, Comparator.naturalOrder()));
	}

	static void deques() {
		for (int turn = 0; turn < 19; turn += 6) {
			Deque<Integer> d = new ArrayDeque<>();
			for (int i = 0; i < turn; i++) {
				d.add(i);
				d.poll();
			}
			filled(d, 4);
			d.addFirst(-1);
			List<Integer> seen = new ArrayList<>();
			tried("forEach add", d, () -> d.forEach(x -> d.add(4)));
			tried("forEach addFirst", d, () -> d.forEach(x -> d.addFirst(5)));
			tried("forEach pollFirst", d, () -> d.forEach(x -> seen.add(d.size() > 9 ? d.pollFirst() : x)));
			tried("forEach pollLast", d, () -> d.forEach(x -> { seen.add(x); if (d.size() > 6) d.pollLast(); }));
			tried("for add", d, () -> { for (Integer x : d) d.add(x); });
			tried("for pollFirst", d, () -> { for (Integer x : d) { seen.add(x); d.pollFirst(); } });
			tried("for pollLast", d, () -> { for (Integer x : d) if (d.size() > 3) d.pollLast(); });
			d.clear();
			filled(d, 12);
			tried("removeIf add", d, () -> d.removeIf(x -> d.add(1)));
			tried("removeIf", d, () -> d.removeIf(x -> x % 3 == 0));
			tried("none", d, () -> d.removeIf(x -> false));
			Iterator<Integer> i = d.iterator();
			tried("remove before next", d, i::remove);
			show(i.next(), i.next());
			i.remove();
			tried("twice", d, i::remove);
			for (int n = 0; n < 9; n++)
				i.next();
			i.remove();
			i.forEachRemaining(seen::add);
			i.remove();
			tried("at the end", d, i::next);
			Iterator<Integer> k = d.iterator();
			d.add(3);
			tried("rest", d, () -> k.forEachRemaining(seen::add));
			show(seen, d.remove(1), d.remove(77), d.contains(2), d, d.addAll(Arrays.asList(1, 2)), d.size());
			tried("itself", d, () -> d.addAll(d));
			tried("null", d.peekLast(), () -> d.addLast(null));
		}
	}

	static void views(String name, Collection<Integer> c) {
		show(name, c, c.size(), c.contains(1), c.equals(c), c.isEmpty());
		tried("add", c, () -> c.add(5));
		tried("remove", c, () -> c.remove(1));
		tried("remove absent", c, () -> c.remove(99));
		tried("addAll none", c, () -> c.addAll(new ArrayList<>()));
		tried("removeAll none", c, () -> c.removeAll(new ArrayList<>()));
		tried("retainAll", c, () -> c.retainAll(Arrays.asList(1, 2, 5)));
		tried("removeIf none", c, () -> c.removeIf(x -> false));
		tried("removeIf null", c, () -> c.removeIf(null));
		tried("removeIf", c, () -> c.removeIf(x -> x == 5));
		tried("remove first", c, () -> c.iterator().remove());
		tried("iterator", c, () -> { Iterator<Integer> i = c.iterator(); i.next(); i.remove(); });
		tried("next", c, () -> { Iterator<Integer> i = c.iterator(); while (true) i.next(); });
		StringBuilder s = new StringBuilder();
		c.forEach(s::append);
		c.iterator().forEachRemaining(s::append);
		show(s, Arrays.toString(c.toArray()), c.toArray(new Integer[0]).length, c.containsAll(c));
		if (c instanceof List) {
			List<Integer> l = (List<Integer>)c;
			tried("get", l, () -> l.get(0));
			tried("set", l, () -> l.set(0, 8));
			tried("add at", l, () -> l.add(0, 3));
			tried("remove at", l, () -> l.remove(0));
			tried("addAll at", l, () -> l.addAll(0, new ArrayList<>()));
			tried("replaceAll", l, () -> l.replaceAll(x -> x + 1));
			tried("sort", l, () -> l.sort(null));
			tried("subList", l, () -> l.subList(0, 1).clear());
			tried("listIterator", l, () -> l.listIterator().set(1));
			show(l.indexOf(2), l.lastIndexOf(2), l.equals(new ArrayList<>(l)), l.hashCode());
		}
		if (c instanceof Set)
			show(c.equals(new HashSet<>(c)), c.hashCode());
		tried("clear", c, c::clear);
	}

	@SuppressWarnings("unchecked")
	static void views(String name, Map<Integer, Integer> m) {
		show(name, m, m.size(), m.get(1), m.containsKey(1), m.containsValue(1), m.getOrDefault(50, 6), m.isEmpty());
		tried("setValue", m, () -> m.entrySet().iterator().next().setValue(3));
		tried("setValue in forEach", m, () -> m.entrySet().forEach(e -> e.setValue(4)));
		tried("setValue in array", m, () -> ((Map.Entry<Integer, Integer>)m.entrySet().toArray()[0]).setValue(3));
		tried("put", m, () -> m.put(1, 2));
		tried("putAll none", m, () -> m.putAll(new HashMap<>()));
		tried("putIfAbsent", m, () -> m.putIfAbsent(1, 2));
		tried("computeIfAbsent", m, () -> m.computeIfAbsent(1, k -> 2));
		tried("computeIfAbsent null", m, () -> m.computeIfAbsent(9, k -> null));
		tried("computeIfPresent", m, () -> m.computeIfPresent(9, (k, v) -> 2));
		tried("compute", m, () -> m.compute(9, (k, v) -> null));
		tried("merge", m, () -> m.merge(1, 2, Integer::sum));
		tried("replace", m, () -> m.replace(1, 2));
		tried("replace if", m, () -> m.replace(1, 99, 2));
		tried("replaceAll", m, () -> m.replaceAll((k, v) -> 5));
		tried("remove", m, () -> m.remove(1));
		tried("remove absent", m, () -> m.remove(99));
		tried("remove if", m, () -> m.remove(0, 99));
		tried("keys", m, () -> m.keySet().removeIf(k -> k == 0));
		tried("values", m, () -> m.values().remove(3));
		tried("entries", m, () -> m.entrySet().iterator().remove());
		int[] sum = new int[1];
		m.forEach((k, v) -> sum[0] += k * v);
		show(sum[0], m.keySet(), m.values(), m.entrySet(), m.equals(new HashMap<>(m)), new HashMap<>(m).equals(m), m.hashCode());
		show(m.entrySet().equals(new HashMap<>(m).entrySet()), m.keySet().equals(new HashSet<>(m.keySet())));
		tried("clear", m, m::clear);
	}

	static void threads() throws InterruptedException {
		List<Integer> list = Collections.synchronizedList(new ArrayList<>());
		Map<Integer, Integer> m = Collections.synchronizedMap(new HashMap<>());
		Thread[] all = new Thread[4];

		for (int t = 0; t < all.length; t++) {
			all[t] = new Thread(() -> {
				for (int i = 0; i < 500; i++) {
					list.add(i);
					m.merge(i % 10, 1, Integer::sum);
				}
			});
			all[t].start();
		}
		for (Thread t : all)
			t.join();
		synchronized (list) {
			int sum = 0;
			for (int i : list)
				sum += i;
			show(list.size(), sum, m);
		}
		Object[] waits = {list, m, new Vector<>(Arrays.asList(1, 2, 3)).subList(0, 2)};
		Collections.synchronizedCollection(new HashSet<>(list)).forEach(x -> { });
		synchronized (m) {
			Thread t = new Thread(() -> m.keySet().removeIf(k -> true));
			t.start();
			t.join(50);
			show(t.isAlive(), m.size());
		}
		while (m.size() != 0)
			Thread.yield();
		show(waits[2]);
	}

	public static void main(String[] args) throws InterruptedException {
		maps();
		lists("ArrayList", () -> filled(new ArrayList<>(), 4));
		lists("LinkedList", () -> filled(new LinkedList<>(), 4));
		lists("Vector", () -> filled(new Vector<>(), 4));
		lists("Stack", () -> filled(new Stack<>(), 4));
		subLists("ArrayList", () -> filled(new ArrayList<>(), 7));
		subLists("LinkedList", () -> filled(new LinkedList<>(), 7));
		subLists("Vector", () -> filled(new Vector<>(new ArrayList<>()), 7));
		fixed();
		deques();
		views("emptyList", Collections.emptyList());
		views("emptySet", Collections.emptySet());
		views("singletonList", Collections.singletonList(1));
		views("singleton", Collections.singleton(1));
		views("unmodifiableCollection", Collections.unmodifiableCollection(filled(new ArrayList<>(), 3)));
		views("unmodifiableList", Collections.unmodifiableList(filled(new LinkedList<>(), 3)));
		views("unmodifiableSet", Collections.unmodifiableSet(filled(new HashSet<>(), 3)));
		views("synchronizedCollection", Collections.synchronizedCollection(filled(new ArrayList<>(), 3)));
		views("synchronizedList", Collections.synchronizedList(filled(new ArrayList<>(), 3)));
		views("synchronizedSet", Collections.synchronizedSet(filled(new LinkedHashSet<>(), 3)));
		views("emptyMap", Collections.emptyMap());
		views("singletonMap", Collections.singletonMap(1, 1));
		views("unmodifiableMap", Collections.unmodifiableMap(map(false, 3)));
		views("synchronizedMap", Collections.synchronizedMap(map(true, 3)));
		threads();
	}
}
