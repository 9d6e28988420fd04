package java.lang;

public final class Long extends Number implements Comparable<Long> {
	public static final long MIN_VALUE = 0x8000000000000000L, MAX_VALUE = 0x7fffffffffffffffL;
	public static final int SIZE = 64, BYTES = 8;
	@SuppressWarnings("unchecked")
	public static final Class<Long> TYPE = (Class<Long>)Class.primitive0('J');
	private static final Long[] CACHE = new Long[256];

	static {
		for (int i = 0; i < 256; i++)
			CACHE[i] = new Long((long)(i - 128));
	}

	private final long value;

	public Long(long value) {
		this.value = value;
	}

	/* Numbers from -128 to 127 are always the same objects. */
	public static Long valueOf(long value) {
		if (value >= -128 && value <= 127)
			return CACHE[(int)value + 128];
		return new Long(value);
	}

	public static Long valueOf(String s) {
		return valueOf(parseLong(s, 10));
	}

	public static long parseLong(String s) {
		return parseLong(s, 10);
	}

	public static long parseLong(String s, int radix) {
		boolean negative = s != null && s.startsWith("-");
		int at = negative || s != null && s.startsWith("+") ? 1 : 0;
		long value = 0, least = negative ? MIN_VALUE : -MAX_VALUE;

		if (s == null)
			throw new NumberFormatException("null");
		if (s.length() == at)
			throw new NumberFormatException("For input string: \"" + s + "\"");
		for (; at < s.length(); at++) {
			int digit = Character.digit(s.charAt(at), radix);
			if (digit < 0 || value < least / radix || value * radix < least + digit)
				throw new NumberFormatException("For input string: \"" + s + "\"");
			value = value * radix - digit;
		}
		return negative ? value : -value;
	}

	public static int hashCode(long value) {
		return (int)(value ^ value >>> 32);
	}

	public static String toString(long value) {
		return toString(value, 10);
	}

	public static String toString(long value, int radix) {
		char[] c = new char[65];
		int at = 65;
		long v = value < 0 ? value : -value;

		if (radix < 2 || radix > 36)
			radix = 10;
		do {
			c[--at] = Character.forDigit((int)-(v % radix), radix);
			v /= radix;
		} while (v != 0);
		if (value < 0)
			c[--at] = '-';
		return new String(c, at, 65 - at);
	}

	static String toUnsigned(long value, int bits) {
		char[] c = new char[64];
		int at = 64;

		do {
			c[--at] = Character.forDigit((int)value & (1 << bits) - 1, 16);
			value >>>= bits;
		} while (value != 0);
		return new String(c, at, 64 - at);
	}

	public static String toHexString(long value) {
		return toUnsigned(value, 4);
	}

	public static String toOctalString(long value) {
		return toUnsigned(value, 3);
	}

	public static String toBinaryString(long value) {
		return toUnsigned(value, 1);
	}

	public static long max(long a, long b) {
		return a > b ? a : b;
	}

	public static long min(long a, long b) {
		return a < b ? a : b;
	}

	public static long sum(long a, long b) {
		return a + b;
	}

	public static int signum(long value) {
		return value < 0 ? -1 : value == 0 ? 0 : 1;
	}

	public static int bitCount(long value) {
		int n = 0;

		for (; value != 0; value &= value - 1)
			n++;
		return n;
	}

	public static int numberOfLeadingZeros(long value) {
		int n = 0;

		while (n < 64 && value << n >= 0)
			n++;
		return n;
	}

	public static int numberOfTrailingZeros(long value) {
		int n = 0;

		while (n < 64 && (value >>> n & 1) == 0)
			n++;
		return n;
	}

	public int intValue() {
		return (int)value;
	}

	public long longValue() {
		return value;
	}

	public float floatValue() {
		return value;
	}

	public double doubleValue() {
		return value;
	}

	public byte byteValue() {
		return (byte)value;
	}

	public short shortValue() {
		return (short)value;
	}

	public int hashCode() {
		return hashCode(value);
	}

	public boolean equals(Object o) {
		return o instanceof Long && ((Long)o).value == value;
	}

	public int compareTo(Long o) {
		return compare(value, o.value);
	}

	public static int compare(long a, long b) {
		return a < b ? -1 : a == b ? 0 : 1;
	}

	public String toString() {
		return toString(value);
	}
}
