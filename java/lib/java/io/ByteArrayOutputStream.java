package java.io;

public class ByteArrayOutputStream extends OutputStream {
	private byte[] bytes = new byte[32];
	private int size;

	public synchronized void write(int b) {
		if (size == bytes.length)
			bytes = java.util.Arrays.copyOf(bytes, 2 * size);
		bytes[size++] = (byte)b;
	}

	public synchronized byte[] toByteArray() {
		return java.util.Arrays.copyOf(bytes, size);
	}

	public synchronized int size() {
		return size;
	}

	public synchronized void reset() {
		size = 0;
	}

	public synchronized String toString() {
		return new String(bytes, 0, size);
	}
}
