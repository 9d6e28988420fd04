package java.lang;

public class Throwable implements java.io.Serializable {
	private String message;
	private Throwable cause;
	private Object trace; /* addresses of methods and places in their code, as an array of long */
	private java.util.ArrayList<Throwable> suppressed;
	private StackTraceElement[] elements;

	public Throwable() {
		fillInStackTrace();
	}

	public Throwable(String message) {
		fillInStackTrace();
		this.message = message;
	}

	public Throwable(String message, Throwable cause) {
		fillInStackTrace();
		this.message = message;
		this.cause = cause;
	}

	public Throwable(Throwable cause) {
		fillInStackTrace();
		this.cause = cause;
		message = cause == null ? null : cause.toString();
	}

	private native Object trace0();

	private static native String traceText(long method, int what);

	private static native int traceLine(long method, long pc);

	public synchronized Throwable fillInStackTrace() {
		trace = trace0();
		elements = null;
		return this;
	}

	public String getMessage() {
		return message;
	}

	public String getLocalizedMessage() {
		return getMessage();
	}

	public synchronized Throwable getCause() {
		return cause;
	}

	public synchronized Throwable initCause(Throwable cause) {
		if (this.cause != null)
			throw new IllegalStateException("the cause is known already");
		if (cause == this)
			throw new IllegalArgumentException("self-causation not permitted");
		this.cause = cause;
		return this;
	}

	public final synchronized void addSuppressed(Throwable t) {
		if (suppressed == null)
			suppressed = new java.util.ArrayList<Throwable>();
		suppressed.add(t);
	}

	public final synchronized Throwable[] getSuppressed() {
		if (suppressed == null)
			return new Throwable[0];
		return suppressed.toArray(new Throwable[suppressed.size()]);
	}

	public synchronized StackTraceElement[] getStackTrace() {
		long[] t = (long[])trace;

		if (elements != null)
			return elements;
		elements = new StackTraceElement[t == null ? 0 : t.length / 2];
		for (int i = 0; i < elements.length; i++)
			elements[i] = new StackTraceElement(traceText(t[2 * i], 0), traceText(t[2 * i], 1),
							    traceText(t[2 * i], 2),
							    traceLine(t[2 * i], t[2 * i + 1]));
		return elements;
	}

	public void setStackTrace(StackTraceElement[] elements) {
		this.elements = elements.clone();
	}

	public String toString() {
		String s = getClass().getName(), m = getLocalizedMessage();

		return m == null ? s : s + ": " + m;
	}

	public void printStackTrace() {
		printStackTrace(System.err);
	}

	public void printStackTrace(java.io.PrintStream out) {
		StringBuilder s = new StringBuilder();

		describe(s, "", "", null);
		out.print(s.toString());
	}

	/* With "... n more" for the frames that an outer exception has too. */
	private void describe(StringBuilder s, String indent, String caption, StackTraceElement[] outer) {
		StackTraceElement[] mine = getStackTrace();
		int n = mine.length, same = 0;

		while (outer != null && same < n && same < outer.length &&
		       mine[n - 1 - same].equals(outer[outer.length - 1 - same]))
			same++;
		s.append(indent).append(caption).append(this).append('\n');
		for (int i = 0; i < n - same; i++)
			s.append(indent).append("\tat ").append(mine[i]).append('\n');
		if (same != 0)
			s.append(indent).append("\t... ").append(same).append(" more\n");
		for (int i = 0; suppressed != null && i < suppressed.size(); i++)
			suppressed.get(i).describe(s, indent + "\t", "Suppressed: ", mine);
		if (getCause() != null)
			getCause().describe(s, indent, "Caused by: ", mine);
	}

	/* The machine calls this at the end of a thread that has not handled the exception. */
	private void uncaught() {
		Thread.current().uncaught(this);
	}
}
