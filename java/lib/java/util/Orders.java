package java.util;

/* The comparators of Comparator and Collections that know their reverse. */
final class Orders {
	private static final Natural NATURAL = new Natural(), REVERSE = new Natural();

	private Orders() {
	}

	static class Natural implements Comparator<Comparable<Object>>, java.io.Serializable {
		public int compare(Comparable<Object> a, Comparable<Object> b) {
			return this == NATURAL ? a.compareTo(b) : b.compareTo(a);
		}

		public Comparator<Comparable<Object>> reversed() {
			return this == NATURAL ? REVERSE : NATURAL;
		}
	}

	@SuppressWarnings("unchecked")
	static <T> Comparator<T> natural() {
		return (Comparator<T>)NATURAL;
	}

	@SuppressWarnings("unchecked")
	static <T> Comparator<T> reverse() {
		return (Comparator<T>)REVERSE;
	}

	static class Reversed<T> implements Comparator<T>, java.io.Serializable {
		private final Comparator<T> c;

		Reversed(Comparator<T> c) {
			this.c = c;
		}

		public int compare(T a, T b) {
			return c.compare(b, a);
		}

		public Comparator<T> reversed() {
			return c;
		}
	}

	/* Null: -1 is before all others, 1 behind them. Without c all others are equal. */
	static class Nulls<T> implements Comparator<T>, java.io.Serializable {
		private final int order;
		private final Comparator<T> c;

		@SuppressWarnings("unchecked")
		Nulls(int order, Comparator<? super T> c) {
			this.order = order;
			this.c = (Comparator<T>)c;
		}

		public int compare(T a, T b) {
			if (a == null || b == null)
				return a == b ? 0 : a == null ? order : -order;
			return c == null ? 0 : c.compare(a, b);
		}

		public Comparator<T> reversed() {
			return new Nulls<T>(-order, c == null ? null : c.reversed());
		}

		public Comparator<T> thenComparing(Comparator<? super T> other) {
			Objects.requireNonNull(other);
			return new Nulls<T>(order, c == null ? other : c.thenComparing(other));
		}
	}
}
