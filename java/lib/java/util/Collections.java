package java.util;

public final class Collections {
	private Collections() {
	}

	public static <T extends Comparable<? super T>> void sort(List<T> list) {
		list.sort(null);
	}

	public static <T> void sort(List<T> list, Comparator<? super T> c) {
		list.sort(c);
	}

	public static void reverse(List<?> list) {
		for (int i = 0, k = list.size() - 1; i < k; i++, k--)
			swap(list, i, k);
	}

	@SuppressWarnings("unchecked")
	public static void swap(List<?> list, int i, int k) {
		List<Object> l = (List<Object>)list;

		l.set(i, l.set(k, l.get(i)));
	}

	public static void shuffle(List<?> list, Random random) {
		for (int i = list.size(); i > 1; i--)
			swap(list, i - 1, random.nextInt(i));
	}

	public static void shuffle(List<?> list) {
		shuffle(list, new Random());
	}

	public static <T extends Object & Comparable<? super T>> T max(Collection<? extends T> c) {
		Iterator<? extends T> i = c.iterator();
		T best = i.next();

		while (i.hasNext()) {
			T e = i.next();
			if (e.compareTo(best) > 0)
				best = e;
		}
		return best;
	}

	public static <T extends Object & Comparable<? super T>> T min(Collection<? extends T> c) {
		Iterator<? extends T> i = c.iterator();
		T best = i.next();

		while (i.hasNext()) {
			T e = i.next();
			if (e.compareTo(best) < 0)
				best = e;
		}
		return best;
	}

	public static <T> List<T> emptyList() {
		return new ArrayList<T>(0);
	}

	public static <T> List<T> singletonList(T o) {
		ArrayList<T> list = new ArrayList<T>(1);

		list.add(o);
		return list;
	}

	public static <T> Comparator<T> reverseOrder() {
		return Orders.reverse();
	}

	public static <T> Comparator<T> reverseOrder(Comparator<T> c) {
		return c == null ? Orders.<T>reverse() : new Orders.Reversed<T>(c);
	}

	@SafeVarargs
	public static <T> boolean addAll(Collection<? super T> c, T... elements) {
		boolean changed = false;

		for (T e : elements)
			changed |= c.add(e);
		return changed;
	}
}
