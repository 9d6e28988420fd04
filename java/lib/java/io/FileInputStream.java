package java.io;

public class FileInputStream extends InputStream {
	private int fd;

	public FileInputStream(String path) throws FileNotFoundException {
		fd = File.open0(path, 0);
	}

	public FileInputStream(File file) throws FileNotFoundException {
		this(file.getPath());
	}

	public FileInputStream(int fd) {
		this.fd = fd;
	}

	public int read() throws IOException {
		byte[] b = new byte[1];

		return read(b, 0, 1) < 0 ? -1 : b[0] & 0xff;
	}

	public int read(byte[] bytes, int at, int length) throws IOException {
		if (fd < 0)
			throw new IOException("Stream Closed");
		return File.read0(fd, bytes, at, length);
	}

	public synchronized void close() throws IOException {
		if (fd >= 0)
			File.close0(fd);
		fd = -1;
	}
}
