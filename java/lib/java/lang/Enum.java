package java.lang;

public abstract class Enum<E extends Enum<E>> implements Comparable<E>, java.io.Serializable {
	private final String name;
	private final int ordinal;

	protected Enum(String name, int ordinal) {
		this.name = name;
		this.ordinal = ordinal;
	}

	public final String name() {
		return name;
	}

	public final int ordinal() {
		return ordinal;
	}

	public final int compareTo(E other) {
		return ordinal - ((Enum<?>)other).ordinal;
	}

	public final int hashCode() {
		return super.hashCode();
	}

	public final boolean equals(Object other) {
		return this == other;
	}

	@SuppressWarnings("unchecked")
	public final Class<E> getDeclaringClass() {
		Class<?> c = getClass();

		return (Class<E>)(c.getSuperclass() == (Class<?>)Enum.class ? c : c.getSuperclass());
	}

	public static <T extends Enum<T>> T valueOf(Class<T> c, String name) {
		for (T constant : c.getEnumConstants())
			if (constant.name().equals(name))
				return constant;
		throw new IllegalArgumentException("No enum constant " + c.getName() + "." + name);
	}

	public String toString() {
		return name;
	}
}
