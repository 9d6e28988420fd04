package java.io;

/* From UTF-8. */
public class InputStreamReader extends Reader {
	private final InputStream in;
	private final byte[] bytes = new byte[4096];
	private int at, end;
	private int second; /* of a pair of surrogates, or 0 */

	public InputStreamReader(InputStream in) {
		this.in = in;
	}

	private int next() throws IOException {
		if (at == end) {
			at = 0;
			end = Math.max(in.read(bytes, 0, bytes.length), 0);
			if (end == 0)
				return -1;
		}
		return bytes[at++] & 0xff;
	}

	private int unit() throws IOException {
		int c = second, more;

		second = 0;
		if (c != 0)
			return c;
		c = next();
		if (c < 0x80)
			return c;
		more = c < 0xc0 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
		if (more == 0)
			return 0xfffd;
		c &= 0x3f >> more;
		for (; more > 0; more--) {
			int b = next();
			if (b < 0)
				return 0xfffd;
			c = c << 6 | b & 0x3f;
		}
		if (c < 0x10000)
			return c;
		second = 0xdc00 | c & 0x3ff;
		return 0xd7c0 + (c >> 10);
	}

	/* As many characters of one byte as come next; how many. */
	private int ascii(char[] chars, int from, int length) {
		byte[] b = bytes;
		int i = at, last = Math.min(end, at + length);

		while (i < last && b[i] >= 0)
			chars[from++] = (char)b[i++];
		length = i - at;
		at = i;
		return length;
	}

	public synchronized int read(char[] chars, int from, int length) throws IOException {
		int n = 0, c;

		while (n < length) {
			if (second == 0)
				n += ascii(chars, from + n, length - n);
			if (n == length)
				break;
			if (n > 0 && at == end && second == 0) /* do not wait for more than there is */
				break;
			c = unit();
			if (c < 0)
				break;
			chars[from + n++] = (char)c;
		}
		return n == 0 && length != 0 ? -1 : n;
	}

	public void close() throws IOException {
		in.close();
	}
}
