package java.lang;

public final class StringBuilder implements CharSequence, Appendable, java.io.Serializable {
	private char[] value;
	private int length;

	public StringBuilder() {
		value = new char[16];
	}

	public StringBuilder(int room) {
		value = new char[room];
	}

	public StringBuilder(String s) {
		value = new char[s.length() + 16];
		append(s);
	}

	public StringBuilder(CharSequence s) {
		this(s.toString());
	}

	private void room(int n) {
		if (value.length - length < n)
			value = java.util.Arrays.copyOf(value, Math.max(length + n, 2 * value.length));
	}

	public StringBuilder append(String s) {
		if (s == null)
			s = "null";
		room(s.length());
		s.getChars(0, s.length(), value, length);
		length += s.length();
		return this;
	}

	public StringBuilder append(char c) {
		room(1);
		value[length++] = c;
		return this;
	}

	public StringBuilder append(char[] c, int at, int n) {
		room(n);
		System.arraycopy(c, at, value, length, n);
		length += n;
		return this;
	}

	public StringBuilder append(char[] c) {
		return append(c, 0, c.length);
	}

	public StringBuilder append(CharSequence s) {
		return append(String.valueOf(s));
	}

	public StringBuilder append(CharSequence s, int from, int to) {
		return append(s.subSequence(from, to));
	}

	public StringBuilder append(Object o) {
		return append(String.valueOf(o));
	}

	public StringBuilder append(boolean b) {
		return append(String.valueOf(b));
	}

	public StringBuilder append(int i) {
		return append(Integer.toString(i));
	}

	public StringBuilder append(long l) {
		return append(Long.toString(l));
	}

	public StringBuilder append(float f) {
		return append(Float.toString(f));
	}

	public StringBuilder append(double d) {
		return append(Double.toString(d));
	}

	public StringBuilder insert(int at, String s) {
		int n = s.length();

		check(at, length + 1);
		room(n);
		System.arraycopy(value, at, value, at + n, length - at);
		s.getChars(0, n, value, at);
		length += n;
		return this;
	}

	public StringBuilder insert(int at, char c) {
		return insert(at, String.valueOf(c));
	}

	public StringBuilder insert(int at, int i) {
		return insert(at, String.valueOf(i));
	}

	public StringBuilder insert(int at, Object o) {
		return insert(at, String.valueOf(o));
	}

	public StringBuilder delete(int from, int to) {
		if (to > length)
			to = length;
		if (from < 0 || from > to)
			throw new StringIndexOutOfBoundsException(from);
		System.arraycopy(value, to, value, from, length - to);
		length -= to - from;
		return this;
	}

	public StringBuilder deleteCharAt(int at) {
		check(at, length);
		return delete(at, at + 1);
	}

	public StringBuilder replace(int from, int to, String s) {
		return delete(from, to).insert(from, s);
	}

	public StringBuilder reverse() {
		for (int i = 0, k = length - 1; i < k; i++, k--) {
			char c = value[i];
			value[i] = value[k];
			value[k] = c;
		}
		return this;
	}

	private void check(int at, int end) {
		if (at < 0 || at >= end)
			throw new StringIndexOutOfBoundsException(at);
	}

	public int length() {
		return length;
	}

	public int capacity() {
		return value.length;
	}

	public char charAt(int at) {
		check(at, length);
		return value[at];
	}

	public void setCharAt(int at, char c) {
		check(at, length);
		value[at] = c;
	}

	public void setLength(int n) {
		if (n > length) {
			room(n - length);
			java.util.Arrays.fill(value, length, n, (char)0);
		}
		length = n;
	}

	public int indexOf(String s) {
		return toString().indexOf(s);
	}

	public int indexOf(String s, int from) {
		return toString().indexOf(s, from);
	}

	public int lastIndexOf(String s) {
		return toString().lastIndexOf(s);
	}

	public String substring(int from) {
		return substring(from, length);
	}

	public String substring(int from, int to) {
		return toString().substring(from, to);
	}

	public CharSequence subSequence(int from, int to) {
		return substring(from, to);
	}

	public String toString() {
		return new String(value, 0, length);
	}
}
