package java.io;

public class BufferedWriter extends Writer {
	private final Writer out;
	private final char[] chars;
	private int n;

	public BufferedWriter(Writer out) {
		this(out, 8192);
	}

	public BufferedWriter(Writer out, int size) {
		this.out = out;
		chars = new char[size];
	}

	private void empty() throws IOException {
		out.write(chars, 0, n);
		n = 0;
	}

	public synchronized void write(char[] from, int at, int length) throws IOException {
		while (length > 0) {
			int k = Math.min(length, chars.length - n);
			System.arraycopy(from, at, chars, n, k);
			n += k;
			at += k;
			length -= k;
			if (n == chars.length)
				empty();
		}
	}

	public void newLine() throws IOException {
		write("\n");
	}

	public synchronized void flush() throws IOException {
		empty();
		out.flush();
	}

	public synchronized void close() throws IOException {
		flush();
		out.close();
	}
}
