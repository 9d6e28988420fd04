package java.io;

public abstract class Writer implements Closeable, Flushable {
	public abstract void write(char[] chars, int at, int length) throws IOException;

	public abstract void flush() throws IOException;

	public abstract void close() throws IOException;

	public void write(int c) throws IOException {
		write(new char[] {(char)c}, 0, 1);
	}

	public void write(char[] chars) throws IOException {
		write(chars, 0, chars.length);
	}

	public void write(String s) throws IOException {
		write(s.toCharArray(), 0, s.length());
	}

	public void write(String s, int at, int length) throws IOException {
		write(s.substring(at, at + length));
	}

	public Writer append(CharSequence s) throws IOException {
		write(String.valueOf(s));
		return this;
	}

	public Writer append(char c) throws IOException {
		write(c);
		return this;
	}
}
