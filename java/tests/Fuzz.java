import java.io.*;
import java.util.*;

/*
 * Fuzz FILE SEED FROM COUNT [run]: changes the class file FILE at random, COUNT times, and has each changed class defined
 * and verified. A LinkageError is right: a ClassFormatError or VerifyError, or a class, field or method that is not
 * there by its new name. With `run`, a class that passes also runs; it may throw, and must not crash the machine. A
 * class that runs for ever is left behind in its thread.
 */
public class Fuzz extends ClassLoader implements Thread.UncaughtExceptionHandler {
	private final byte[] file;
	private final int name; /* where the number of its name is */

	Fuzz(String path) throws IOException {
		byte[] bytes = new byte[(int)new File(path).length()];
		FileInputStream in = new FileInputStream(path);

		for (int n = 0; n < bytes.length;)
			n += in.read(bytes, n, bytes.length - n);
		in.close();
		file = bytes;
		name = new String(toChars(bytes)).indexOf("Sample0000000") + 6;
	}

	private static char[] toChars(byte[] bytes) {
		char[] c = new char[bytes.length];

		for (int i = 0; i < c.length; i++)
			c[i] = (char)(bytes[i] & 0xff);
		return c;
	}

	private byte[] changed(Random random, int number) {
		byte[] b = file.clone();
		int n = 1 + random.nextInt(3), low = random.nextInt(3) == 0 ? 0 : b.length / 2; /* mostly code, no constants */

		for (int i = 0; i < 7; i++, number /= 10)
			b[name + 6 - i] = (byte)('0' + number % 10);
		while (n-- > 0) {
			int at = low + random.nextInt(b.length - low);
			switch (random.nextInt(6)) {
			case 0:
				b[at] = (byte)random.nextInt();
				break;
			case 1:
				b[at] ^= 1 << random.nextInt(8);
				break;
			case 2:
				b[at] += random.nextBoolean() ? 1 : -1;
				break;
			case 3:
				b[at] = b[low + random.nextInt(b.length - low)];
				break;
			case 4:
				int length = Math.min(1 + random.nextInt(8), b.length - at);
				System.arraycopy(file, low + random.nextInt(b.length - low - length), b, at, length);
				break;
			default:
				if (random.nextInt(10) == 0)
					return Arrays.copyOf(b, at);
				b[at] = (byte)(random.nextBoolean() ? 0 : 255);
			}
		}
		return b;
	}

	/* What became of it: 0 it is good, 1 a class file error, 2 a verify error, 3 another LinkageError. */
	private int attempt(byte[] bytes, boolean run) throws Exception {
		try {
			Object o = defineClass(null, bytes, 0, bytes.length).newInstance();
			if (run && o instanceof Runnable) {
				Thread runner = new Thread((Runnable)o);

				runner.setDaemon(true);
				runner.setUncaughtExceptionHandler(this);
				runner.start();
				runner.join(1000);
			}
			return 0;
		} catch (ClassFormatError e) {
			return 1;
		} catch (VerifyError e) {
			return 2;
		} catch (LinkageError e) {
			return 3;
		} catch (InstantiationException e) {
			return 0;
		} catch (RuntimeException e) {
			return 0;
		} catch (VirtualMachineError e) {
			return 0;
		}
	}

	public void uncaughtException(Thread t, Throwable e) {
		if (!(e instanceof RuntimeException || e instanceof LinkageError || e instanceof VirtualMachineError))
			System.out.println(e);
	}

	public static void main(String[] args) throws Exception {
		Fuzz fuzz = new Fuzz(args[0]);
		int seed = Integer.parseInt(args[1]), from = Integer.parseInt(args[2]), count = Integer.parseInt(args[3]);
		boolean run = args.length > 4;
		int[] results = new int[4];

		for (int i = from; i < from + count; i++) {
			byte[] bytes = fuzz.changed(new Random(seed * 1000003L + i), i + 1);
			results[fuzz.attempt(bytes, run)]++;
		}
		System.out.println("good " + results[0] + " format " + results[1] + " verify " + results[2] + " other " + results[3]);
	}
}
