package java.lang;

public final class Class<T> {
	private long vm; /* the machine's struct class */
	private String name;

	private Class() {
	}

	private native String getName0();

	private native int flags0();

	private static native Class<?> forName0(String name, boolean initialize);

	private native Object newInstance0();

	static native Class<?> primitive0(char letter);

	public native Class<? super T> getSuperclass();

	public native Class<?> getComponentType();

	public native boolean isAssignableFrom(Class<?> c);

	public native boolean isInstance(Object o);

	private native Object[] constants0();

	@SuppressWarnings("unchecked")
	public T[] getEnumConstants() {
		return (T[])constants0();
	}

	public static Class<?> forName(String name) throws ClassNotFoundException {
		return forName(name, true, null);
	}

	public static Class<?> forName(String name, boolean initialize, ClassLoader loader)
			throws ClassNotFoundException {
		Class<?> c = forName0(name, initialize);

		if (c == null)
			throw new ClassNotFoundException(name);
		return c;
	}

	public String getName() {
		if (name == null)
			name = getName0();
		return name;
	}

	public String getSimpleName() {
		if (isArray())
			return getComponentType().getSimpleName() + "[]";
		String s = getName();
		int at = Math.max(s.lastIndexOf('.'), s.lastIndexOf('$')) + 1;
		while (at < s.length() && Character.isDigit(s.charAt(at)))
			at++;
		return s.substring(at);
	}

	public boolean isInterface() {
		return (flags0() & 0x200) != 0;
	}

	public boolean isArray() {
		return (flags0() & 0x10000) != 0;
	}

	public boolean isPrimitive() {
		return (flags0() & 0x20000) != 0;
	}

	public int getModifiers() {
		return flags0() & 0xffff;
	}

	@SuppressWarnings("unchecked")
	public T newInstance() throws InstantiationException, IllegalAccessException {
		Object o = newInstance0();

		if (o == null)
			throw new InstantiationException(getName());
		return (T)o;
	}

	@SuppressWarnings("unchecked")
	public T cast(Object o) {
		if (o != null && !isInstance(o))
			throw new ClassCastException(o.getClass().getName() + " cannot be cast to " + getName());
		return (T)o;
	}

	public boolean desiredAssertionStatus() {
		return false;
	}

	public String toString() {
		return (isInterface() ? "interface " : isPrimitive() ? "" : "class ") + getName();
	}
}
