package java.util;

/* The generator that Java's documentation gives, with the same numbers for a seed. */
public class Random {
	private long seed;

	public Random() {
		this(System.nanoTime());
	}

	public Random(long seed) {
		setSeed(seed);
	}

	public synchronized void setSeed(long seed) {
		this.seed = (seed ^ 0x5deece66dL) & (1L << 48) - 1;
	}

	protected synchronized int next(int bits) {
		seed = seed * 0x5deece66dL + 0xb & (1L << 48) - 1;
		return (int)(seed >>> 48 - bits);
	}

	public int nextInt() {
		return next(32);
	}

	public int nextInt(int bound) {
		int bits, value;

		if (bound <= 0)
			throw new IllegalArgumentException("bound must be positive");
		if ((bound & -bound) == bound)
			return (int)(bound * (long)next(31) >> 31);
		do {
			bits = next(31);
			value = bits % bound;
		} while (bits - value + (bound - 1) < 0);
		return value;
	}

	public long nextLong() {
		return ((long)next(32) << 32) + next(32);
	}

	public boolean nextBoolean() {
		return next(1) != 0;
	}

	public float nextFloat() {
		return next(24) / (float)(1 << 24);
	}

	public double nextDouble() {
		return (((long)next(26) << 27) + next(27)) / (double)(1L << 53);
	}
}
