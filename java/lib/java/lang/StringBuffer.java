package java.lang;

/* As StringBuilder, and what several threads share is synchronized. */
public final class StringBuffer implements CharSequence, Appendable, java.io.Serializable {
	private char[] value;
	private int length;

	public StringBuffer() {
		value = new char[16];
	}

	public StringBuffer(int room) {
		value = new char[room];
	}

	public StringBuffer(String s) {
		value = new char[s.length() + 16];
		append(s);
	}

	public StringBuffer(CharSequence s) {
		this(s.toString());
	}

	private void room(int n) {
		if (value.length - length < n)
			value = java.util.Arrays.copyOf(value, Math.max(length + n, 2 * value.length));
	}

	public synchronized StringBuffer append(String s) {
		if (s == null)
			s = "null";
		room(s.length());
		s.getChars(0, s.length(), value, length);
		length += s.length();
		return this;
	}

	public synchronized StringBuffer append(char c) {
		room(1);
		value[length++] = c;
		return this;
	}

	public synchronized StringBuffer append(char[] c, int at, int n) {
		room(n);
		System.arraycopy(c, at, value, length, n);
		length += n;
		return this;
	}

	public StringBuffer append(char[] c) {
		return append(c, 0, c.length);
	}

	public StringBuffer append(CharSequence s) {
		return append(String.valueOf(s));
	}

	public StringBuffer append(CharSequence s, int from, int to) {
		return append(s.subSequence(from, to));
	}

	public StringBuffer append(Object o) {
		return append(String.valueOf(o));
	}

	public StringBuffer append(boolean b) {
		return append(String.valueOf(b));
	}

	public StringBuffer append(int i) {
		return append(Integer.toString(i));
	}

	public StringBuffer append(long l) {
		return append(Long.toString(l));
	}

	public StringBuffer append(float f) {
		return append(Float.toString(f));
	}

	public StringBuffer append(double d) {
		return append(Double.toString(d));
	}

	public synchronized StringBuffer insert(int at, String s) {
		int n = s.length();

		check(at, length + 1);
		room(n);
		System.arraycopy(value, at, value, at + n, length - at);
		s.getChars(0, n, value, at);
		length += n;
		return this;
	}

	public StringBuffer insert(int at, char c) {
		return insert(at, String.valueOf(c));
	}

	public StringBuffer insert(int at, int i) {
		return insert(at, String.valueOf(i));
	}

	public StringBuffer insert(int at, Object o) {
		return insert(at, String.valueOf(o));
	}

	public synchronized StringBuffer delete(int from, int to) {
		if (to > length)
			to = length;
		if (from < 0 || from > to)
			throw new StringIndexOutOfBoundsException(from);
		System.arraycopy(value, to, value, from, length - to);
		length -= to - from;
		return this;
	}

	public StringBuffer deleteCharAt(int at) {
		check(at, length);
		return delete(at, at + 1);
	}

	public StringBuffer replace(int from, int to, String s) {
		return delete(from, to).insert(from, s);
	}

	public synchronized StringBuffer reverse() {
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

	public synchronized int length() {
		return length;
	}

	public int capacity() {
		return value.length;
	}

	public synchronized char charAt(int at) {
		check(at, length);
		return value[at];
	}

	public synchronized void setCharAt(int at, char c) {
		check(at, length);
		value[at] = c;
	}

	public synchronized void setLength(int n) {
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

	public synchronized String toString() {
		return new String(value, 0, length);
	}
}
