package java.util;

import java.util.function.Supplier;

public final class Objects {
	private Objects() {
	}

	public static boolean equals(Object a, Object b) {
		return a == b || a != null && a.equals(b);
	}

	public static int hashCode(Object o) {
		return o == null ? 0 : o.hashCode();
	}

	public static int hash(Object... values) {
		return Arrays.hashCode(values);
	}

	public static String toString(Object o) {
		return String.valueOf(o);
	}

	public static <T> T requireNonNull(T o) {
		return requireNonNull(o, (String)null);
	}

	public static <T> T requireNonNull(T o, String message) {
		if (o == null)
			throw new NullPointerException(message);
		return o;
	}

	public static <T> T requireNonNull(T o, Supplier<String> message) {
		if (o == null)
			throw new NullPointerException(message.get());
		return o;
	}

	public static boolean isNull(Object o) {
		return o == null;
	}

	public static boolean nonNull(Object o) {
		return o != null;
	}
}
