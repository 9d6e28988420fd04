package java.lang;

public class Runtime {
	private static final Runtime RUNTIME = new Runtime();

	private Runtime() {
	}

	public static Runtime getRuntime() {
		return RUNTIME;
	}

	public native void gc();

	private native long memory0(int what);

	public native int availableProcessors();

	public long maxMemory() {
		return memory0(0);
	}

	public long totalMemory() {
		return memory0(1);
	}

	public long freeMemory() {
		return memory0(2);
	}

	public void exit(int status) {
		System.exit(status);
	}
}
