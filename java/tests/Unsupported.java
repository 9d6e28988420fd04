import java.util.Optional;

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
			Optional.empty();
		} catch (NoClassDefFoundError e) {
			System.out.println(e);
		}
		Runnable lambda = () -> System.out.println("a lambda expression");
		lambda.run();
	}
}
