package java.lang;

public final class Boolean implements Comparable<Boolean>, java.io.Serializable {
	public static final Boolean TRUE = new Boolean(true), FALSE = new Boolean(false);
	@SuppressWarnings("unchecked")
	public static final Class<Boolean> TYPE = (Class<Boolean>)Class.primitive0('Z');

	private final boolean value;

	public Boolean(boolean value) {
		this.value = value;
	}

	public static Boolean valueOf(boolean value) {
		return value ? TRUE : FALSE;
	}

	public static Boolean valueOf(String s) {
		return valueOf(parseBoolean(s));
	}

	public static boolean parseBoolean(String s) {
		return s != null && s.equalsIgnoreCase("true");
	}

	public boolean booleanValue() {
		return value;
	}

	public static int hashCode(boolean value) {
		return value ? 1231 : 1237;
	}

	public int hashCode() {
		return hashCode(value);
	}

	public boolean equals(Object o) {
		return o instanceof Boolean && ((Boolean)o).value == value;
	}

	public int compareTo(Boolean o) {
		return compare(value, o.value);
	}

	public static int compare(boolean a, boolean b) {
		return a == b ? 0 : a ? 1 : -1;
	}

	public static String toString(boolean value) {
		return value ? "true" : "false";
	}

	public String toString() {
		return toString(value);
	}

	public static boolean logicalAnd(boolean a, boolean b) {
		return a & b;
	}

	public static boolean logicalOr(boolean a, boolean b) {
		return a | b;
	}

	public static boolean logicalXor(boolean a, boolean b) {
		return a ^ b;
	}
}
