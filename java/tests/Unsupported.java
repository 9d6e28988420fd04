import java.util.Scanner;

/* What this machine does not have, each of which throws what says so. */
public class Unsupported {
	static native void call();

	public static void main(String[] args) {
		try {
			call();
		} catch (UnsatisfiedLinkError e) {
			System.out.println(e);
		}
		try {
			new Scanner("text");
		} catch (NoClassDefFoundError e) {
			System.out.println(e);
		}
	}
}
