package java.io;

/* To UTF-8. */
public class OutputStreamWriter extends Writer {
	private final OutputStream out;

	public OutputStreamWriter(OutputStream out) {
		this.out = out;
	}

	public synchronized void write(char[] chars, int at, int length) throws IOException {
		out.write(new String(chars, at, length).getBytes());
	}

	public void flush() throws IOException {
		out.flush();
	}

	public void close() throws IOException {
		out.close();
	}
}
