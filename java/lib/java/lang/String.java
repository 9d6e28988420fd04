package java.lang;

import java.util.ArrayList;
import java.util.Comparator;

public final class String implements Comparable<String>, CharSequence, java.io.Serializable {
	private final char[] value;
	private int hash;

	public static final Comparator<String> CASE_INSENSITIVE_ORDER = new Comparator<String>() {
		public int compare(String a, String b) {
			return a.compareToIgnoreCase(b);
		}
	};

	public String() {
		value = new char[0];
	}

	public String(String s) {
		value = s.value;
	}

	public String(char[] chars) {
		value = chars.clone();
	}

	public String(char[] chars, int at, int n) {
		if (at < 0 || n < 0 || at > chars.length - n)
			throw new StringIndexOutOfBoundsException(at);
		value = new char[n];
		System.arraycopy(chars, at, value, 0, n);
	}

	public String(byte[] bytes) {
		this(bytes, 0, bytes.length);
	}

	/* From UTF-8. */
	public String(byte[] bytes, int at, int n) {
		this(decode(bytes, at, n));
	}

	public String(StringBuilder s) {
		this(s.toString());
	}

	private static String decode(byte[] b, int at, int n) {
		char[] c = new char[n];
		int k = 0, end = at + n;

		while (at < end) {
			int x = b[at++] & 0xff;
			int more = x < 0x80 ? 0 : x < 0xc0 ? -1 : x < 0xe0 ? 1 : x < 0xf0 ? 2 : 3;
			if (more < 0 || end - at < more) {
				c[k++] = '\ufffd';
				continue;
			}
			if (more > 0)
				x &= 0x3f >> more;
			for (; more > 0; more--)
				x = x << 6 | b[at++] & 0x3f;
			if (x >= 0x10000) {
				c[k++] = (char)(0xd7c0 + (x >> 10));
				c[k++] = (char)(0xdc00 | x & 0x3ff);
			} else {
				c[k++] = (char)x;
			}
		}
		return new String(c, 0, k);
	}

	/* In UTF-8. */
	public byte[] getBytes() {
		char[] c = value;
		byte[] b = new byte[c.length];
		int k = 0;

		while (k < c.length && c[k] < 0x80)
			b[k] = (byte)c[k++];
		if (k == c.length)
			return b;
		for (int i = k; i < value.length; i++) {
			int x = value[i];
			if (b.length - k < 4)
				b = java.util.Arrays.copyOf(b, k + 4 + (value.length - i) * 3);
			if (x >= 0xd800 && x < 0xdc00 && i + 1 < value.length)
				x = (x - 0xd7c0 << 10) + (value[++i] & 0x3ff);
			if (x < 0x80) {
				b[k++] = (byte)x;
				continue;
			}
			if (x < 0x800) {
				b[k++] = (byte)(0xc0 | x >> 6);
			} else {
				if (x < 0x10000) {
					b[k++] = (byte)(0xe0 | x >> 12);
				} else {
					b[k++] = (byte)(0xf0 | x >> 18);
					b[k++] = (byte)(0x80 | x >> 12 & 0x3f);
				}
				b[k++] = (byte)(0x80 | x >> 6 & 0x3f);
			}
			b[k++] = (byte)(0x80 | x & 0x3f);
		}
		return k == b.length ? b : java.util.Arrays.copyOf(b, k);
	}

	public native String intern();

	public int length() {
		return value.length;
	}

	public boolean isEmpty() {
		return value.length == 0;
	}

	public char charAt(int i) {
		if (i < 0 || i >= value.length)
			throw new StringIndexOutOfBoundsException(i);
		return value[i];
	}

	public char[] toCharArray() {
		return value.clone();
	}

	public void getChars(int from, int to, char[] chars, int at) {
		System.arraycopy(value, from, chars, at, to - from);
	}

	public boolean equals(Object o) {
		return o == this || o instanceof String && java.util.Arrays.equals(value, ((String)o).value);
	}

	public boolean equalsIgnoreCase(String s) {
		return s != null && s.value.length == value.length && compareToIgnoreCase(s) == 0;
	}

	public boolean contentEquals(CharSequence s) {
		return equals(s.toString());
	}

	public int hashCode() {
		int h = hash;

		if (h == 0)
			for (int i = 0; i < value.length; i++)
				h = 31 * h + value[i];
		hash = h;
		return h;
	}

	public int compareTo(String s) {
		int n = Math.min(value.length, s.value.length);

		for (int i = 0; i < n; i++)
			if (value[i] != s.value[i])
				return value[i] - s.value[i];
		return value.length - s.value.length;
	}

	public int compareToIgnoreCase(String s) {
		return toUpperCase().toLowerCase().compareTo(s.toUpperCase().toLowerCase());
	}

	public boolean startsWith(String s, int at) {
		if (at < 0 || at > value.length - s.value.length)
			return false;
		for (int i = 0; i < s.value.length; i++)
			if (value[at + i] != s.value[i])
				return false;
		return true;
	}

	public boolean startsWith(String s) {
		return startsWith(s, 0);
	}

	public boolean endsWith(String s) {
		return startsWith(s, value.length - s.value.length);
	}

	public int indexOf(int c) {
		return indexOf(c, 0);
	}

	public int indexOf(int c, int from) {
		for (int i = Math.max(from, 0); i < value.length; i++)
			if (value[i] == c)
				return i;
		return -1;
	}

	public int lastIndexOf(int c) {
		int i = value.length - 1;

		while (i >= 0 && value[i] != c)
			i--;
		return i;
	}

	public int indexOf(String s) {
		return indexOf(s, 0);
	}

	public int indexOf(String s, int from) {
		for (int i = Math.max(from, 0); i <= value.length - s.value.length; i++)
			if (startsWith(s, i))
				return i;
		return -1;
	}

	public int lastIndexOf(String s) {
		int i = value.length - s.value.length;

		while (i >= 0 && !startsWith(s, i))
			i--;
		return i;
	}

	public boolean contains(CharSequence s) {
		return indexOf(s.toString()) >= 0;
	}

	public String substring(int from) {
		return substring(from, value.length);
	}

	public String substring(int from, int to) {
		if (from < 0 || to > value.length || from > to)
			throw new StringIndexOutOfBoundsException("begin " + from + ", end " + to + ", length "
								  + value.length);
		return new String(value, from, to - from);
	}

	public CharSequence subSequence(int from, int to) {
		return substring(from, to);
	}

	public String concat(String s) {
		return this + s;
	}

	public String trim() {
		int from = 0, to = value.length;

		while (from < to && value[from] <= ' ')
			from++;
		while (to > from && value[to - 1] <= ' ')
			to--;
		return substring(from, to);
	}

	public String replace(char a, char b) {
		char[] c = value.clone();

		for (int i = 0; i < c.length; i++)
			if (c[i] == a)
				c[i] = b;
		return new String(c);
	}

	public String replace(CharSequence from, CharSequence to) {
		StringBuilder s = new StringBuilder();
		String a = from.toString();
		int at = 0, next;

		if (a.isEmpty())
			throw new IllegalArgumentException("an empty text cannot be replaced");
		while ((next = indexOf(a, at)) >= 0) {
			s.append(value, at, next - at).append(to.toString());
			at = next + a.length();
		}
		return s.append(value, at, value.length - at).toString();
	}

	/* By one character, or a text without special characters: there are no regular expressions. */
	public String[] split(String by) {
		ArrayList<String> parts = new ArrayList<String>();
		int at = 0, next;

		if (by.equals("\\s+"))
			return words();
		if (by.length() == 2 && by.charAt(0) == '\\' && !Character.isLetterOrDigit(by.charAt(1)))
			by = by.substring(1);
		else
			for (int i = 0; i < by.length(); i++)
				if (".$|()[{^?*+\\".indexOf(by.charAt(i)) >= 0)
					throw new UnsupportedOperationException("split by a regular expression");
		if (by.isEmpty())
			throw new UnsupportedOperationException("split by nothing");
		while ((next = indexOf(by, at)) >= 0) {
			parts.add(substring(at, next));
			at = next + by.length();
		}
		parts.add(substring(at));
		while (parts.size() > 1 && parts.get(parts.size() - 1).isEmpty())
			parts.remove(parts.size() - 1);
		return parts.toArray(new String[parts.size()]);
	}

	private String[] words() {
		ArrayList<String> parts = new ArrayList<String>();
		int at = 0;

		for (int i = 0; i <= value.length; i++) {
			if (i < value.length && !Character.isWhitespace(value[i]))
				continue;
			if (i > at || i == 0)
				parts.add(substring(at, i));
			at = i + 1;
		}
		return parts.toArray(new String[parts.size()]);
	}

	public String toUpperCase() {
		char[] c = value.clone();

		for (int i = 0; i < c.length; i++)
			c[i] = Character.toUpperCase(c[i]);
		return new String(c);
	}

	public String toLowerCase() {
		char[] c = value.clone();

		for (int i = 0; i < c.length; i++)
			c[i] = Character.toLowerCase(c[i]);
		return new String(c);
	}

	public String toString() {
		return this;
	}

	public static String format(String format, Object... args) {
		return new java.util.Formatter().format(format, args).toString();
	}

	public static String join(CharSequence by, CharSequence... parts) {
		StringBuilder s = new StringBuilder();

		for (int i = 0; i < parts.length; i++)
			s.append(i == 0 ? "" : by).append(parts[i]);
		return s.toString();
	}

	public static String join(CharSequence by, Iterable<? extends CharSequence> parts) {
		StringBuilder s = new StringBuilder();

		for (CharSequence part : parts)
			s.append(s.length() == 0 ? "" : by).append(part);
		return s.toString();
	}

	public static String valueOf(Object o) {
		return o == null ? "null" : o.toString();
	}

	public static String valueOf(char[] c) {
		return new String(c);
	}

	public static String valueOf(boolean b) {
		return b ? "true" : "false";
	}

	public static String valueOf(char c) {
		return new String(new char[] {c});
	}

	public static String valueOf(int i) {
		return Integer.toString(i);
	}

	public static String valueOf(long l) {
		return Long.toString(l);
	}

	public static String valueOf(float f) {
		return Float.toString(f);
	}

	public static String valueOf(double d) {
		return Double.toString(d);
	}
}
