package java.io;

/* Each call writes at once, and whole: lines of several threads do not mix. */
public class PrintStream extends OutputStream {
	private final OutputStream out;
	private boolean trouble;

	public PrintStream(OutputStream out) {
		this.out = out;
	}

	public PrintStream(OutputStream out, boolean flush) {
		this(out);
	}

	public PrintStream(String path) throws FileNotFoundException {
		this(new FileOutputStream(path));
	}

	private void put(String s) {
		byte[] bytes = s.getBytes();

		write(bytes, 0, bytes.length);
	}

	public void write(int b) {
		write(new byte[] {(byte)b}, 0, 1);
	}

	public synchronized void write(byte[] bytes, int at, int length) {
		try {
			out.write(bytes, at, length);
		} catch (IOException e) {
			trouble = true;
		}
	}

	public boolean checkError() {
		return trouble;
	}

	public void flush() {
		try {
			out.flush();
		} catch (IOException e) {
			trouble = true;
		}
	}

	public void close() {
		try {
			out.close();
		} catch (IOException e) {
			trouble = true;
		}
	}

	public PrintStream printf(String format, Object... args) {
		return format(format, args);
	}

	public PrintStream format(String format, Object... args) {
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
