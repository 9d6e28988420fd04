package java.util;

public class Date {
	private final long time;

	public Date() {
		this(System.currentTimeMillis());
	}

	public Date(long time) {
		this.time = time;
	}

	public long getTime() {
		return time;
	}

	public String toString() {
		return time + " ms since 1970";
	}
}
