package java.io;

public abstract class Reader implements Closeable {
	public abstract int read(char[] chars, int at, int length) throws IOException;

	public abstract void close() throws IOException;

	public int read() throws IOException {
		char[] c = new char[1];

		return read(c, 0, 1) < 0 ? -1 : c[0];
	}

	public int read(char[] chars) throws IOException {
		return read(chars, 0, chars.length);
	}
}
