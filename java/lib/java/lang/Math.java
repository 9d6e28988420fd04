package java.lang;

public final class Math {
	public static final double E = 2.718281828459045, PI = 3.141592653589793;
	private static java.util.Random random;

	private Math() {
	}

	public static native double sin(double x);

	public static native double cos(double x);

	public static native double tan(double x);

	public static native double asin(double x);

	public static native double acos(double x);

	public static native double atan(double x);

	public static native double exp(double x);

	public static native double log(double x);

	public static native double log10(double x);

	public static native double sqrt(double x);

	public static native double cbrt(double x);

	public static native double ceil(double x);

	public static native double floor(double x);

	public static native double rint(double x);

	public static native double pow(double x, double y);

	public static native double atan2(double x, double y);

	public static native double hypot(double x, double y);

	public static int abs(int x) {
		return x < 0 ? -x : x;
	}

	public static int max(int a, int b) {
		return a > b ? a : b;
	}

	public static int min(int a, int b) {
		return a < b ? a : b;
	}

	public static int addExact(int a, int b) {
		int r = a + b;

		if (((a ^ r) & (b ^ r)) < 0)
			throw new ArithmeticException("integer overflow");
		return r;
	}

	public static int subtractExact(int a, int b) {
		int r = a - b;

		if (((a ^ b) & (a ^ r)) < 0)
			throw new ArithmeticException("integer overflow");
		return r;
	}

	public static int floorMod(int a, int b) {
		int r = a % b;

		return r != 0 && (r ^ b) < 0 ? r + b : r;
	}

	public static int floorDiv(int a, int b) {
		int q = a / b;

		return (a ^ b) < 0 && q * b != a ? q - 1 : q;
	}

	public static long abs(long x) {
		return x < 0 ? -x : x;
	}

	public static long max(long a, long b) {
		return a > b ? a : b;
	}

	public static long min(long a, long b) {
		return a < b ? a : b;
	}

	public static long addExact(long a, long b) {
		long r = a + b;

		if (((a ^ r) & (b ^ r)) < 0)
			throw new ArithmeticException("long overflow");
		return r;
	}

	public static long subtractExact(long a, long b) {
		long r = a - b;

		if (((a ^ b) & (a ^ r)) < 0)
			throw new ArithmeticException("long overflow");
		return r;
	}

	public static long floorMod(long a, long b) {
		long r = a % b;

		return r != 0 && (r ^ b) < 0 ? r + b : r;
	}

	public static long floorDiv(long a, long b) {
		long q = a / b;

		return (a ^ b) < 0 && q * b != a ? q - 1 : q;
	}

	public static int multiplyExact(int a, int b) {
		return toIntExact((long)a * b);
	}

	public static int toIntExact(long l) {
		if ((int)l != l)
			throw new ArithmeticException("integer overflow");
		return (int)l;
	}

	public static float abs(float x) {
		return x <= 0 ? 0 - x : x;
	}

	public static float max(float a, float b) {
		return a != a ? a : a == 0 && b == 0 ? a + b : a > b ? a : b;
	}

	public static float min(float a, float b) {
		return a != a ? a : a == 0 && b == 0 ? -(-a - b) : a < b ? a : b;
	}

	public static float signum(float x) {
		return x > 0 ? 1 : x < 0 ? -1 : x;
	}

	public static double abs(double x) {
		return x <= 0 ? 0 - x : x;
	}

	public static double max(double a, double b) {
		return a != a ? a : a == 0 && b == 0 ? a + b : a > b ? a : b;
	}

	public static double min(double a, double b) {
		return a != a ? a : a == 0 && b == 0 ? -(-a - b) : a < b ? a : b;
	}

	public static double signum(double x) {
		return x > 0 ? 1 : x < 0 ? -1 : x;
	}

	public static long round(double x) {
		return (long)floor(x + 0.5);
	}

	public static int round(float x) {
		return (int)floor(x + 0.5f);
	}

	public static double toRadians(double degrees) {
		return degrees / 180 * PI;
	}

	public static double toDegrees(double radians) {
		return radians * 180 / PI;
	}

	public static synchronized double random() {
		if (random == null)
			random = new java.util.Random();
		return random.nextDouble();
	}
}
