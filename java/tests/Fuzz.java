import java.io.*;
import java.util.*;

/*
 * Fuzz SEED FROM COUNT FILE...: changes class files at random, COUNT times, each file in its turn, and has each changed
 * class defined, verified and initialised. A LinkageError is right: a ClassFormatError or VerifyError, or a class, field or
 * method that is not there by its new name. With `run` before SEED a class that passes also runs, if it is a Runnable
 * without arguments; it may throw, and must not crash the machine. A class that runs for ever is left behind in its
 * thread. With `each` a line tells of each change, to compare two machines.
 *
 * The machine keeps each class that it has defined. So the name of the class, which stands in several constants, becomes
 * a new one before each change.
 */
public class Fuzz extends ClassLoader {
	static final String[] KINDS = {"good", "format", "verify", "other"};

	/* A class file, cut at the places where its own name is. */
	private static class Sample {
		final ArrayList<byte[]> parts = new ArrayList<byte[]>();
		final String file;
		final ArrayList<int[]> code = new ArrayList<int[]>(); /* as places before the end, and lengths */

		Sample(String file) throws IOException {
			byte[] b = new byte[(int)new File(file).length()];
			FileInputStream in = new FileInputStream(file);

			for (int n = 0; n < b.length;)
				n += in.read(b, n, b.length - n);
			in.close();
			this.file = file;
			cut(b);
		}

		private static int u2(byte[] b, int at) {
			return (b[at] & 0xff) << 8 | b[at + 1] & 0xff;
		}

		/* Texts of the pool that are the name, or a descriptor with it, become the odd parts, with a 0 for the name. */
		private void cut(byte[] b) {
			int n = u2(b, 8), at = 10, done = 0;
			int[] where = new int[n];

			for (int i = 1; i < n; i++) {
				where[i] = at;
				switch (b[at]) {
				case 1:
					at += 3 + u2(b, at + 1);
					break;
				case 5:
				case 6:
					i++;
					at += 9;
					break;
				case 7:
				case 8:
				case 16:
					at += 3;
					break;
				case 15:
					at += 4;
					break;
				default:
					at += 5;
				}
			}
			members(b, at, where);
			String name = text(b, where[u2(b, where[u2(b, at + 2)] + 1)]);
			for (int i = 1; i < n; i++) {
				if (where[i] == 0 || b[where[i]] != 1)
					continue;
				String s = text(b, where[i]), as = s.equals(name) ? "\0" : s.replace("L" + name + ";", "L\0;");
				if (as.equals(s))
					continue;
				parts.add(copy(b, done, where[i]));
				parts.add(as.getBytes());
				done = where[i] + 3 + s.getBytes().length;
			}
			parts.add(copy(b, done, b.length));
		}

		/* Where the instructions of each method are, twice, and once with its handlers and maps; and the bootstrap methods. */
		private void members(byte[] b, int at, int[] where) {
			at += 8 + 2 * u2(b, at + 6);
			for (int kind = 0; kind < 2; kind++) {
				int n = u2(b, at);
				at += 2;
				while (n-- > 0)
					at = attributes(b, at + 6, where);
			}
			attributes(b, at, where);
		}

		/* Returns where they end. */
		private int attributes(byte[] b, int at, int[] where) {
			int n = u2(b, at);

			at += 2;
			while (n-- > 0) {
				int length = u2(b, at + 2) << 16 | u2(b, at + 4);
				String name = text(b, where[u2(b, at)]);
				if (name.equals("Code")) {
					code.add(new int[] {b.length - at - 14, u2(b, at + 12)});
					code.add(code.get(code.size() - 1));
				}
				if (name.equals("Code") || name.equals("BootstrapMethods"))
					code.add(new int[] {b.length - at - 6, length});
				at += 6 + length;
			}
			return at;
		}

		private static byte[] copy(byte[] b, int from, int to) {
			byte[] part = new byte[to - from];

			System.arraycopy(b, from, part, 0, to - from);
			return part;
		}

		private static String text(byte[] b, int at) {
			return new String(copy(b, at + 3, at + 3 + u2(b, at + 1)));
		}

		/* The file with another name of the class. */
		byte[] named(String name) {
			ByteArrayOutputStream out = new ByteArrayOutputStream();

			for (int i = 0; i < parts.size(); i++) {
				byte[] b = parts.get(i);
				if (i % 2 == 1) {
					b = new String(b).replace("\0", name).getBytes();
					out.write(1);
					out.write(b.length >> 8);
					out.write(b.length);
				}
				out.write(b, 0, b.length);
			}
			return out.toByteArray();
		}
	}

	/* Mostly in the code of methods. */
	private static byte[] change(Random random, byte[] b, Sample sample) {
		byte[] old = b.clone();
		int n = 1 + random.nextInt(3);

		while (n-- > 0) {
			int low = 0, high = b.length;
			if (!sample.code.isEmpty() && random.nextInt(8) != 0) {
				int[] code = sample.code.get(random.nextInt(sample.code.size()));
				low = b.length - code[0];
				high = low + code[1];
			}
			int at = low + random.nextInt(high - low);
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
				b[at] = b[low + random.nextInt(high - low)];
				break;
			case 4:
				int length = Math.min(1 + random.nextInt(8), high - at);
				System.arraycopy(old, low + random.nextInt(high - low - length + 1), b, at, length);
				break;
			default:
				if (random.nextInt(10) == 0)
					return Arrays.copyOf(b, at);
				b[at] = (byte)(random.nextBoolean() ? 0 : 255);
			}
		}
		return b;
	}

	/* What became of it: an index of KINDS. */
	private int attempt(byte[] bytes, boolean run) {
		try {
			Class<?> c = defineClass(null, bytes, 0, bytes.length);
			Class.forName(c.getName(), true, this);
			Object o = run ? c.newInstance() : null;
			if (o instanceof Runnable)
				((Runnable)o).run();
			return 0;
		} catch (ClassFormatError e) {
			return 1;
		} catch (VerifyError e) {
			return 2;
		} catch (ExceptionInInitializerError e) {
			return 0;
		} catch (LinkageError e) {
			return 3;
		} catch (ReflectiveOperationException e) {
			return 0;
		} catch (RuntimeException e) {
			return 0;
		} catch (VirtualMachineError e) {
			return 0;
		}
	}

	private int limited(final byte[] bytes, final boolean run) throws InterruptedException {
		final int[] result = new int[1];
		Thread runner = new Thread() {
			public void run() {
				result[0] = attempt(bytes, run);
			}
		};

		runner.setDaemon(true);
		runner.start();
		runner.join(1000);
		return result[0];
	}

	public static void main(String[] args) throws Exception {
		boolean run = args[0].equals("run"), each = args[0].equals("each");
		int i = run || each ? 1 : 0;
		int seed = Integer.parseInt(args[i]), from = Integer.parseInt(args[i + 1]), count = Integer.parseInt(args[i + 2]);
		ArrayList<Sample> samples = new ArrayList<Sample>();
		int[] results = new int[4];
		Fuzz fuzz = new Fuzz();

		for (i += 3; i < args.length; i++)
			samples.add(new Sample(args[i]));
		for (i = from; i < from + count; i++) {
			Sample sample = samples.get(i % samples.size());
			byte[] bytes = change(new Random(seed * 1000003L + i), sample.named("Changed" + i), sample);
			int result = fuzz.limited(bytes, run);
			results[result]++;
			if (each)
				System.out.println(i + " " + sample.file + " " + KINDS[result]);
		}
		String line = "";
		for (i = 0; i < 4; i++)
			line += (i == 0 ? "" : " ") + KINDS[i] + " " + results[i];
		System.out.println(line);
	}
}
