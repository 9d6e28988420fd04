package java.lang;

public final class Byte extends Number implements Comparable<Byte> {
	public static final byte MIN_VALUE = -128, MAX_VALUE = 127;
	public static final int SIZE = 8, BYTES = 1;
	@SuppressWarnings("unchecked")
	public static final Class<Byte> TYPE = (Class<Byte>)Class.primitive0('B');
	private static final Byte[] CACHE = new Byte[256];

	static {
		for (int i = 0; i < 256; i++)
			CACHE[i] = new Byte((byte)(i - 128));
	}

	private final byte value;

	public Byte(byte value) {
		this.value = value;
	}

	/* Numbers from -128 to 127 are always the same objects. */
	public static Byte valueOf(byte value) {
		if (value >= -128 && value <= 127)
			return CACHE[(int)value + 128];
		return new Byte(value);
	}

	public static Byte valueOf(String s) {
		return valueOf(parseByte(s, 10));
	}

	public static byte parseByte(String s) {
		return parseByte(s, 10);
	}

	public static byte parseByte(String s, int radix) {
		int i = Integer.parseInt(s, radix);

		if (i < MIN_VALUE || i > MAX_VALUE)
			throw new NumberFormatException("Value out of range. Value:\"" + s + "\"");
		return (byte)i;
	}

	public static int hashCode(byte value) {
		return value;
	}

	public static String toString(byte value) {
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
		return o instanceof Byte && ((Byte)o).value == value;
	}

	public int compareTo(Byte o) {
		return compare(value, o.value);
	}

	public static int compare(byte a, byte b) {
		return a < b ? -1 : a == b ? 0 : 1;
	}

	public String toString() {
		return toString(value);
	}
}
