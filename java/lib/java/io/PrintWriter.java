package java.io;

public class PrintWriter extends Writer {
	private final Writer out;

	public PrintWriter(Writer out) {
		this.out = out;
	}

	public PrintWriter(OutputStream out) {
		this(new BufferedWriter(new OutputStreamWriter(out)));
	}

	public PrintWriter(String path) throws FileNotFoundException {
		this(new FileOutputStream(path));
	}

	private void put(String s) {
		write(s.toCharArray(), 0, s.length());
	}

	public void write(char[] chars, int at, int length) {
		try {
			out.write(chars, at, length);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	public void flush() {
		try {
			out.flush();
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	public void close() {
		try {
			out.close();
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	public PrintWriter printf(String format, Object... args) {
		put(String.format(format, args));
		return this;
	}

	public void print(String s) {
		put(String.valueOf(s));
	}

	public void println(String s) {
		put(s + "\n");
	}

	public void println() {
		put("\n");
	}

	public void print(Object x) {
		put(String.valueOf(x));
	}

	public void println(Object x) {
		put(String.valueOf(x) + "\n");
	}

	public void print(boolean x) {
		put(String.valueOf(x));
	}

	public void println(boolean x) {
		put(String.valueOf(x) + "\n");
	}

	public void print(char x) {
		put(String.valueOf(x));
	}

	public void println(char x) {
		put(String.valueOf(x) + "\n");
	}

	public void print(int x) {
		put(String.valueOf(x));
	}

	public void println(int x) {
		put(String.valueOf(x) + "\n");
	}

	public void print(long x) {
		put(String.valueOf(x));
	}

	public void println(long x) {
		put(String.valueOf(x) + "\n");
	}

	public void print(float x) {
		put(String.valueOf(x));
	}

	public void println(float x) {
		put(String.valueOf(x) + "\n");
	}

	public void print(double x) {
		put(String.valueOf(x));
	}

	public void println(double x) {
		put(String.valueOf(x) + "\n");
	}

	public void print(char[] x) {
		put(String.valueOf(x));
	}

	public void println(char[] x) {
		put(String.valueOf(x) + "\n");
	}
}
