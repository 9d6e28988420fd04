import java.util.ArrayList;

/* Exceptions: what throws them, finally, traces, causes, errors of initialisation, stack and heap. */
public class Errors {
	static class Bad {
		static int value = 1 / Integer.parseInt("0");
	}

	static class Mine extends Exception {
		Mine(String message, Throwable cause) {
			super(message, cause);
		}
	}

	static class Resource implements AutoCloseable {
		final String name;

		Resource(String name) {
			this.name = name;
			System.out.println("open " + name);
		}

		public void close() throws Mine {
			System.out.println("close " + name);
			throw new Mine("close " + name, null);
		}
	}

	interface Action {
		void run() throws Throwable;
	}

	static void attempt(String what, Action action) {
		try {
			action.run();
			System.out.println(what + ": nothing");
		} catch (Throwable t) {
			System.out.println(what + ": " + t.getClass().getName());
		}
	}

	static int[] array = new int[3];
	static Object text = "text";
	static String none;

	static int tidy(int how) {
		try {
			if (how == 0)
				return 1;
			if (how == 1)
				throw new RuntimeException("one");
			return 2;
		} catch (RuntimeException e) {
			return 3;
		} finally {
			System.out.println("finally " + how);
			if (how == 2)
				return 4;
		}
	}

	static void third() throws Mine {
		try {
			array[Integer.parseInt("17")]++;
		} catch (ArrayIndexOutOfBoundsException e) {
			throw new Mine("wrapped", e);
		}
	}

	static void second() throws Mine {
		third();
	}

	static int depth;

	static void endless() {
		depth++;
		endless();
	}

	static synchronized void locked() {
		throw new IllegalStateException();
	}

	public static void main(String[] args) throws Exception {
		attempt("null field", new Action() { public void run() { none.length(); } });
		attempt("null array", new Action() { public void run() { int[] a = null; a[0] = 1; } });
		attempt("null throw", new Action() { public void run() throws Throwable { RuntimeException e = null; throw e; } });
		attempt("null lock", new Action() { public void run() { synchronized (none) { } } });
		attempt("index", new Action() { public void run() { array[3] = 1; } });
		attempt("negative index", new Action() { public void run() { array[-1] = 1; } });
		attempt("size", new Action() { public void run() { array = new int[-1]; } });
		attempt("sizes", new Action() { public void run() { Object o = new int[2][-1]; } });
		attempt("store", new Action() { public void run() { Object[] o = new String[1]; o[0] = 1; } });
		attempt("copy", new Action() { public void run() { System.arraycopy(array, 0, new long[3], 0, 1); } });
		attempt("cast", new Action() { public void run() { Integer i = (Integer)text; } });
		attempt("divide", new Action() { public void run() { array[0] /= array[1]; } });
		attempt("long remainder", new Action() { public void run() { long l = 5L % array[1]; } });
		attempt("double", new Action() { public void run() { double d = 5.0 / array[1]; } });
		attempt("number", new Action() { public void run() { Integer.parseInt("12x"); } });
		attempt("charAt", new Action() { public void run() { "abc".charAt(3); } });
		attempt("monitor", new Action() { public void run() { text.notify(); } });
		attempt("initialiser", new Action() { public void run() { Bad.value++; } });
		attempt("again", new Action() { public void run() { Bad.value++; } });
		attempt("class", new Action() { public void run() throws Throwable { Class.forName("Missing"); } });
		attempt("clone", new Action() { public void run() throws Throwable { new Errors().clone(); } });
		attempt("iterator", new Action() { public void run() { ArrayList<Integer> a = new ArrayList<Integer>(); a.add(1);
			for (Integer i : a) a.add(i); } });
		attempt("stack", new Action() { public void run() { endless(); } });
		System.out.println(depth > 1000);
		attempt("stack again", new Action() { public void run() { endless(); } });
		attempt("locked", new Action() { public void run() { locked(); } });
		System.out.println(Thread.holdsLock(Errors.class));
		System.out.println(tidy(0) + " " + tidy(1) + " " + tidy(2));
		try {
			second();
		} catch (Mine e) {
			StackTraceElement[] t = e.getStackTrace();
			System.out.println(e.getMessage() + " " + e.getCause().getClass().getName());
			for (int i = 0; i < 3; i++)
				System.out.println(t[i].getMethodName() + " " + t[i].getLineNumber());
			System.out.println(t.length + " " + e.getCause().getStackTrace()[0]);
		}
		try (Resource a = new Resource("a"); Resource b = new Resource("b")) {
			throw new Mine("body", null);
		} catch (Mine e) {
			System.out.println(e.getMessage() + " " + e.getSuppressed().length + " " + e.getSuppressed()[0].getMessage());
		}
		ArrayList<Object> full = new ArrayList<Object>();
		try {
			for (;;)
				full.add(new long[100000]);
		} catch (OutOfMemoryError e) {
			int n = full.size();
			full = null;
			System.out.println("no memory " + (n > 5));
		}
		attempt("huge", new Action() { public void run() { Object o = new long[Integer.MAX_VALUE - 8]; } });
		System.out.println(new long[1000].length);
	}
}
