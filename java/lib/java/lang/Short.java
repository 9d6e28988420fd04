package java.lang;

public final class Short extends Number implements Comparable<Short> {
	public static final short MIN_VALUE = -32768, MAX_VALUE = 32767;
	public static final int SIZE = 16, BYTES = 2;
	@SuppressWarnings("unchecked")
	public static final Class<Short> TYPE = (Class<Short>)Class.primitive0('S');
	private static final Short[] CACHE = new Short[256];

	static {
		for (int i = 0; i < 256; i++)
			CACHE[i] = new Short((short)(i - 128));
	}

	private final short value;

	public Short(short value) {
		this.value = value;
	}

	/* Numbers from -128 to 127 are always the same objects. */
	public static Short valueOf(short value) {
		if (value >= -128 && value <= 127)
			return CACHE[(int)value + 128];
		return new Short(value);
	}

	public static Short valueOf(String s) {
		return valueOf(parseShort(s, 10));
	}

	public static short parseShort(String s) {
		return parseShort(s, 10);
	}

	public static short parseShort(String s, int radix) {
		int i = Integer.parseInt(s, radix);

		if (i < MIN_VALUE || i > MAX_VALUE)
			throw new NumberFormatException("Value out of range. Value:\"" + s + "\"");
		return (short)i;
	}

	public static int hashCode(short value) {
		return value;
	}

	public static String toString(short value) {
		return Integer.toString(value);
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
		return o instanceof Short && ((Short)o).value == value;
	}

	public int compareTo(Short o) {
		return compare(value, o.value);
	}

	public static int compare(short a, short b) {
		return a < b ? -1 : a == b ? 0 : 1;
	}

	public String toString() {
		return toString(value);
	}
}
