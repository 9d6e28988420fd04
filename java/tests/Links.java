import java.io.Serializable;
import java.util.Comparator;

/* Call sites of lambda expressions and method references, which Fuzz changes at random, and runs. */
public class Links implements Runnable {
	int total;
	long wide = 7;

	static int order(Object a, Object b) {
		return a.hashCode() - b.hashCode();
	}

	private void add(int n) {
		total += n;
	}

	Runnable adder(int n, long l, double d, String s, int[] a) {
		return () -> add(n + (int)l + (int)d + s.length() + a.length);
	}

	public void run() {
		Comparator<Object> order = Links::order;
		Comparator<String> names = String::compareTo;
		Comparable<Integer> with = Integer.valueOf(3)::compareTo;
		Comparable<Long> longs = x -> (int)(x - wide);
		Runnable made = Links::new, marked = (Runnable & Serializable)() -> add(1);

		adder(1, 2, 3, "four", new int[5]).run();
		made.run();
		marked.run();
		total += order.compare(1, 2) + names.compare("a", "b") + with.compareTo(4) + longs.compareTo(5L);
	}

	public static void main(String[] args) {
		Links links = new Links();

		links.run();
		System.out.println(links.total);
	}
}
