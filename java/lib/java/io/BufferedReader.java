package java.io;

public class BufferedReader extends Reader {
	private final Reader in;
	private final char[] chars;
	private int at, end;
	private boolean skipNewline;

	public BufferedReader(Reader in) {
		this(in, 8192);
	}

	public BufferedReader(Reader in, int size) {
		this.in = in;
		chars = new char[size];
	}

	private boolean fill() throws IOException {
		if (at < end)
			return true;
		at = 0;
		end = Math.max(in.read(chars, 0, chars.length), 0);
		return end > 0;
	}

	private void newline() throws IOException {
		if (skipNewline && fill() && chars[at] == '\n')
			at++;
		skipNewline = false;
	}

	public synchronized int read(char[] to, int from, int length) throws IOException {
		newline();
		if (length == 0)
			return 0;
		if (!fill())
			return -1;
		int n = Math.min(length, end - at);
		System.arraycopy(chars, at, to, from, n);
		at += n;
		return n;
	}

	public synchronized String readLine() throws IOException {
		StringBuilder line = null;
		char[] c = chars;

		newline();
		while (fill()) {
			int i = at, last = end;
			while (i < last && c[i] != '\n' && c[i] != '\r')
				i++;
			if (line == null)
				line = new StringBuilder();
			line.append(chars, at, i - at);
			at = i;
			if (i < end) {
				skipNewline = chars[at++] == '\r';
				break;
			}
		}
		return line == null ? null : line.toString();
	}

	public boolean ready() throws IOException {
		return at < end;
	}

	public void close() throws IOException {
		in.close();
	}
}
