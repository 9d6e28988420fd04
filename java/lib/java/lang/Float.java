package java.lang;

public final class Float extends Number implements Comparable<Float> {
	public static final float POSITIVE_INFINITY = 1.0f / 0, NEGATIVE_INFINITY = -1.0f / 0, NaN = 0.0f / 0;
	public static final float MAX_VALUE = 0x1.fffffep127f, MIN_VALUE = 0x0.000002p-126f;
	@SuppressWarnings("unchecked")
	public static final Class<Float> TYPE = (Class<Float>)Class.primitive0('F');

	private final float value;

	public Float(float value) {
		this.value = value;
	}

	public static Float valueOf(float value) {
		return new Float(value);
	}

	public static Float valueOf(String s) {
		return new Float(parseFloat(s));
	}

	public static native int floatToRawIntBits(float value);

	public static native float intBitsToFloat(int bits);

	public static String toString(float value) {
		return Double.toString0(value, true);
	}

	public static float parseFloat(String s) {
		return (float)Double.parseDouble(s);
	}

	public static int floatToIntBits(float value) {
		return value != value ? 0x7fc00000 : floatToRawIntBits(value);
	}

	public static boolean isNaN(float value) {
		return value != value;
	}

	public static boolean isInfinite(float value) {
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

	public static int hashCode(float value) {
		return Integer.hashCode(floatToIntBits(value));
	}

	public int hashCode() {
		return hashCode(value);
	}

	public boolean equals(Object o) {
		return o instanceof Float && floatToIntBits(((Float)o).value) == floatToIntBits(value);
	}

	public int compareTo(Float o) {
		return compare(value, o.value);
	}

	public static int compare(float a, float b) {
		return a < b ? -1 : a > b ? 1 : Integer.compare(floatToIntBits(a), floatToIntBits(b));
	}

	public static float max(float a, float b) {
		return Math.max(a, b);
	}

	public static float min(float a, float b) {
		return Math.min(a, b);
	}

	public static float sum(float a, float b) {
		return a + b;
	}

	public String toString() {
		return toString(value);
	}
}
