import java.util.*;
import java.util.concurrent.atomic.*;
import java.util.function.*;

/* What of the library takes functions: each interface of java.util.function, and each method that calls one. */
public class Functional {
	static class Person {
		final String name, town;
		final int age;
		final long id;
		final double size;

		Person(String name, String town, int age, long id, double size) {
			this.name = name;
			this.town = town;
			this.age = age;
			this.id = id;
			this.size = size;
		}

		String getName() {
			return name;
		}

		String getTown() {
			return town;
		}

		int getAge() {
			return age;
		}

		public String toString() {
			return name;
		}
	}

	static void show(Object... values) {
		StringBuilder s = new StringBuilder();

		for (Object o : values)
			s.append(s.length() == 0 ? "" : " ").append(o);
		System.out.println(s);
	}

	/* What it throws, without messages that differ from one JDK to the next. */
	static void fails(String what, Runnable r) {
		try {
			r.run();
			show(what, "nothing");
		} catch (RuntimeException e) {
			boolean plain = e instanceof NullPointerException || e instanceof UnsupportedOperationException;
			show(what, plain ? e.getClass().getName() : e);
		}
	}

	static void functions() {
		Function<String, Integer> length = String::length;
		Function<Integer, Integer> twice = x -> 2 * x;
		BiFunction<Integer, Integer, Integer> times = (a, b) -> a * b;
		UnaryOperator<String> twoOf = s -> s + s;
		BinaryOperator<Integer> sum = Integer::sum;
		Supplier<String> text = () -> "text";

		show(length.andThen(twice).apply("abc"), twice.compose(length).apply("abcd"),
		     Function.<String>identity().apply("same"), times.andThen(x -> "=" + x).apply(6, 7),
		     twoOf.andThen(String::length).apply("xyz"), UnaryOperator.<Integer>identity().apply(9),
		     sum.andThen(twice).apply(1, 2), text.get());
		show(BinaryOperator.<String>minBy(Comparator.naturalOrder()).apply("b", "a"),
		     BinaryOperator.<String>maxBy(Comparator.naturalOrder()).apply("b", "a"),
		     BinaryOperator.<Person>minBy((p, q) -> 0).apply(people().get(0), people().get(1)),
		     BinaryOperator.<Person>maxBy((p, q) -> 0).apply(people().get(0), people().get(1)));
		fails("compose", () -> length.compose(null));
		fails("andThen", () -> length.andThen(null));
		fails("andThen of two", () -> times.andThen(null));
		fails("minBy", () -> BinaryOperator.minBy(null));
	}

	static void predicates() {
		Predicate<String> empty = String::isEmpty, null_ = Objects::isNull;
		BiPredicate<String, Integer> longer = (s, n) -> s.length() > n;
		IntPredicate even = i -> i % 2 == 0, small = i -> i < 10;
		LongPredicate odd = l -> l % 2 != 0;
		DoublePredicate nan = Double::isNaN;
		List<String> calls = new ArrayList<>();
		Predicate<Object> yes = o -> calls.add("yes"), no = o -> !calls.add("no");

		show(empty.negate().test(""), null_.or(empty).test(null), null_.negate().and(empty).test(""),
		     Predicate.isEqual("a").test("a"), Predicate.isEqual(null).test("a"), Predicate.isEqual(null).test(null),
		     Predicate.isEqual("a").test(null));
		show(longer.test("abc", 2), longer.negate().test("abc", 2), longer.and((s, n) -> n > 5).test("abc", 2),
		     longer.or((s, n) -> true).test("abc", 9));
		show(even.and(small).test(12), even.or(small).test(12), even.negate().test(12), odd.and(l -> l > 5).test(3),
		     odd.or(l -> l > 5).test(6), odd.negate().test(3), nan.test(0.0 / 0), nan.negate().test(0.0 / 0),
		     nan.or(d -> d > 1).test(2), nan.and(d -> d > 1).test(2));
		show(no.and(yes).test(1), yes.or(no).test(1), yes.and(no).test(1), no.or(yes).test(1), calls);
		fails("and", () -> empty.and(null));
		fails("or", () -> even.or(null));
	}

	static void consumers() {
		StringBuilder s = new StringBuilder();
		Consumer<Object> add = s::append;
		BiConsumer<String, Integer> times = (t, n) -> {
			while (n-- > 0)
				s.append(t);
		};
		IntConsumer i = s::append;
		LongConsumer l = s::append;
		DoubleConsumer d = s::append;
		ObjIntConsumer<String> oi = (t, n) -> s.append(t).append(n);
		ObjLongConsumer<String> ol = (t, n) -> s.append(t).append(n);
		ObjDoubleConsumer<String> od = (t, n) -> s.append(t).append(n);

		add.andThen(o -> s.append(o.hashCode())).accept("a");
		times.andThen((t, n) -> s.append('/').append(n)).accept("xy", 3);
		i.andThen(n -> s.append(-n)).accept(5);
		l.andThen(n -> s.append(n << 32)).accept(1L);
		d.andThen(x -> s.append(x / 2)).accept(0.5);
		oi.accept(" i", 1);
		ol.accept(" l", 1L << 40);
		od.accept(" d", 1.5);
		show(s);
		fails("consumer", () -> add.andThen(null));
		fails("int consumer", () -> i.andThen(null));
	}

	static void primitives() {
		BooleanSupplier b = () -> true;
		IntSupplier is = () -> 1;
		LongSupplier ls = () -> 1L << 33;
		DoubleSupplier ds = () -> 1 / 4.0;
		IntFunction<String> in = Integer::toString;
		LongFunction<String> ln = Long::toHexString;
		DoubleFunction<String> dn = Double::toString;
		IntToLongFunction il = i -> (long)i << 32;
		IntToDoubleFunction id = i -> i / 2.0;
		LongToIntFunction li = l -> (int)(l >> 32);
		LongToDoubleFunction ld = l -> l / 4.0;
		DoubleToIntFunction di = d -> (int)d;
		DoubleToLongFunction dl = Math::round;
		ToIntFunction<String> ti = String::length;
		ToLongFunction<String> tl = Long::parseLong;
		ToDoubleFunction<String> td = Double::parseDouble;
		ToIntBiFunction<String, String> tib = String::compareTo;
		ToLongBiFunction<Integer, Integer> tlb = (x, y) -> (long)x << y;
		ToDoubleBiFunction<Integer, Integer> tdb = Math::pow;
		IntUnaryOperator iu = i -> i + 1;
		LongUnaryOperator lu = l -> l + 1;
		DoubleUnaryOperator du = Math::sqrt;
		IntBinaryOperator ib = Math::max;
		LongBinaryOperator lb = Math::min;
		DoubleBinaryOperator db = Math::pow;

		show(b.getAsBoolean(), is.getAsInt(), ls.getAsLong(), ds.getAsDouble(), in.apply(7), ln.apply(255L << 32),
		     dn.apply(0.5));
		show(il.applyAsLong(2), id.applyAsDouble(3), li.applyAsInt(5L << 32), ld.applyAsDouble(6), di.applyAsInt(-7.9),
		     dl.applyAsLong(1e12));
		show(ti.applyAsInt("four"), tl.applyAsLong("-5000000000"), td.applyAsDouble("2.5"), tib.applyAsInt("a", "c"),
		     tlb.applyAsLong(1, 40), tdb.applyAsDouble(2, 10));
		show(iu.andThen(i -> i * 10).applyAsInt(4), iu.compose(i -> i * 10).applyAsInt(4),
		     IntUnaryOperator.identity().applyAsInt(3), lu.andThen(l -> l * 10).applyAsLong(4),
		     lu.compose(l -> l * 10).applyAsLong(4), LongUnaryOperator.identity().applyAsLong(3),
		     du.andThen(d -> d * 10).applyAsDouble(4), du.compose(d -> d * 16).applyAsDouble(4),
		     DoubleUnaryOperator.identity().applyAsDouble(3));
		show(ib.applyAsInt(3, 4), lb.applyAsLong(3, 4), db.applyAsDouble(3, 4));
		fails("int operator", () -> iu.andThen(null));
		fails("long operator", () -> lu.compose(null));
	}

	static List<Person> people() {
		Person ann = new Person("Ann", "Ulm", 30, 3L << 32, 1.7), bob = new Person("Bob", "Bonn", 25, 1, 1.8);
		Person cid = new Person("Cid", "Ulm", 25, 2L << 32, 1.6), dan = new Person("Dan", "Bonn", 30, 2, 1.75);

		return new ArrayList<>(Arrays.asList(ann, bob, cid, dan));
	}

	static void sorted(String how, Comparator<Person> c) {
		List<Person> list = people();

		list.sort(c);
		show(how, list);
	}

	static void comparators() {
		Comparator<Person> byTown = Comparator.comparing(Person::getTown);
		Comparator<String> natural = Comparator.naturalOrder();
		List<String> words = Arrays.asList("pear", null, "fig", "apple", null, "date");

		sorted("town", byTown);
		sorted("town, name reversed", byTown.thenComparing(Person::getName, Comparator.reverseOrder()));
		sorted("town reversed", byTown.reversed());
		sorted("town reversed, age", byTown.reversed().thenComparingInt(Person::getAge));
		sorted("town, id", byTown.thenComparingLong(p -> p.id));
		sorted("age, size", Comparator.comparingInt(Person::getAge).thenComparingDouble(p -> p.size));
		sorted("id", Comparator.comparingLong(p -> p.id));
		sorted("size", Comparator.comparingDouble(p -> p.size));
		sorted("age, town, name",
		       Comparator.comparing(Person::getAge).thenComparing(byTown).thenComparing(Person::getName));
		sorted("length of town", Comparator.comparing(Person::getTown, (s, t) -> s.length() - t.length()));
		Comparator<String> equal = Comparator.nullsFirst(null), last = Comparator.nullsLast(natural);
		Comparator<String> byLength = Comparator.nullsLast(Comparator.comparing(String::length));
		for (Comparator<String> c : Arrays.asList(Comparator.nullsFirst(natural), last, last.reversed(), equal,
							  equal.thenComparing(natural), byLength.thenComparing(natural))) {
			List<String> list = new ArrayList<>(words);
			list.sort(c);
			show(list);
		}
		show(natural.compare("a", "b"), natural.reversed().compare("a", "b"),
		     Comparator.<String>reverseOrder().compare("a", "b"), natural == Comparator.<String>naturalOrder(),
		     natural.reversed().reversed() == natural, byTown.reversed().reversed() == byTown,
		     Collections.reverseOrder(natural).compare("a", "b"),
		     Collections.<String>reverseOrder(null).compare("a", "b"));
		fails("comparing", () -> Comparator.comparing(null));
		fails("thenComparing", () -> byTown.thenComparing((Comparator<Person>)null));
		fails("natural", () -> natural.compare("a", null));
	}

	static void lists() {
		for (List<Integer> list : Arrays.asList(new ArrayList<Integer>(), new LinkedList<Integer>(),
							new Vector<Integer>())) {
			Collections.addAll(list, 5, 2, 8, 1, 9, 4, 7);
			StringBuilder s = new StringBuilder();
			list.forEach(s::append);
			show(s, list.removeIf(x -> x % 4 == 0), list.removeIf(x -> x > 100), list);
			list.replaceAll(x -> x * x);
			show(list);
			list.sort(Comparator.reverseOrder());
			show(list);
			list.sort(null);
			show(list, list.size());
			s.setLength(0);
			Iterator<Integer> i = list.iterator();
			i.next();
			i.forEachRemaining(x -> s.append(x).append(';'));
			show(s, i.hasNext());
			list.subList(1, 3).replaceAll(x -> -x);
			show(list, list.subList(0, 3).removeIf(x -> x < 0), list);
			fails("forEach", () -> list.forEach(x -> list.add(x)));
			show(list);
			fails("forEach null", () -> list.forEach(null));
			fails("removeIf null", () -> list.removeIf(null));
			fails("replaceAll null", () -> list.replaceAll(null));
			fails("forEachRemaining null", () -> list.iterator().forEachRemaining(null));
		}
		List<String> fixed = Arrays.asList("b", "c", "a");
		fixed.replaceAll(String::toUpperCase);
		fixed.sort(Comparator.naturalOrder());
		show(fixed);
		fails("fixed", () -> fixed.removeIf("B"::equals));
		List<Integer> list = new ArrayList<>(Arrays.asList(1, 2, 3));
		fails("removeIf adds", () -> list.removeIf(x -> list.add(x)));
		fails("replaceAll adds", () -> list.replaceAll(x -> { list.add(x); return x; }));
		fails("sort adds", () -> list.sort((a, b) -> { list.add(a); return 0; }));
		List<Integer> kept = new ArrayList<>(Arrays.asList(1, 2, 3, 0, 5));
		fails("removeIf throws", () -> kept.removeIf(x -> 6 / x > 2));
		show(kept);
		Set<String> set = new LinkedHashSet<>(Arrays.asList("one", "two", "three", "four"));
		set.removeIf(w -> w.length() == 3);
		set.forEach(w -> System.out.print(w + " "));
		Deque<Integer> deque = new ArrayDeque<>(Arrays.asList(1, 2, 3, 4, 5));
		deque.removeIf(x -> x % 2 == 1);
		deque.forEach(System.out::print);
		System.out.println();
	}

	/* Has only what each map must have, so that Map's own methods do the rest. */
	static class Plain<K, V> implements Map<K, V> {
		private final Map<K, V> map = new HashMap<>();

		public int size() {
			return map.size();
		}

		public boolean isEmpty() {
			return map.isEmpty();
		}

		public boolean containsKey(Object key) {
			return map.containsKey(key);
		}

		public boolean containsValue(Object value) {
			return map.containsValue(value);
		}

		public V get(Object key) {
			return map.get(key);
		}

		public V put(K key, V value) {
			return map.put(key, value);
		}

		public V remove(Object key) {
			return map.remove(key);
		}

		public void putAll(Map<? extends K, ? extends V> m) {
			map.putAll(m);
		}

		public void clear() {
			map.clear();
		}

		public Set<K> keySet() {
			return map.keySet();
		}

		public Collection<V> values() {
			return map.values();
		}

		public Set<Map.Entry<K, V>> entrySet() {
			return map.entrySet();
		}

		public String toString() {
			return map.toString();
		}
	}

	static void maps() {
		for (Map<String, Integer> m : Arrays.asList(new HashMap<String, Integer>(), new LinkedHashMap<String, Integer>(),
							    new Plain<String, Integer>())) {
			for (String w : "to be or not to be that is the question".split(" "))
				m.merge(w, 1, Integer::sum);
			show(m, m.merge("to", 5, (a, b) -> null), m.merge("new", 1, (a, b) -> 99), m.containsKey("to"));
			show(m.computeIfAbsent("be", String::length), m.computeIfAbsent("four", String::length),
			     m.computeIfAbsent("none", k -> null), m.containsKey("none"));
			show(m.computeIfPresent("be", (k, v) -> v + k.length()), m.computeIfPresent("or", (k, v) -> null),
			     m.containsKey("or"), m.computeIfPresent("absent", (k, v) -> 1));
			show(m.compute("be", (k, v) -> v * 10), m.compute("fresh", (k, v) -> v == null ? -1 : 1),
			     m.compute("fresh", (k, v) -> null), m.compute("fresh", (k, v) -> null), m.containsKey("fresh"));
			m.put("nil", null);
			show(m.getOrDefault("nil", 7), m.getOrDefault("no", 7), m.putIfAbsent("nil", 8),
			     m.putIfAbsent("nil", 9), m.get("nil"));
			m.put("nil", null);
			show(m.computeIfAbsent("nil", k -> null), m.containsKey("nil"), m.computeIfPresent("nil", (k, v) -> 1),
			     m.get("nil"), m.merge("nil", 3, (a, b) -> 4), m.remove("nil", 4), m.remove("nil", 3),
			     m.remove("nil", null));
			show(m.replace("be", 1), m.replace("no", 1), m.replace("be", 5, 6), m.replace("be", 1, 6),
			     m.replace("no", null, 6), m.get("be"));
			StringBuilder s = new StringBuilder();
			m.forEach((k, v) -> s.append(k).append(v).append(' '));
			m.keySet().forEach(s::append);
			m.values().forEach(s::append);
			m.entrySet().forEach(e -> e.setValue(e.getValue() + 1));
			show(s, m);
			m.replaceAll((k, v) -> k.length() * v);
			show(m, m.keySet().removeIf(k -> k.startsWith("t")), m.values().removeIf(v -> v > 10),
			     m.entrySet().removeIf(e -> e.getKey().equals("no")));
			List<Map.Entry<String, Integer>> entries = new ArrayList<>(m.entrySet());
			entries.sort(Map.Entry.comparingByKey());
			show(entries);
			Comparator<Map.Entry<String, Integer>> byValue = Map.Entry.comparingByValue();
			entries.sort(byValue.thenComparing(Map.Entry.comparingByKey(Comparator.reverseOrder())));
			show(entries);
			byValue = Map.Entry.comparingByValue(Comparator.reverseOrder());
			entries.sort(byValue.thenComparing(Map.Entry.comparingByKey()));
			show(entries);
			if (m instanceof Plain)
				continue;
			fails("forEach", () -> m.forEach((k, v) -> m.put("x", v)));
			fails("keys", () -> m.keySet().forEach(k -> m.remove("not")));
			fails("values", () -> m.values().forEach(k -> m.put("not", 3)));
			fails("replaceAll", () -> m.replaceAll((k, v) -> m.remove("not") == null ? v : v + 1));
			fails("computeIfAbsent", () -> m.computeIfAbsent("y", k -> m.put("z", 1)));
			fails("compute", () -> m.compute("y", (k, v) -> m.remove("z")));
			fails("computeIfPresent", () -> m.computeIfPresent("is", (k, v) -> m.put("z", 1)));
			fails("merge", () -> m.merge("is", 1, (a, b) -> m.remove("z")));
			fails("merge null", () -> m.merge("is", null, (a, b) -> 1));
			fails("computeIfAbsent null", () -> m.computeIfAbsent("is", null));
			fails("forEach null", () -> m.forEach(null));
			fails("throws", () -> m.compute("is", (k, v) -> { throw new IllegalStateException(k); }));
			show(m.containsKey("is"), m.get("is"), m.get("y"));
		}
		Map<String, Integer> many = new HashMap<>();
		for (int i = 0; i < 60; i++) {
			many.merge("m" + i * 37 % 50, i, Integer::sum);
			many.computeIfAbsent("a" + i, String::length);
			many.put("p" + i, i);
			many.compute("c" + i, (k, v) -> 0);
			if (i % 20 == 9)
				show(many.keySet());
		}
		Map<Integer, List<String>> groups = new HashMap<>();
		for (String w : "a bb cc d eee f".split(" "))
			groups.computeIfAbsent(w.length(), n -> new ArrayList<>()).add(w);
		show(groups);
		Map<Integer, Integer> fibonacci = new HashMap<>();
		for (int i = 0; i < 200; i++)
			fibonacci.compute(i, (n, v) -> n < 2 ? n : fibonacci.get(n - 1) + fibonacci.get(n - 2));
		show(fibonacci.get(40), fibonacci.size());
	}

	static void optionals() {
		Optional<String> some = Optional.of("some"), none = Optional.empty();

		show(some, none, Optional.ofNullable(null), Optional.ofNullable(1), some.isPresent(), none.isPresent(),
		     some.get());
		show(some.map(String::length), none.map(String::length), some.map(s -> null), some.filter(s -> s.length() > 4),
		     some.filter(s -> true), some.flatMap(s -> Optional.of(s + "!")), none.flatMap(s -> some),
		     some.orElse("other"), none.orElse("other"), none.orElseGet(() -> "made"), some.orElseGet(() -> "made"),
		     some.orElseThrow(RuntimeException::new));
		some.ifPresent(System.out::println);
		none.ifPresent(System.out::println);
		show(some.equals(Optional.of("some")), some.equals(none), none.equals(Optional.ofNullable(null)),
		     some.hashCode() == "some".hashCode(), none.hashCode(), none == Optional.<String>empty());
		fails("get", none::get);
		fails("of", () -> Optional.of(null));
		fails("orElseThrow", () -> none.orElseThrow(() -> new IllegalStateException("none")));
		fails("flatMap", () -> some.flatMap(s -> null));
		fails("map", () -> none.map(null));
	}

	static void others() throws InterruptedException {
		AtomicInteger i = new AtomicInteger(5);
		AtomicLong l = new AtomicLong(1L << 40);
		AtomicReference<String> r = new AtomicReference<>("r");
		int[] ints = new int[5];
		long[] longs = new long[4];
		double[] doubles = new double[3];
		String[] strings = new String[4];
		ThreadLocal<List<String>> local = ThreadLocal.withInitial(ArrayList::new);

		show(i.getAndUpdate(x -> x + 1), i.updateAndGet(x -> x * x), i.getAndAccumulate(4, (x, y) -> x - y),
		     i.accumulateAndGet(7, Integer::sum), i);
		show(l.getAndUpdate(x -> x + 1), l.updateAndGet(x -> x >> 1), l.getAndAccumulate(4, (x, y) -> x - y),
		     l.accumulateAndGet(7, Long::max), l);
		show(r.getAndUpdate(x -> x + 1), r.updateAndGet(String::toUpperCase), r.getAndAccumulate("s", String::concat),
		     r.accumulateAndGet("t", (x, y) -> y + x), r);
		Arrays.setAll(ints, x -> x * x);
		Arrays.setAll(longs, x -> 1L << 20 * x);
		Arrays.setAll(doubles, x -> x / 2.0);
		Arrays.setAll(strings, Integer::toBinaryString);
		show(Arrays.toString(ints), Arrays.toString(longs), Arrays.toString(doubles), Arrays.toString(strings));
		fails("setAll", () -> Arrays.setAll(ints, null));
		local.get().add("main");
		Thread t = new Thread(() -> {
			local.get().add("other");
			show(local.get());
		});
		t.start();
		t.join();
		show(local.get());
		local.remove();
		show(local.get());
		fails("withInitial", () -> ThreadLocal.withInitial(null));
		show(Objects.requireNonNull("there", () -> "not called"), Objects.isNull(null), Objects.nonNull(null));
		try {
			Objects.requireNonNull(null, () -> "a message that is made late");
		} catch (NullPointerException e) {
			show(e.getMessage());
		}
		BinaryOperator<Boolean> and = Boolean::logicalAnd, or = Boolean::logicalOr, xor = Boolean::logicalXor;
		show(and.apply(true, false), or.apply(true, false), xor.apply(true, true));
		Iterable<Integer> three = () -> Arrays.asList(1, 2, 3).iterator();
		three.forEach(System.out::print);
		for (int n : three)
			System.out.print(n);
		System.out.println();
		Thread bad = new Thread(() -> { throw new IllegalStateException("uncaught"); });
		bad.setUncaughtExceptionHandler((thread, e) -> show(thread == bad, e));
		bad.start();
		bad.join();
	}

	public static void main(String[] args) throws InterruptedException {
		functions();
		predicates();
		consumers();
		primitives();
		comparators();
		lists();
		maps();
		optionals();
		others();
	}
}
