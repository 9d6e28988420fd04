/* A class with something of everything, which Fuzz changes at random. Its name has room for a number. */
public class Sample implements Runnable, Comparable<Object> {
	private static final String TEXT = "text";
	static int count = 3;
	static final long WIDE = 1L << 40;
	int i;
	long l;
	double d;
	Object o = TEXT;
	String[] strings = {"a", "b"};
	byte b;

	public Sample() {
		i = 1;
	}

	public Sample(int i, long l) {
		this.i = i > 3 ? i : (int)l;
		this.l = l;
	}

	public int compareTo(Object other) {
		return other instanceof Sample ? i - ((Sample)other).i : -1;
	}

	static long mix(int a, long b, float c, double d, Object e, int[] f) {
		long r = a;

		if (a > 2 && b < 5)
			r += (long)c;
		else
			r -= d > c ? 1 : 2;
		if (e != null && f != null && f.length > 1)
			r ^= f[0] + f[1];
		return r;
	}

	synchronized Object select(int n) {
		switch (n) {
		case 0:
			return this;
		case 1:
			return strings;
		case 2:
			return new int[][] {{1, 2}, {3}};
		case 500:
			return Integer.valueOf(n);
		default:
			return n < 0 ? TEXT : (Object)Long.valueOf(l);
		}
	}

	int guarded(Object x) {
		try {
			synchronized (this) {
				i += ((String)x).length();
			}
			return strings[i].length();
		} catch (ClassCastException e) {
			return 1;
		} catch (RuntimeException e) {
			o = e;
			return 2;
		} finally {
			count++;
		}
	}

	public void run() {
		Comparable<Object> c = this;
		Object[] objects = {this, "x", null, new Sample(5, 6)};
		long sum = mix(1, 2, 3f, 4d, o, new int[] {1, 2});

		b = (byte)300;
		d = sum * 1.5 + (b << 2);
		sum += c.compareTo(objects[3]) + guarded("y") + guarded(objects[0]);
		o = select(2);
		((int[][])o)[1][0] += select(500).hashCode();
		l = WIDE ^ sum;
		objects[2] = "t" + i + l + d;
		Runnable[] r = new Runnable[1];
		r[0] = (Runnable)objects[0];
		strings = new String[] {objects[2].toString()};
	}
}
