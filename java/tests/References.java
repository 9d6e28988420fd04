import java.io.Serializable;
import java.util.*;
import java.util.function.*;

/* Method references of each kind; how arguments and results are adapted; bridges and marker interfaces. */
public class References {
	interface Marker {
	}

	interface IntOp {
		int apply(int x);
	}

	interface VarFn {
		String of(String a, String b);
	}

	interface Three<A, B, C, R> {
		R apply(A a, B b, C c);
	}

	/* Its method has another descriptor than that of Function: javac asks for a bridge. */
	interface StrFn extends Function<String, Integer> {
		Integer apply(String s);
	}

	interface Both<T> extends Function<T, T>, UnaryOperator<T> {
	}

	interface Narrow extends Comparator<String>, Serializable {
		int compare(String a, String b);
	}

	final String name;

	References(String name) {
		this.name = name;
	}

	String who() {
		return name;
	}

	public String toString() {
		return "References " + name;
	}

	static void show(Object... values) {
		StringBuilder s = new StringBuilder();

		for (Object o : values)
			s.append(s.length() == 0 ? "" : " ").append(o);
		System.out.println(s);
	}

	static int half(int x) {
		return x / 2;
	}

	private static String secret(Object o) {
		return "secret " + o;
	}

	private String mine(String s) {
		return name + " has " + s;
	}

	static String join(String... words) {
		return words.length + String.join("-", words);
	}

	class Inner {
		final int value;

		Inner(int value) {
			this.value = value;
		}

		public String toString() {
			return "Inner " + value + " of " + name;
		}
	}

	static class Child extends References {
		Child(String name) {
			super(name);
		}

		public String toString() {
			return "Child";
		}

		public String who() {
			return "child " + name;
		}

		Supplier<String> up() {
			return super::toString;
		}

		Supplier<String> deep() {
			return () -> super.who() + " " + who();
		}

		Supplier<String> own() {
			return this::toString;
		}
	}

	static class Box<T> {
		final T value;

		Box(T value) {
			this.value = value;
		}

		<U> Box<U> map(Function<? super T, ? extends U> f) {
			return new Box<>(f.apply(value));
		}

		public String toString() {
			return "Box " + value;
		}
	}

	enum Op implements IntBinaryOperator {
		ADD("+", (a, b) -> a + b), SUB("-", (a, b) -> a - b), MAX("max", Math::max);

		final String sign;
		final IntBinaryOperator f;

		Op(String sign, IntBinaryOperator f) {
			this.sign = sign;
			this.f = f;
		}

		public int applyAsInt(int a, int b) {
			return f.applyAsInt(a, b);
		}
	}

	@SuppressWarnings("unchecked")
	void references() {
		IntOp half = References::half;
		Function<String, Integer> parse = Integer::parseInt, length = String::length;
		Supplier<Integer> bound = "bound"::length;
		Supplier<List<String>> list = ArrayList::new;
		Function<Integer, List<String>> sized = ArrayList::new;
		Function<Collection<Integer>, List<Integer>> copy = ArrayList<Integer>::new;
		BiFunction<String, String, Boolean> starts = String::startsWith;
		Function<Object, String> secret = References::secret;
		Function<String, String> mine = this::mine;
		BiFunction<References, String, String> unbound = References::mine;
		VarFn join = References::join;
		Function<String, String> one = References::join;
		Function<String[], String> array = References::join;
		IntFunction<int[]> ints = int[]::new;
		Function<Integer, String[][]> strings = String[][]::new;
		UnaryOperator<int[]> clone = int[]::clone;
		Function<Integer, Inner> inner = Inner::new;
		Function<String, Box<String>> box = Box::new;
		Supplier<StringBuilder> builder = StringBuilder::new;
		Function<References, String> virtual = References::toString;
		Function<Object, Class<?>> type = Object::getClass;
		Function<CharSequence, Integer> byInterface = CharSequence::length;
		Supplier<Iterator<Integer>> iterator = Arrays.asList(4, 5)::iterator;
		Three<String, Character, Character, String> replace = String::replace;
		Function<String, Child> child = Child::new;
		int[] original = {1, 2, 3}, other = clone.apply(original);

		show(half.apply(9), parse.apply("12"), length.apply("four"), bound.get(), list.get(), sized.apply(5).size(),
		     copy.apply(Arrays.asList(1, 2)), starts.apply("prefix", "pre"), secret.apply(3), mine.apply("it"),
		     unbound.apply(new References("other"), "that"));
		show(join.of("a", "b"), one.apply("x"), array.apply(new String[] {"p", "q", "r"}), ints.apply(4).length,
		     strings.apply(2).getClass() == String[][].class, other != original, other[2], inner.apply(7),
		     box.apply("in"), builder.get().append("built"), virtual.apply(new Child("c")),
		     type.apply("s") == String.class, byInterface.apply("abc"), iterator.get().next(),
		     replace.apply("banana", 'a', 'o'), child.apply("kid").name);
		Child c = new Child("young");
		show(c.up().get(), c.deep().get(), c.own().get(), box.apply("abc").map(String::length).map(x -> x * 1.5));
		for (Op op : Op.values())
			show(op.sign, op.applyAsInt(7, 5), op.f.applyAsInt(1, 2));
		List<String> words = new ArrayList<>(Arrays.asList("b", "A", "c"));
		words.sort(String::compareToIgnoreCase);
		words.forEach(System.out::print);
		words.forEach(words::indexOf);
		System.out.println();
		String[] name = {"first"};
		Supplier<String> late = name[0]::toUpperCase;
		name[0] = "second";
		show(late.get());
		String none = null;
		try {
			Supplier<Integer> never = none::length;
			show("made", never);
		} catch (NullPointerException e) {
			show("null receiver");
		}
	}

	static long widened(long x) {
		return x + 1;
	}

	static Object described(Object o) {
		return o.getClass().getName() + ":" + o;
	}

	static int narrow(Number n) {
		return n.intValue();
	}

	static double mixed(double a, Object b, long c) {
		return a + b.hashCode() + c;
	}

	static short small(short s) {
		return s;
	}

	interface IntToObject {
		Object apply(int x);
	}

	interface IntToNumber {
		Number apply(int x);
	}

	interface ByteToLong {
		long apply(byte b);
	}

	interface CharToInt {
		int apply(char c);
	}

	interface FloatToDouble {
		double apply(float f);
	}

	interface Mixed {
		Object apply(Integer a, int b, Character c);
	}

	static void adaptation() {
		IntToLongFunction il = References::widened;
		Function<Integer, Long> boxed = References::widened;
		Function<Integer, Object> toObject = References::widened;
		IntToObject io = References::described;
		IntToNumber in = Integer::valueOf;
		LongFunction<Object> lo = References::described;
		DoubleFunction<Object> d = References::described;
		ToIntFunction<Integer> ti = References::narrow;
		ToLongFunction<Integer> tl = References::narrow;
		ToDoubleFunction<Byte> td = References::narrow;
		ByteToLong bl = References::widened;
		CharToInt ci = Character::getNumericValue;
		FloatToDouble fd = Math::abs;
		Mixed m = References::mixed;
		Function<Short, Short> s = References::small;
		Supplier<Object> l = () -> 5L;
		Supplier<Number> n = () -> 2.5f;
		Consumer<String> discards = String::length;
		Consumer<List<Integer>> discardsLong = list -> list.add(1);
		Runnable makes = Object::new;
		Runnable wide = () -> widened(3);
		Runnable widest = System::nanoTime;
		IntFunction<Integer> plus = x -> x + 1;
		Predicate<Boolean> not = x -> !x;
		Function<Character, Character> up = Character::toUpperCase;
		BinaryOperator<Double> max = Math::max;
		BiFunction<Integer, Integer, Integer> compare = Integer::compare;
		List<Integer> list = new ArrayList<>();

		show(il.applyAsLong(-1), boxed.apply(41), toObject.apply(1).getClass(), io.apply(300), in.apply(7),
		     lo.apply(1L << 35), d.apply(0.25), ti.applyAsInt(9), tl.applyAsLong(-9), td.applyAsDouble((byte)8));
		show(bl.apply((byte)-1), ci.apply('9'), fd.apply(-0.5f), m.apply(1, 2, 'c'), s.apply((short)-5), l.get(),
		     n.get(), plus.apply(Integer.MAX_VALUE), not.test(false), up.apply('q'), max.apply(1.5, -2.0),
		     compare.apply(3, 4));
		discards.accept("abc");
		discardsLong.accept(list);
		makes.run();
		wide.run();
		widest.run();
		show(list);
		try {
			boxed.apply(null);
		} catch (NullPointerException e) {
			show("no Integer to unbox");
		}
		try {
			@SuppressWarnings("unchecked")
			Function<Object, Object> raw = (Function<Object, Object>)(Function<?, ?>)boxed;
			raw.apply("text");
		} catch (ClassCastException e) {
			show("no Integer at all");
		}
	}

	@SuppressWarnings("unchecked")
	static void bridges() {
		StrFn length = String::length, sum = s -> s.charAt(0) + s.charAt(1);
		Function<String, Integer> general = length;
		Function<Object, Object> raw = (Function<Object, Object>)(Function<?, ?>)sum;
		Both<String> both = s -> s + s;
		Narrow back = (a, b) -> b.compareTo(a);
		Comparator<String> plain = back;
		Runnable r = (Runnable & Serializable)() -> show("serializable");
		Runnable marked = (Runnable & Marker)() -> show("marked");
		Supplier<String> all = (Supplier<String> & Marker & Serializable)"three"::toString;

		show(length.apply("abc"), general.apply("abcd"), raw.apply("01"), general.andThen(x -> -x).apply("ab"),
		     both.apply("x"), both.andThen(String::length).apply("xyz"));
		show(back.compare("a", "b"), plain.compare("a", "b"), plain.reversed().compare("a", "b"),
		     back instanceof Serializable);
		r.run();
		marked.run();
		show(r instanceof Serializable, r instanceof Marker, marked instanceof Marker, marked instanceof Serializable,
		     all.get(), all instanceof Marker && all instanceof Serializable);
		try {
			raw.apply(5);
		} catch (ClassCastException e) {
			show("no String");
		}
	}

	public static void main(String[] args) {
		new References("ref").references();
		adaptation();
		bridges();
	}
}
