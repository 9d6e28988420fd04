package java.lang;

/* Letters outside of Latin-1 are letters without case. */
public final class Character implements Comparable<Character>, java.io.Serializable {
	public static final char MIN_VALUE = 0, MAX_VALUE = 0xffff;
	@SuppressWarnings("unchecked")
	public static final Class<Character> TYPE = (Class<Character>)Class.primitive0('C');
	private static final Character[] CACHE = new Character[128];

	static {
		for (int i = 0; i < 128; i++)
			CACHE[i] = new Character((char)i);
	}

	private final char value;

	public Character(char value) {
		this.value = value;
	}

	public static Character valueOf(char c) {
		return c < 128 ? CACHE[c] : new Character(c);
	}

	public char charValue() {
		return value;
	}

	public static boolean isDigit(char c) {
		return c >= '0' && c <= '9';
	}

	public static boolean isUpperCase(char c) {
		return c >= 'A' && c <= 'Z' || c >= 0xc0 && c <= 0xde && c != 0xd7;
	}

	public static boolean isLowerCase(char c) {
		return c >= 'a' && c <= 'z' || c >= 0xdf && c <= 0xff && c != 0xf7;
	}

	public static boolean isLetter(char c) {
		return isUpperCase(c) || isLowerCase(c) || c > 0xff && c < 0xd800;
	}

	public static boolean isLetterOrDigit(char c) {
		return isLetter(c) || isDigit(c);
	}

	public static boolean isWhitespace(char c) {
		return c == ' ' || c >= 9 && c <= 13 || c >= 28 && c <= 31;
	}

	public static boolean isSpaceChar(char c) {
		return c == ' ' || c == 0xa0;
	}

	public static char toUpperCase(char c) {
		return isLowerCase(c) && c != 0xdf && c != 0xff ? (char)(c - 32) : c;
	}

	public static char toLowerCase(char c) {
		return isUpperCase(c) ? (char)(c + 32) : c;
	}

	public static int digit(char c, int radix) {
		int d = isDigit(c) ? c - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : c >= 'A' && c <= 'Z' ? c - 'A' + 10 : -1;

		return d < radix ? d : -1;
	}

	public static int getNumericValue(char c) {
		return digit(c, 36);
	}

	public static char forDigit(int digit, int radix) {
		return digit < 0 || digit >= radix ? 0 : (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
	}

	public static int hashCode(char c) {
		return c;
	}

	public int hashCode() {
		return value;
	}

	public boolean equals(Object o) {
		return o instanceof Character && ((Character)o).value == value;
	}

	public int compareTo(Character o) {
		return value - o.value;
	}

	public static int compare(char a, char b) {
		return a - b;
	}

	public static String toString(char c) {
		return String.valueOf(c);
	}

	public String toString() {
		return String.valueOf(value);
	}
}
