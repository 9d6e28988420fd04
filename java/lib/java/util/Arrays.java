package java.util;

import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.IntToDoubleFunction;
import java.util.function.IntToLongFunction;
import java.util.function.IntUnaryOperator;
import java.util.function.UnaryOperator;

public final class Arrays {
	private Arrays() {
	}

	public static int[] copyOf(int[] a, int n) {
		return copyOfRange(a, 0, n);
	}

	public static int[] copyOfRange(int[] a, int from, int to) {
		int[] b = new int[to - from];

		System.arraycopy(a, from, b, 0, Math.min(a.length - from, to - from));
		return b;
	}

	public static void fill(int[] a, int value) {
		fill(a, 0, a.length, value);
	}

	public static void fill(int[] a, int from, int to, int value) {
		for (int i = from; i < to; i++)
			a[i] = value;
	}

	public static boolean equals(int[] a, int[] b) {
		if (a == b)
			return true;
		if (a == null || b == null || a.length != b.length)
			return false;
		for (int i = 0; i < a.length; i++)
			if (a[i] != b[i])
				return false;
		return true;
	}

	public static int hashCode(int[] a) {
		int h = 1;

		if (a == null)
			return 0;
		for (int i = 0; i < a.length; i++)
			h = 31 * h + Integer.hashCode(a[i]);
		return h;
	}

	public static String toString(int[] a) {
		StringBuilder s = new StringBuilder("[");

		if (a == null)
			return "null";
		for (int i = 0; i < a.length; i++)
			s.append(i == 0 ? "" : ", ").append(a[i]);
		return s.append(']').toString();
	}

	public static void sort(int[] a) {
		sort(a, 0, a.length);
	}

	/* A heap is built and taken apart: no recursion, and no slow case. */
	public static void sort(int[] a, int from, int to) {
		int n = to - from;

		for (int i = n / 2 - 1; i >= 0; i--)
			sift(a, from, i, n);
		while (--n > 0) {
			int x = a[from];
			a[from] = a[from + n];
			a[from + n] = x;
			sift(a, from, 0, n);
		}
	}

	private static void sift(int[] a, int from, int at, int n) {
		int x = a[from + at];

		for (int i; (i = 2 * at + 1) < n; at = i) {
			if (i + 1 < n && a[from + i + 1] > a[from + i])
				i++;
			if (a[from + i] <= x)
				break;
			a[from + at] = a[from + i];
		}
		a[from + at] = x;
	}

	public static long[] copyOf(long[] a, int n) {
		return copyOfRange(a, 0, n);
	}

	public static long[] copyOfRange(long[] a, int from, int to) {
		long[] b = new long[to - from];

		System.arraycopy(a, from, b, 0, Math.min(a.length - from, to - from));
		return b;
	}

	public static void fill(long[] a, long value) {
		fill(a, 0, a.length, value);
	}

	public static void fill(long[] a, int from, int to, long value) {
		for (int i = from; i < to; i++)
			a[i] = value;
	}

	public static boolean equals(long[] a, long[] b) {
		if (a == b)
			return true;
		if (a == null || b == null || a.length != b.length)
			return false;
		for (int i = 0; i < a.length; i++)
			if (a[i] != b[i])
				return false;
		return true;
	}

	public static int hashCode(long[] a) {
		int h = 1;

		if (a == null)
			return 0;
		for (int i = 0; i < a.length; i++)
			h = 31 * h + Long.hashCode(a[i]);
		return h;
	}

	public static String toString(long[] a) {
		StringBuilder s = new StringBuilder("[");

		if (a == null)
			return "null";
		for (int i = 0; i < a.length; i++)
			s.append(i == 0 ? "" : ", ").append(a[i]);
		return s.append(']').toString();
	}

	public static void sort(long[] a) {
		sort(a, 0, a.length);
	}

	/* A heap is built and taken apart: no recursion, and no slow case. */
	public static void sort(long[] a, int from, int to) {
		int n = to - from;

		for (int i = n / 2 - 1; i >= 0; i--)
			sift(a, from, i, n);
		while (--n > 0) {
			long x = a[from];
			a[from] = a[from + n];
			a[from + n] = x;
			sift(a, from, 0, n);
		}
	}

	private static void sift(long[] a, int from, int at, int n) {
		long x = a[from + at];

		for (int i; (i = 2 * at + 1) < n; at = i) {
			if (i + 1 < n && a[from + i + 1] > a[from + i])
				i++;
			if (a[from + i] <= x)
				break;
			a[from + at] = a[from + i];
		}
		a[from + at] = x;
	}

	public static byte[] copyOf(byte[] a, int n) {
		return copyOfRange(a, 0, n);
	}

	public static byte[] copyOfRange(byte[] a, int from, int to) {
		byte[] b = new byte[to - from];

		System.arraycopy(a, from, b, 0, Math.min(a.length - from, to - from));
		return b;
	}

	public static void fill(byte[] a, byte value) {
		fill(a, 0, a.length, value);
	}

	public static void fill(byte[] a, int from, int to, byte value) {
		for (int i = from; i < to; i++)
			a[i] = value;
	}

	public static boolean equals(byte[] a, byte[] b) {
		if (a == b)
			return true;
		if (a == null || b == null || a.length != b.length)
			return false;
		for (int i = 0; i < a.length; i++)
			if (a[i] != b[i])
				return false;
		return true;
	}

	public static int hashCode(byte[] a) {
		int h = 1;

		if (a == null)
			return 0;
		for (int i = 0; i < a.length; i++)
			h = 31 * h + Byte.hashCode(a[i]);
		return h;
	}

	public static String toString(byte[] a) {
		StringBuilder s = new StringBuilder("[");

		if (a == null)
			return "null";
		for (int i = 0; i < a.length; i++)
			s.append(i == 0 ? "" : ", ").append(a[i]);
		return s.append(']').toString();
	}

	public static void sort(byte[] a) {
		sort(a, 0, a.length);
	}

	/* A heap is built and taken apart: no recursion, and no slow case. */
	public static void sort(byte[] a, int from, int to) {
		int n = to - from;

		for (int i = n / 2 - 1; i >= 0; i--)
			sift(a, from, i, n);
		while (--n > 0) {
			byte x = a[from];
			a[from] = a[from + n];
			a[from + n] = x;
			sift(a, from, 0, n);
		}
	}

	private static void sift(byte[] a, int from, int at, int n) {
		byte x = a[from + at];

		for (int i; (i = 2 * at + 1) < n; at = i) {
			if (i + 1 < n && a[from + i + 1] > a[from + i])
				i++;
			if (a[from + i] <= x)
				break;
			a[from + at] = a[from + i];
		}
		a[from + at] = x;
	}

	public static char[] copyOf(char[] a, int n) {
		return copyOfRange(a, 0, n);
	}

	public static char[] copyOfRange(char[] a, int from, int to) {
		char[] b = new char[to - from];

		System.arraycopy(a, from, b, 0, Math.min(a.length - from, to - from));
		return b;
	}

	public static void fill(char[] a, char value) {
		fill(a, 0, a.length, value);
	}

	public static void fill(char[] a, int from, int to, char value) {
		for (int i = from; i < to; i++)
			a[i] = value;
	}

	public static boolean equals(char[] a, char[] b) {
		if (a == b)
			return true;
		if (a == null || b == null || a.length != b.length)
			return false;
		for (int i = 0; i < a.length; i++)
			if (a[i] != b[i])
				return false;
		return true;
	}

	public static int hashCode(char[] a) {
		int h = 1;

		if (a == null)
			return 0;
		for (int i = 0; i < a.length; i++)
			h = 31 * h + Character.hashCode(a[i]);
		return h;
	}

	public static String toString(char[] a) {
		StringBuilder s = new StringBuilder("[");

		if (a == null)
			return "null";
		for (int i = 0; i < a.length; i++)
			s.append(i == 0 ? "" : ", ").append(a[i]);
		return s.append(']').toString();
	}

	public static void sort(char[] a) {
		sort(a, 0, a.length);
	}

	/* A heap is built and taken apart: no recursion, and no slow case. */
	public static void sort(char[] a, int from, int to) {
		int n = to - from;

		for (int i = n / 2 - 1; i >= 0; i--)
			sift(a, from, i, n);
		while (--n > 0) {
			char x = a[from];
			a[from] = a[from + n];
			a[from + n] = x;
			sift(a, from, 0, n);
		}
	}

	private static void sift(char[] a, int from, int at, int n) {
		char x = a[from + at];

		for (int i; (i = 2 * at + 1) < n; at = i) {
			if (i + 1 < n && a[from + i + 1] > a[from + i])
				i++;
			if (a[from + i] <= x)
				break;
			a[from + at] = a[from + i];
		}
		a[from + at] = x;
	}

	public static short[] copyOf(short[] a, int n) {
		return copyOfRange(a, 0, n);
	}

	public static short[] copyOfRange(short[] a, int from, int to) {
		short[] b = new short[to - from];

		System.arraycopy(a, from, b, 0, Math.min(a.length - from, to - from));
		return b;
	}

	public static void fill(short[] a, short value) {
		fill(a, 0, a.length, value);
	}

	public static void fill(short[] a, int from, int to, short value) {
		for (int i = from; i < to; i++)
			a[i] = value;
	}

	public static boolean equals(short[] a, short[] b) {
		if (a == b)
			return true;
		if (a == null || b == null || a.length != b.length)
			return false;
		for (int i = 0; i < a.length; i++)
			if (a[i] != b[i])
				return false;
		return true;
	}

	public static int hashCode(short[] a) {
		int h = 1;

		if (a == null)
			return 0;
		for (int i = 0; i < a.length; i++)
			h = 31 * h + Short.hashCode(a[i]);
		return h;
	}

	public static String toString(short[] a) {
		StringBuilder s = new StringBuilder("[");

		if (a == null)
			return "null";
		for (int i = 0; i < a.length; i++)
			s.append(i == 0 ? "" : ", ").append(a[i]);
		return s.append(']').toString();
	}

	public static void sort(short[] a) {
		sort(a, 0, a.length);
	}

	/* A heap is built and taken apart: no recursion, and no slow case. */
	public static void sort(short[] a, int from, int to) {
		int n = to - from;

		for (int i = n / 2 - 1; i >= 0; i--)
			sift(a, from, i, n);
		while (--n > 0) {
			short x = a[from];
			a[from] = a[from + n];
			a[from + n] = x;
			sift(a, from, 0, n);
		}
	}

	private static void sift(short[] a, int from, int at, int n) {
		short x = a[from + at];

		for (int i; (i = 2 * at + 1) < n; at = i) {
			if (i + 1 < n && a[from + i + 1] > a[from + i])
				i++;
			if (a[from + i] <= x)
				break;
			a[from + at] = a[from + i];
		}
		a[from + at] = x;
	}

	public static double[] copyOf(double[] a, int n) {
		return copyOfRange(a, 0, n);
	}

	public static double[] copyOfRange(double[] a, int from, int to) {
		double[] b = new double[to - from];

		System.arraycopy(a, from, b, 0, Math.min(a.length - from, to - from));
		return b;
	}

	public static void fill(double[] a, double value) {
		fill(a, 0, a.length, value);
	}

	public static void fill(double[] a, int from, int to, double value) {
		for (int i = from; i < to; i++)
			a[i] = value;
	}

	public static boolean equals(double[] a, double[] b) {
		if (a == b)
			return true;
		if (a == null || b == null || a.length != b.length)
			return false;
		for (int i = 0; i < a.length; i++)
			if (Double.compare(a[i], b[i]) != 0)
				return false;
		return true;
	}

	public static int hashCode(double[] a) {
		int h = 1;

		if (a == null)
			return 0;
		for (int i = 0; i < a.length; i++)
			h = 31 * h + Double.hashCode(a[i]);
		return h;
	}

	public static String toString(double[] a) {
		StringBuilder s = new StringBuilder("[");

		if (a == null)
			return "null";
		for (int i = 0; i < a.length; i++)
			s.append(i == 0 ? "" : ", ").append(a[i]);
		return s.append(']').toString();
	}

	public static void sort(double[] a) {
		sort(a, 0, a.length);
	}

	/* A heap is built and taken apart: no recursion, and no slow case. */
	public static void sort(double[] a, int from, int to) {
		int n = to - from;

		for (int i = n / 2 - 1; i >= 0; i--)
			sift(a, from, i, n);
		while (--n > 0) {
			double x = a[from];
			a[from] = a[from + n];
			a[from + n] = x;
			sift(a, from, 0, n);
		}
	}

	private static void sift(double[] a, int from, int at, int n) {
		double x = a[from + at];

		for (int i; (i = 2 * at + 1) < n; at = i) {
			if (i + 1 < n && a[from + i + 1] > a[from + i])
				i++;
			if (a[from + i] <= x)
				break;
			a[from + at] = a[from + i];
		}
		a[from + at] = x;
	}

	public static float[] copyOf(float[] a, int n) {
		return copyOfRange(a, 0, n);
	}

	public static float[] copyOfRange(float[] a, int from, int to) {
		float[] b = new float[to - from];

		System.arraycopy(a, from, b, 0, Math.min(a.length - from, to - from));
		return b;
	}

	public static void fill(float[] a, float value) {
		fill(a, 0, a.length, value);
	}

	public static void fill(float[] a, int from, int to, float value) {
		for (int i = from; i < to; i++)
			a[i] = value;
	}

	public static boolean equals(float[] a, float[] b) {
		if (a == b)
			return true;
		if (a == null || b == null || a.length != b.length)
			return false;
		for (int i = 0; i < a.length; i++)
			if (Float.compare(a[i], b[i]) != 0)
				return false;
		return true;
	}

	public static int hashCode(float[] a) {
		int h = 1;

		if (a == null)
			return 0;
		for (int i = 0; i < a.length; i++)
			h = 31 * h + Float.hashCode(a[i]);
		return h;
	}

	public static String toString(float[] a) {
		StringBuilder s = new StringBuilder("[");

		if (a == null)
			return "null";
		for (int i = 0; i < a.length; i++)
			s.append(i == 0 ? "" : ", ").append(a[i]);
		return s.append(']').toString();
	}

	public static boolean[] copyOf(boolean[] a, int n) {
		return copyOfRange(a, 0, n);
	}

	public static boolean[] copyOfRange(boolean[] a, int from, int to) {
		boolean[] b = new boolean[to - from];

		System.arraycopy(a, from, b, 0, Math.min(a.length - from, to - from));
		return b;
	}

	public static void fill(boolean[] a, boolean value) {
		fill(a, 0, a.length, value);
	}

	public static void fill(boolean[] a, int from, int to, boolean value) {
		for (int i = from; i < to; i++)
			a[i] = value;
	}

	public static boolean equals(boolean[] a, boolean[] b) {
		if (a == b)
			return true;
		if (a == null || b == null || a.length != b.length)
			return false;
		for (int i = 0; i < a.length; i++)
			if (a[i] != b[i])
				return false;
		return true;
	}

	public static int hashCode(boolean[] a) {
		int h = 1;

		if (a == null)
			return 0;
		for (int i = 0; i < a.length; i++)
			h = 31 * h + Boolean.hashCode(a[i]);
		return h;
	}

	public static String toString(boolean[] a) {
		StringBuilder s = new StringBuilder("[");

		if (a == null)
			return "null";
		for (int i = 0; i < a.length; i++)
			s.append(i == 0 ? "" : ", ").append(a[i]);
		return s.append(']').toString();
	}

	public static <T> T[] copyOf(T[] a, int n) {
		return copyOfRange(a, 0, n);
	}

	public static <T> T[] copyOfRange(T[] a, int from, int to) {
		T[] b = newArray(a, to - from);

		System.arraycopy(a, from, b, 0, Math.min(a.length - from, to - from));
		return b;
	}

	/* An array of the same class. */
	@SuppressWarnings("unchecked")
	private static <T> T[] newArray(T[] a, int n) {
		return (T[])java.lang.reflect.Array.newInstance(a.getClass().getComponentType(), n);
	}

	public static void fill(Object[] a, Object value) {
		fill(a, 0, a.length, value);
	}

	public static void fill(Object[] a, int from, int to, Object value) {
		for (int i = from; i < to; i++)
			a[i] = value;
	}

	public static boolean equals(Object[] a, Object[] b) {
		return a == b || a != null && b != null && asList(a).equals(asList(b));
	}

	public static int hashCode(Object[] a) {
		return a == null ? 0 : asList(a).hashCode();
	}

	public static String toString(Object[] a) {
		return a == null ? "null" : asList(a).toString();
	}

	public static void sort(Object[] a) {
		sortObjects(a, null);
	}

	public static <T> void sort(T[] a, Comparator<? super T> c) {
		sortObjects(a, c);
	}

	public static void sort(Object[] a, int from, int to) {
		sort(a, from, to, null);
	}

	public static <T> void sort(T[] a, int from, int to, Comparator<? super T> c) {
		if (from > to)
			throw new IllegalArgumentException("fromIndex(" + from + ") > toIndex(" + to + ")");
		if (from < 0 || to > a.length)
			throw new ArrayIndexOutOfBoundsException("Array index out of range: " + (from < 0 ? from : to));
		Object[] part = new Object[to - from];

		System.arraycopy(a, from, part, 0, to - from);
		sortObjects(part, c);
		System.arraycopy(part, 0, a, from, to - from);
	}

	@SuppressWarnings("unchecked")
	static void sortObjects(Object[] a, Comparator<?> c) {
		Object[] b = new Object[a.length];

		/* Merges runs of 1, 2, 4, ...: equal elements keep their order. */
		for (int n = 1; n < a.length; n *= 2) {
			for (int from = 0; from < a.length; from += 2 * n)
				merge(a, b, from, Math.min(from + n, a.length), Math.min(from + 2 * n, a.length),
				      (Comparator<Object>)c);
			System.arraycopy(b, 0, a, 0, a.length);
		}
	}

	@SuppressWarnings("unchecked")
	private static void merge(Object[] a, Object[] b, int from, int middle, int to, Comparator<Object> c) {
		int i = from, k = middle;

		for (int at = from; at < to; at++) {
			boolean first = i < middle &&
					(k >= to || (c == null ? ((Comparable<Object>)a[i]).compareTo(a[k])
							       : c.compare(a[i], a[k])) <= 0);
			b[at] = first ? a[i++] : a[k++];
		}
	}

	public static <T> void setAll(T[] a, IntFunction<? extends T> f) {
		Objects.requireNonNull(f);
		for (int i = 0; i < a.length; i++)
			a[i] = f.apply(i);
	}

	public static void setAll(int[] a, IntUnaryOperator f) {
		Objects.requireNonNull(f);
		for (int i = 0; i < a.length; i++)
			a[i] = f.applyAsInt(i);
	}

	public static void setAll(long[] a, IntToLongFunction f) {
		Objects.requireNonNull(f);
		for (int i = 0; i < a.length; i++)
			a[i] = f.applyAsLong(i);
	}

	public static void setAll(double[] a, IntToDoubleFunction f) {
		Objects.requireNonNull(f);
		for (int i = 0; i < a.length; i++)
			a[i] = f.applyAsDouble(i);
	}

	@SafeVarargs
	public static <T> List<T> asList(final T... a) {
		return new Fixed<T>(a);
	}

	private static class Fixed<T> extends AbstractList<T> implements RandomAccess {
		private final T[] a;

		Fixed(T[] a) {
			this.a = Objects.requireNonNull(a);
		}

		public int size() {
			return a.length;
		}

		public T get(int i) {
			return a[i];
		}

		public T set(int i, T e) {
			T old = a[i];

			a[i] = e;
			return old;
		}

		public void forEach(Consumer<? super T> action) {
			Objects.requireNonNull(action);
			for (T e : a)
				action.accept(e);
		}

		public void replaceAll(UnaryOperator<T> f) {
			Objects.requireNonNull(f);
			for (int i = 0; i < a.length; i++)
				a[i] = f.apply(a[i]);
		}

		public void sort(Comparator<? super T> c) {
			sortObjects(a, c);
		}

		/* Its remove throws before anything else is looked at. */
		public Iterator<T> iterator() {
			return new Iterator<T>() {
				private int at;

				public boolean hasNext() {
					return at < a.length;
				}

				public T next() {
					if (at >= a.length)
						throw new NoSuchElementException();
					return a[at++];
				}
			};
		}
	}
}
