package java.lang;

public final class Integer extends Number implements Comparable<Integer> {
	public static final int MIN_VALUE = 0x80000000, MAX_VALUE = 0x7fffffff;
	public static final int SIZE = 32, BYTES = 4;
	@SuppressWarnings("unchecked")
	public static final Class<Integer> TYPE = (Class<Integer>)Class.primitive0('I');
	private static final Integer[] CACHE = new Integer[256];

	static {
		for (int i = 0; i < 256; i++)
			CACHE[i] = new Integer((int)(i - 128));
	}

	private final int value;

	public Integer(int value) {
		this.value = value;
	}

	/* Numbers from -128 to 127 are always the same objects. */
	public static Integer valueOf(int value) {
		if (value >= -128 && value <= 127)
			return CACHE[(int)value + 128];
		return new Integer(value);
	}

	public static Integer valueOf(String s) {
		return valueOf(parseInt(s, 10));
	}

	public static int parseInt(String s) {
		return parseInt(s, 10);
	}

	public static int parseInt(String s, int radix) {
		long l = s == null ? Long.MAX_VALUE : Long.parseLong(s, radix);

		if (l < MIN_VALUE || l > MAX_VALUE)
			throw new NumberFormatException("For input string: \"" + s + "\"");
		return (int)l;
	}

	public static int hashCode(int value) {
		return value;
	}

	public static String toString(int value) {
		return Long.toString(value);
	}

	public static String toString(int value, int radix) {
		return Long.toString(value, radix);
	}

	public static String toHexString(int value) {
		return Long.toUnsigned(value & 0xffffffffL, 4);
	}

	public static String toOctalString(int value) {
		return Long.toUnsigned(value & 0xffffffffL, 3);
	}

	public static String toBinaryString(int value) {
		return Long.toUnsigned(value & 0xffffffffL, 1);
	}

	public static int max(int a, int b) {
		return a > b ? a : b;
	}

	public static int min(int a, int b) {
		return a < b ? a : b;
	}

	public static int sum(int a, int b) {
		return a + b;
	}

	public static int signum(int value) {
		return value < 0 ? -1 : value == 0 ? 0 : 1;
	}

	public static int bitCount(int value) {
		return Long.bitCount(value & 0xffffffffL);
	}

	public static int numberOfLeadingZeros(int value) {
		return Long.numberOfLeadingZeros(value & 0xffffffffL) - 32;
	}

	public static int numberOfTrailingZeros(int value) {
		return value == 0 ? 32 : Long.numberOfTrailingZeros(value);
	}

	public static int highestOneBit(int value) {
		return value == 0 ? 0 : MIN_VALUE >>> numberOfLeadingZeros(value);
	}

	public static int rotateLeft(int value, int n) {
		return value << n | value >>> -n;
	}

	public static int rotateRight(int value, int n) {
		return value >>> n | value << -n;
	}

	public static int reverse(int value) {
		int r = 0;

		for (int i = 0; i < 32; i++, value >>>= 1)
			r = r << 1 | value & 1;
		return r;
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
		return o instanceof Integer && ((Integer)o).value == value;
	}

	public int compareTo(Integer o) {
		return compare(value, o.value);
	}

	public static int compare(int a, int b) {
		return a < b ? -1 : a == b ? 0 : 1;
	}

	public String toString() {
		return toString(value);
	}
}
