package java.io;

public abstract class InputStream implements Closeable {
	public abstract int read() throws IOException;

	public int read(byte[] bytes) throws IOException {
		return read(bytes, 0, bytes.length);
	}

	public int read(byte[] bytes, int at, int length) throws IOException {
		int n = 0, c;

		while (n < length && (c = read()) >= 0)
			bytes[at + n++] = (byte)c;
		return n == 0 && length != 0 ? -1 : n;
	}

	public int available() throws IOException {
		return 0;
	}

	public void close() throws IOException {
	}
}
