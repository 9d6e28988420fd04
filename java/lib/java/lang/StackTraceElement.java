package java.lang;

public final class StackTraceElement {
	private final String className, methodName, fileName;
	private final int line; /* -1: unknown, -2: a native method */

	public StackTraceElement(String className, String methodName, String fileName, int line) {
		this.className = className;
		this.methodName = methodName;
		this.fileName = fileName;
		this.line = line;
	}

	public String getClassName() {
		return className;
	}

	public String getMethodName() {
		return methodName;
	}

	public String getFileName() {
		return fileName;
	}

	public int getLineNumber() {
		return line;
	}

	public boolean isNativeMethod() {
		return line == -2;
	}

	public boolean equals(Object o) {
		if (!(o instanceof StackTraceElement))
			return false;
		StackTraceElement e = (StackTraceElement)o;
		return line == e.line && className.equals(e.className) && methodName.equals(e.methodName);
	}

	public int hashCode() {
		return 31 * className.hashCode() + methodName.hashCode() + line;
	}

	public String toString() {
		String place = line == -2 ? "Native Method" : fileName == null ? "Unknown Source" : fileName;

		return className + "." + methodName + "(" + place + (fileName != null && line >= 0 ? ":" + line : "") + ")";
	}
}
