package java.lang;

public final class Double extends Number implements Comparable<Double> {
	public static final double POSITIVE_INFINITY = 1.0 / 0, NEGATIVE_INFINITY = -1.0 / 0, NaN = 0.0 / 0;
	public static final double MAX_VALUE = 0x1.fffffffffffffp1023, MIN_VALUE = 0x0.0000000000001p-1022;
	@SuppressWarnings("unchecked")
	public static final Class<Double> TYPE = (Class<Double>)Class.primitive0('D');

	private final double value;

	public Double(double value) {
		this.value = value;
	}

	public static Double valueOf(double value) {
		return new Double(value);
	}

	public static Double valueOf(String s) {
		return new Double(parseDouble(s));
	}

	public static native long doubleToRawLongBits(double value);

	public static native double longBitsToDouble(long bits);

	static native String toString0(double value, boolean single);

	static native String fixed0(double value, int digits, char kind);

	private static native double parse0(String s, boolean[] good);

	public static String toString(double value) {
		return toString0(value, false);
	}

	/* %f and %e. For java.util.Formatter. */
	public static String fixed(double value, int digits, boolean scientific) {
		return fixed0(value, digits, scientific ? 'e' : 'f');
	}

	public static double parseDouble(String s) {
		boolean[] good = new boolean[1];
		String text = s.trim();
		int n = text.length();
		double d;

		if (n > 1 && "fFdD".indexOf(text.charAt(n - 1)) >= 0 && "0123456789.".indexOf(text.charAt(n - 2)) >= 0)
			text = text.substring(0, n - 1);
		d = parse0(text, good);
		if (!good[0])
			throw new NumberFormatException(n == 0 ? "empty String" : "For input string: \"" + s + "\"");
		return d;
	}

	public static long doubleToLongBits(double value) {
		return value != value ? 0x7ff8000000000000L : doubleToRawLongBits(value);
	}

	public static boolean isNaN(double value) {
		return value != value;
	}

	public static boolean isInfinite(double value) {
		return value == POSITIVE_INFINITY || value == NEGATIVE_INFINITY;
	}

	public boolean isNaN() {
		return isNaN(value);
	}

	public boolean isInfinite() {
		return isInfinite(value);
	}

	public int intValue() {
		return (int)value;
	}

	public long longValue() {
		return (long)value;
	}

	public float floatValue() {
		return (float)value;
	}

	public double doubleValue() {
		return value;
	}

	public static int hashCode(double value) {
		return Long.hashCode(doubleToLongBits(value));
	}

	public int hashCode() {
		return hashCode(value);
	}

	public boolean equals(Object o) {
		return o instanceof Double && doubleToLongBits(((Double)o).value) == doubleToLongBits(value);
	}

	public int compareTo(Double o) {
		return compare(value, o.value);
	}

	public static int compare(double a, double b) {
		return a < b ? -1 : a > b ? 1 : Long.compare(doubleToLongBits(a), doubleToLongBits(b));
	}

	public static double max(double a, double b) {
		return Math.max(a, b);
	}

	public static double min(double a, double b) {
		return Math.min(a, b);
	}

	public static double sum(double a, double b) {
		return a + b;
	}

	public String toString() {
		return toString(value);
	}
}
