package java.lang;

public final class System {
	public static final java.io.InputStream in = new java.io.FileInputStream(0);
	public static java.io.PrintStream out = new java.io.PrintStream(new java.io.FileOutputStream(1));
	public static java.io.PrintStream err = new java.io.PrintStream(new java.io.FileOutputStream(2));

	private System() {
	}

	public static native void arraycopy(Object from, int at, Object to, int place, int length);

	public static native long currentTimeMillis();

	public static native long nanoTime();

	public static native void exit(int status);

	public static native int identityHashCode(Object o);

	public static native String getenv(String name);

	public static void gc() {
		Runtime.getRuntime().gc();
	}

	public static void setOut(java.io.PrintStream stream) {
		out = stream;
	}

	public static void setErr(java.io.PrintStream stream) {
		err = stream;
	}

	public static String lineSeparator() {
		return "\n";
	}

	public static String getProperty(String name, String other) {
		String value = getProperty(name);

		return value == null ? other : value;
	}

	public static String getProperty(String name) {
		switch (name) {
		case "line.separator":
			return "\n";
		case "file.separator":
			return "/";
		case "path.separator":
			return ":";
		case "java.version":
		case "java.specification.version":
			return "1.8";
		case "java.vendor":
		case "java.vm.name":
		case "os.name":
			return "weft";
		case "os.arch":
			return "amd64";
		case "user.dir":
			return getenv("PWD") == null ? "/" : getenv("PWD");
		}
		return null;
	}
}
