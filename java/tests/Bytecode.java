/* Instructions: arithmetic at its limits, conversions, shifts, comparisons, arrays, switches, fields, calls. */
public class Bytecode {
	interface Shape {
		int N = Integer.parseInt("7");

		double area();

		default String describe() {
			return "area " + area();
		}

		static Shape unit() {
			return new Square(1);
		}
	}

	static class Square implements Shape {
		final double side;

		Square(double side) {
			this.side = side;
		}

		public double area() {
			return side * side;
		}
	}

	static class Cube extends Square {
		Cube(double side) {
			super(side);
		}

		public double area() {
			return 6 * super.area();
		}

		public String describe() {
			return "cube: " + super.describe();
		}
	}

	enum Color { RED, GREEN { int weight() { return 5; } }, BLUE; int weight() { return ordinal(); } }

	class Inner {
		int get() {
			return field + 1;
		}
	}

	int field = 41;
	byte b = (byte)200;
	short s = (short)70000;
	char c = (char)-1;
	boolean z = true;
	static long wide = 0x123456789abcdefL;
	volatile double volatileDouble = -0.0;

	static int[] ints = {0, 1, -1, 2, 7, -7, 31, 32, 33, Integer.MAX_VALUE, Integer.MIN_VALUE};
	static long[] longs = {0, 1, -1, 63, 64, -7, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 32, 0xdeadbeefL};
	static double[] doubles = {0.0, -0.0, 1.5, -1.5, 1e300, -1e300, 5e-324, Double.NaN, Double.POSITIVE_INFINITY,
				   Double.NEGATIVE_INFINITY, 3000000000.0, -4294967296.0, 9.3e18, 0.1, 1e7, 123456.789, 1e-3, 9.999e-4};

	static int sum;

	static void mix(long x) {
		sum = sum * 31 + (int)(x ^ x >>> 32);
	}

	static void integers() {
		for (int x : ints)
			for (int y : ints) {
				mix(x + y);
				mix(x - y);
				mix(x * y);
				mix(y == 0 ? 0 : x / y);
				mix(y == 0 ? 0 : x % y);
				mix(x << y);
				mix(x >> y);
				mix(x >>> y);
				mix(x & y | x ^ ~y);
				mix((x < y ? 1 : 0) + (x <= y ? 2 : 0) + (x == y ? 4 : 0) + (x > y ? 8 : 0) + (x >= y ? 16 : 0));
				mix((byte)x + (short)(x + y) + (char)(x * 3 + y));
				mix(-x);
			}
		System.out.println("integers " + sum);
		for (long x : longs)
			for (long y : longs) {
				mix(x + y);
				mix(x - y);
				mix(x * y);
				mix(y == 0 ? 0 : x / y);
				mix(y == 0 ? 0 : x % y);
				mix(x << y);
				mix(x >> y);
				mix(x >>> y);
				mix(x & y | x ^ ~y);
				mix((x < y ? 1 : 0) + (x <= y ? 2 : 0) + (x == y ? 4 : 0));
				mix((int)x);
				mix(-x);
			}
		System.out.println("longs " + sum);
	}

	static void reals() {
		for (double x : doubles) {
			System.out.println(x + " " + (float)x + " " + (int)x + " " + (long)x + " " + (int)(float)x + " " + -x);
			for (double y : doubles) {
				mix(Double.doubleToLongBits(x + y));
				mix(Double.doubleToLongBits(x - y));
				mix(Double.doubleToLongBits(x * y));
				mix(Double.doubleToLongBits(x / y));
				mix(Double.doubleToLongBits(x % y));
				mix(Float.floatToIntBits((float)x * (float)y));
				mix(Float.floatToIntBits((float)x / (float)y));
				mix(Float.floatToIntBits((float)x % (float)y));
				mix((x < y ? 1 : 0) + (x <= y ? 2 : 0) + (x == y ? 4 : 0) + (x > y ? 8 : 0) + (x >= y ? 16 : 0));
				mix(((float)x < (float)y ? 1 : 0) + ((float)x > (float)y ? 8 : 0));
			}
		}
		System.out.println("reals " + sum);
	}

	static String select(int i) {
		switch (i) {
		case -1: return "minus";
		case 0: return "zero";
		case 1: case 2: return "few";
		case 1000: return "many";
		case Integer.MAX_VALUE: return "most";
		default: return "other";
		}
	}

	static int dense(int i) {
		int n = 0;

		switch (i) {
		case 3: n += 3;
		case 4: n += 4; break;
		case 5: n += 5;
		case 6: n += 6;
		default: n += 100;
		}
		return n;
	}

	static String text(String s) {
		switch (s) {
		case "Aa": return "first";
		case "BB": return "second"; /* the same hash */
		}
		return "none";
	}

	static Object[] arrays() {
		int[][][] cube = new int[2][3][];
		long[][] l = new long[2][2];
		boolean[] z = {true, false};
		byte[] b = {(byte)255};
		char[] c = {(char)-1};
		short[] s = {(short)40000};
		float[] f = {1.5f};
		cube[1][2] = new int[] {1, 2, 3};
		cube[1][2][1] += 5;
		cube[1][2][2]++;
		l[1][0] = 1L << 40;
		z[1] ^= true;
		System.out.println(cube[1][2][1] + " " + cube[1][2][2] + " " + cube[0][0] + " " + l[1][0] + " " + z[1] + " " + b[0] + " "
				   + (int)c[0] + " " + s[0] + " " + f[0]);
		System.out.println(cube.getClass().getName() + " " + new Shape[0][0].getClass().getName() + " " + int.class + " "
				   + new int[0].clone().length);
		Object o = cube;
		System.out.println((o instanceof Object[]) + " " + (o instanceof int[][][]) + " " + (o instanceof Object[][]) + " "
				   + (o instanceof int[][]) + " " + (o instanceof Cloneable));
		return new Object[] {cube};
	}

	static long deep(int n, long a, double b, int c) {
		return n == 0 ? a + (long)b + c : deep(n - 1, a + 1, b + 0.5, c - 1);
	}

	static int many(int a, long b, float c, double d, Object e, byte f, short g, char h, boolean i, long j) {
		return (int)(a + b + c + d + e.hashCode() + f + g + h + (i ? 1 : 0) + j);
	}

	public static void main(String[] args) {
		Bytecode x = new Bytecode();

		integers();
		reals();
		System.out.println(select(-1) + select(0) + select(2) + select(1000) + select(Integer.MAX_VALUE) + select(3));
		System.out.println(dense(2) + " " + dense(3) + " " + dense(4) + " " + dense(5) + " " + dense(6));
		System.out.println(text("Aa") + text("BB") + text("C"));
		arrays();
		System.out.println(deep(500, 1L << 33, 0.25, 7));
		System.out.println(many(1, 2, 3, 4, "5", (byte)6, (short)7, '8', true, 1L << 4));
		System.out.println(x.field++ + " " + ++x.field + " " + x.b + " " + x.s + " " + (int)x.c + " " + x.z + " " + wide + " "
				   + x.volatileDouble);
		x.b += 100;
		x.s *= 3;
		x.c++;
		x.z = !x.z;
		wide >>>= 3;
		System.out.println(x.b + " " + x.s + " " + (int)x.c + " " + x.z + " " + wide + " " + x.new Inner().get());
		Shape[] shapes = {new Square(2), new Cube(2), Shape.unit(), new Shape() { public double area() { return N; } }};
		for (Shape shape : shapes)
			System.out.println(shape.describe() + " " + (shape instanceof Square) + " " + (shape instanceof Cube));
		for (Color color : Color.values())
			System.out.println(color + " " + color.weight() + " " + color.getDeclaringClass().getSimpleName());
		System.out.println(Color.valueOf("BLUE").compareTo(Color.RED));
		Integer p = 127, q = 127, r = 128, t = 128;
		System.out.println((p == q) + " " + (r == t) + " " + r.equals(t) + " " + (r <= t));
		Long boxed = 0L;
		for (int i = 0; i < 1000; i++)
			boxed += i;
		System.out.println(boxed + " " + (char)('a' + 1) + (int)'a' + 1.0f + 2.50);
		Object nothing = null;
		System.out.println("text " + nothing + (nothing instanceof String) + (String)nothing);
		outer:
		for (int i = 0;; i++)
			for (int k = 0; k < 10; k++) {
				if (k > i)
					continue outer;
				if (i * k > 20)
					break outer;
				mix(i * k);
			}
		System.out.println("end " + sum);
	}
}
