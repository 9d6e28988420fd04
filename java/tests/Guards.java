import java.io.*;

/* What native methods must refuse, so that a program cannot bring the machine down. */
public class Guards {
	static class Twin extends Thread implements Cloneable {
		public Object clone() throws CloneNotSupportedException {
			return super.clone();
		}
	}

	static class Shy {
		private Shy() {
		}
	}

	interface Action {
		Object run() throws Throwable;
	}

	static void attempt(String what, Action action) {
		try {
			System.out.println(what + ": " + action.run());
		} catch (Throwable t) {
			System.out.println(what + ": " + t.getClass().getName());
		}
	}

	public static void main(String[] args) throws Exception {
		attempt("a thread's clone", new Action() { public Object run() throws Throwable {
			return new Twin().clone(); } });
		attempt("a Class of no class", new Action() { public Object run() throws Throwable {
			return Class.class.newInstance().getName(); } });
		attempt("a second Runtime", new Action() { public Object run() throws Throwable {
			return Runtime.class.newInstance(); } });
		attempt("another's private constructor", new Action() { public Object run() throws Throwable {
			return Shy.class.newInstance(); } });
		attempt("an int", new Action() { public Object run() throws Throwable {
			return int.class.newInstance(); } });
		attempt("an array", new Action() { public Object run() throws Throwable {
			return int[].class.newInstance(); } });
		attempt("a file's name with 0", new Action() { public Object run() throws Throwable {
			return new FileOutputStream("/tmp/guards\0.txt"); } });
		attempt("its message", new Action() { public Object run() throws Throwable {
			try {
				return new FileInputStream("/tmp\0");
			} catch (FileNotFoundException e) {
				return e.getMessage();
			}
		} });
		System.out.println(new File("/tmp/guards").exists() + " " + new File("/\0").exists() + " "
				   + new File("/\0").isDirectory() + " " + new File("/\0").list() + " "
				   + new File("/tmp/made\0").mkdir() + " " + new File("/tmp\0").renameTo(new File("/tmp/x")) + " "
				   + new File("/tmp").renameTo(new File("/tmp\0")) + " " + new File("/tmp/x\0").delete());
		attempt("a class's name with 0", new Action() { public Object run() throws Throwable {
			return Class.forName("java.lang.String\0"); } });
		attempt("a number with 0", new Action() { public Object run() {
			return Double.parseDouble("1\0002"); } });
		System.out.println(System.getenv("PATH\0") + " " + "\0".intern().length());
		Runtime r = Runtime.getRuntime();
		System.out.println((r.totalMemory() <= r.maxMemory()) + " " + (r.freeMemory() < r.totalMemory()));
		System.out.println(String.format("%f %e %.3f", Double.NaN, Double.POSITIVE_INFINITY, -1 / 0.0));
	}
}
