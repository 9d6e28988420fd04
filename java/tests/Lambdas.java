import java.util.*;
import java.util.function.*;

interface Greeter {
	Supplier<String> CONSTANT = () -> "constant of an interface";

	default Supplier<String> greet(String name) {
		return () -> "hello " + name + " from " + who();
	}

	static Supplier<String> of(String name) {
		return () -> "static hello " + name;
	}

	default String who() {
		return "nobody";
	}
}

/* Lambda expressions: what they capture, call and throw, and when two are one object. */
public class Lambdas implements Greeter {
	interface IntOp {
		int apply(int x);
	}

	interface Many {
		String all(int i, long l, double d, float f, boolean z, char c, byte b, short s, String t, int[] a);
	}

	interface Work {
		void run() throws Exception;
	}

	static final Function<Integer, Integer> SQUARE = x -> x * x;
	static final List<Supplier<Integer>> MADE = new ArrayList<>();
	static Function<Integer, Long> factorial;

	static {
		for (int i = 0; i < 3; i++) {
			int copy = i;
			MADE.add(() -> copy * 10);
		}
		factorial = n -> n < 2 ? 1L : n * factorial.apply(n - 1);
	}

	final String name;
	int count;
	final Supplier<String> field = () -> "field of " + who();
	final Supplier<String> fromConstructor;
	IntOp fibonacci;

	Lambdas(String name) {
		this.name = name;
		fromConstructor = () -> name + "/" + this.name + "/" + count;
		fibonacci = n -> n < 2 ? n : fibonacci.apply(n - 1) + fibonacci.apply(n - 2);
	}

	public String who() {
		return name;
	}

	static void show(Object... values) {
		StringBuilder s = new StringBuilder();

		for (Object o : values)
			s.append(s.length() == 0 ? "" : " ").append(o);
		System.out.println(s);
	}

	static void captures() {
		int i = 1;
		long l = 1L << 40;
		double d = 0.1;
		float f = 2.5f;
		boolean z = true;
		char c = '\u20ac';
		byte b = -128;
		short s = -30000;
		String t = "text";
		int[] a = {1, 2};
		Object[][] deep = {{"deep"}};
		Runnable all = () -> show(i, l, d, f, z, c, b, s, t, a[1], deep[0][0]);
		Supplier<Object[]> wide = () -> new Object[] {l, d, l + 1, d + 1, i, f};
		Many many = (i1, l1, d1, f1, z1, c1, b1, s1, t1, a1) -> "" + i1 + l1 + d1 + f1 + z1 + c1 + b1 + s1 + t1 + a1.length
						     + (i + l + d + f) + z + c + b + s + t + a.length;

		all.run();
		a[1] = 3;
		all.run();
		show(wide.get());
		show(many.all(i, l, d, f, z, c, b, s, t, a));
		IntSupplier is = () -> i;
		LongSupplier ls = () -> l;
		DoubleSupplier ds = () -> d;
		BooleanSupplier zs = () -> z;
		Supplier<Float> fs = () -> f;
		Supplier<Character> cs = () -> c;
		Supplier<Byte> bs = () -> b;
		Supplier<Short> ss = () -> s;
		Supplier<int[]> as = () -> a;
		show(is.getAsInt(), ls.getAsLong(), ds.getAsDouble(), zs.getAsBoolean(), fs.get(), cs.get(), bs.get(), ss.get(),
		     as.get() == a);
		long v0 = 0, v1 = 1, v2 = 2, v3 = 3, v4 = 4, v5 = 5, v6 = 6, v7 = 7, v8 = 8, v9 = 9;
		String w0 = "a", w1 = "b", w2 = "c", w3 = "d", w4 = "e", w5 = "f";
		Function<Long, String> sixteen = n -> w0 + v0 + w1 + v1 + w2 + v2 + w3 + v3 + w4 + v4 + w5 + v5
						       + (n + v6 + v7 + v8 + v9);
		show(sixteen.apply(1000L));
	}

	void ofThis() {
		Runnable up = () -> count++;
		Supplier<Lambdas> me = () -> this;
		Supplier<String> above = Greeter.super::who;
		Function<Integer, IntOp> adder = x -> y -> x + y + count;
		Supplier<Supplier<Supplier<String>>> nested = () -> () -> () -> name + count;

		up.run();
		up.run();
		show(me.get() == this, count, adder.apply(10).apply(100), nested.get().get().get(), field.get(),
		     fromConstructor.get(), fibonacci.apply(15));
		show(greet("you").get(), Greeter.of("you").get(), Greeter.CONSTANT.get(), new Greeter() { }.greet("me").get(),
		     above.get());
	}

	static void statics() {
		show(SQUARE.apply(12), factorial.apply(15));
		for (Supplier<Integer> s : MADE)
			show(s.get());
		Function<Function<Integer, Integer>, Function<Integer, Integer>> twice = f -> x -> f.apply(f.apply(x));
		Function<Integer, Function<Integer, Function<Integer, Integer>>> curried = x -> y -> z -> x * 100 + y * 10 + z;
		show(twice.apply(SQUARE).apply(3), twice.apply(twice.apply(x -> x + 1)).apply(0),
		     curried.apply(1).apply(2).apply(3));
		Runnable[] actions = new Runnable[3];
		int[] sum = {0};
		for (int i = 0; i < actions.length; i++) {
			int n = i + 1;
			actions[i] = () -> {
				for (int k = 0; k < n; k++) {
					int m = k;
					IntOp add = x -> x + m + n;
					sum[0] += add.apply(1);
				}
			};
		}
		for (Runnable r : actions)
			r.run();
		show(sum[0]);
	}

	static <T> Supplier<T> lazily(Supplier<? extends T> from) {
		Object[] kept = new Object[1];

		return () -> {
			@SuppressWarnings("unchecked")
			T value = (T)(kept[0] == null ? kept[0] = from.get() : kept[0]);
			return value;
		};
	}

	static Runnable same() {
		return () -> show("same");
	}

	static Supplier<Integer> fresh(int x) {
		return () -> x;
	}

	static Function<String, Integer> reference() {
		return String::length;
	}

	static void identity() {
		int[] calls = {0};
		Supplier<Integer> lazy = lazily(() -> ++calls[0]);
		Runnable r = same();

		show(same() == same(), fresh(1) == fresh(1), reference() == reference(), lazy.get() + lazy.get(), calls[0]);
		show(r.equals(same()), r.hashCode() == same().hashCode(), r.getClass() == same().getClass(),
		     fresh(1).getClass() == fresh(2).getClass(), r instanceof Runnable, (Object)r instanceof Supplier,
		     r.toString().startsWith("Lambdas$$Lambda"));
		synchronized (r) {
			r.run();
		}
	}

	/* The methods of its trace, without the numbers of lambda expressions, and without those that start a program. */
	static void attempt(String what, Work w) {
		try {
			w.run();
			show(what, "nothing");
		} catch (Exception | StackOverflowError e) {
			StringBuilder s = new StringBuilder();
			for (StackTraceElement f : e.getStackTrace()) {
				String m = f.getMethodName();
				int end = m.lastIndexOf('$');
				if (s.length() < 200 && f.getClassName().startsWith("Lambdas"))
					s.append(' ').append(m.startsWith("lambda$") ? m.substring(0, end) : m);
			}
			show(what, e instanceof NullPointerException ? e.getClass() : e,
			     e instanceof StackOverflowError ? "" : s);
		}
	}

	static void fail(String message) {
		throw new IllegalStateException(message);
	}

	static int failing(Integer x) {
		return 1 / x;
	}

	static int half(int x) {
		return x / 2;
	}

	static int deeper(int n) {
		return SELF.apply(n) + 1;
	}

	static final IntOp SELF = Lambdas::deeper;

	static void exceptions() {
		Function<Integer, Integer> divide = x -> 10 / x;
		Function<Integer, Integer> reference = Lambdas::failing;
		Function<Integer, Integer> unboxes = Lambdas::half;
		Supplier<int[]> negative = () -> new int[-1];

		attempt("one", () -> fail("one"));
		attempt("checked", () -> { throw new Exception("checked"); });
		attempt("divide", () -> divide.apply(0));
		attempt("reference", () -> reference.apply(0));
		attempt("composed", () -> attempt("inner", () -> negative.get()));
		attempt("nested", () -> {
			Runnable r = () -> {
				Runnable q = () -> fail("nested");
				q.run();
			};
			r.run();
		});
		attempt("no Integer", () -> reference.apply(null));
		attempt("unbox", () -> unboxes.apply(null));
		attempt("recursion", () -> SELF.apply(0));
		attempt("finally", () -> {
			try {
				fail("first");
			} finally {
				show("finally");
			}
		});
		attempt("caught", () -> {
			try {
				divide.apply(0);
			} catch (ArithmeticException e) {
				show("caught", e.getMessage());
			}
		});
	}

	static void threads() throws InterruptedException {
		Object lock = new Object();
		int[] total = {0};
		Thread[] all = new Thread[4];
		List<String> names = new ArrayList<>();

		for (int i = 0; i < all.length; i++) {
			int n = i;
			all[i] = new Thread(() -> {
				for (int k = 0; k < 500; k++) {
					IntOp add = x -> x + n + 1;
					synchronized (lock) {
						total[0] = add.apply(total[0]);
					}
				}
				synchronized (names) {
					names.add(Thread.currentThread().getName());
				}
			}, "worker " + i);
			all[i].start();
		}
		for (Thread t : all)
			t.join();
		names.sort(Comparator.naturalOrder());
		show(total[0], names);
		/* Threads that come to the same expression at the same time get one object. */
		Set<Runnable> made = new HashSet<>();
		for (int i = 0; i < all.length; i++) {
			all[i] = new Thread(() -> {
				Runnable r = () -> show("by several");
				synchronized (made) {
					made.add(r);
				}
			});
			all[i].start();
		}
		for (Thread t : all)
			t.join();
		made.iterator().next().run();
		show(made.size());
	}

	static void control() {
		boolean[] flags = {true, false};
		for (boolean flag : flags) {
			Supplier<String> s = flag ? () -> "yes" : () -> "no";
			Callback<String> c = flag ? String::trim : x -> x + "!";
			show(s.get(), c.call(" text "));
		}
		Object o = (Supplier<Runnable>)() -> () -> show("in an Object");
		((Supplier<?>)o).get();
		((Runnable)((Supplier<?>)o).get()).run();
		Function<Integer, String> size = x -> {
			switch (x) {
			case 0:
				return "none";
			case 1:
				return "one";
			default:
				if (x < 0)
					throw new IllegalArgumentException("negative");
				String s = "";
				for (int i = 0; i < x; i++)
					s += "|";
				return s;
			}
		};
		show(size.apply(0), size.apply(1), size.apply(5));
		class Local {
			final int x;

			Local(int x) {
				this.x = x + flags.length;
			}
		}
		Function<Integer, Local> local = Local::new;
		Function<Local, Integer> value = l -> l.x;
		show(local.andThen(value).apply(40));
		Iterator<Integer> count = new Iterator<Integer>() {
			private int n;
			private final IntSupplier next = () -> n++;

			public boolean hasNext() {
				return n < 3;
			}

			public Integer next() {
				return next.getAsInt();
			}
		};
		Iterable<Integer> each = () -> count;
		for (int i : each)
			System.out.print(i);
		System.out.println();
	}

	interface Callback<T> {
		T call(T t);
	}

	public static void main(String[] args) throws InterruptedException {
		captures();
		new Lambdas("me").ofThis();
		statics();
		identity();
		exceptions();
		threads();
		control();
	}
}
