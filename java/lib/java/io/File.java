package java.io;

public class File implements Comparable<File> {
	public static final String separator = "/", pathSeparator = ":";
	public static final char separatorChar = '/';

	private final String path;

	public File(String path) {
		if (path.length() > 1 && path.endsWith("/"))
			path = path.substring(0, path.length() - 1);
		this.path = path;
	}

	public File(String parent, String name) {
		this(parent == null ? name : parent + "/" + name);
	}

	public File(File parent, String name) {
		this(parent == null ? name : parent.path + "/" + name);
	}

	static native int open0(String path, int how) throws FileNotFoundException;

	static native int read0(int fd, byte[] bytes, int at, int length) throws IOException;

	static native void write0(int fd, byte[] bytes, int at, int length) throws IOException;

	static native void close0(int fd);

	private static native long stat0(String path, int what);

	private static native boolean change0(String path, int what, String to);

	private static native String[] list0(String path);

	public String getPath() {
		return path;
	}

	public String getName() {
		return path.substring(path.lastIndexOf('/') + 1);
	}

	public String getParent() {
		int at = path.lastIndexOf('/');

		return at < 0 ? null : at == 0 ? "/" : path.substring(0, at);
	}

	public File getParentFile() {
		return getParent() == null ? null : new File(getParent());
	}

	public String getAbsolutePath() {
		return path.startsWith("/") ? path : System.getProperty("user.dir") + "/" + path;
	}

	public boolean exists() {
		return stat0(path, 0) != 0;
	}

	public boolean isFile() {
		return stat0(path, 0) == 1;
	}

	public boolean isDirectory() {
		return stat0(path, 0) == 2;
	}

	public long length() {
		return stat0(path, 1);
	}

	public long lastModified() {
		return stat0(path, 2);
	}

	public boolean mkdir() {
		return change0(path, 0, null);
	}

	public boolean mkdirs() {
		File parent = getParentFile();

		if (exists())
			return false;
		if (parent != null && !parent.exists())
			parent.mkdirs();
		return mkdir();
	}

	public boolean delete() {
		return change0(path, 1, null);
	}

	public boolean renameTo(File to) {
		return change0(path, 2, to.path);
	}

	public String[] list() {
		return list0(path);
	}

	public int compareTo(File other) {
		return path.compareTo(other.path);
	}

	public boolean equals(Object o) {
		return o instanceof File && ((File)o).path.equals(path);
	}

	public int hashCode() {
		return path.hashCode() ^ 1234321;
	}

	public String toString() {
		return path;
	}
}
