import java.util.HashMap;
import java.util.Map;
import java.util.function.*;

/* A class of a program's own with a name like those that are made for lambda expressions. */
class Sites$$Lambda$1 {
	public String toString() {
		return "the program's own";
	}
}

/* Call sites at the edge: names, failures, and methods whose results are type variables. */
public class Sites {
	interface Named {
		Named get$Lambda();
	}

	interface Broken {
		Object NEVER = fail();

		static Object fail() {
			throw new IllegalStateException("broken");
		}

		default void code() {
		}

		void go();
	}

	static class Again {
		static int made;
		static final Runnable LAST = make();

		static Runnable make() {
			if (made++ < 3)
				make();
			return () -> System.out.println("made " + made);
		}
	}

	static void numbers() {
		Supplier<Integer> five = () -> 5;
		Supplier<Byte> seven = () -> (byte)7;
		Supplier<Boolean> yes = () -> true;
		Map<String, Integer> map = new HashMap<>();
		ToDoubleFunction<Map.Entry<String, Integer>> value = Map.Entry::getValue;
		LongSupplier wide = five::get;
		IntSupplier narrow = seven::get;
		BooleanSupplier truth = yes::get;

		map.put("three", 3);
		for (Map.Entry<String, Integer> e : map.entrySet())
			System.out.println(value.applyAsDouble(e));
		System.out.println(wide.getAsLong() + " " + narrow.getAsInt() + " " + truth.getAsBoolean());
	}

	/* Each attempt costs time, and no memory. */
	static void failures() {
		int failed = 0;

		for (int i = 0; i < 5000; i++)
			try {
				Broken b = () -> {};
				b.go();
			} catch (LinkageError e) {
				failed++;
			} catch (VirtualMachineError e) { /* so HotSpot */
				failed++;
			}
		System.out.println(failed);
	}

	public static void main(String[] args) {
		Named named = () -> null;

		numbers();
		System.out.println(new Sites$$Lambda$1());
		System.out.println(named.get$Lambda());
		Again.LAST.run();
		failures();
	}
}
