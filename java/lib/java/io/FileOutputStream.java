package java.io;

public class FileOutputStream extends OutputStream {
	private int fd;

	public FileOutputStream(String path) throws FileNotFoundException {
		this(path, false);
	}

	public FileOutputStream(String path, boolean append) throws FileNotFoundException {
		fd = File.open0(path, append ? 2 : 1);
	}

	public FileOutputStream(File file) throws FileNotFoundException {
		this(file.getPath(), false);
	}

	public FileOutputStream(File file, boolean append) throws FileNotFoundException {
		this(file.getPath(), append);
	}

	public FileOutputStream(int fd) {
		this.fd = fd;
	}

	public void write(int b) throws IOException {
		write(new byte[] {(byte)b}, 0, 1);
	}

	public void write(byte[] bytes, int at, int length) throws IOException {
		if (fd < 0)
			throw new IOException("Stream Closed");
		File.write0(fd, bytes, at, length);
	}

	public synchronized void close() throws IOException {
		if (fd >= 0)
			File.close0(fd);
		fd = -1;
	}
}
