package java.util;

/* %d %x %o %c %s %b %f %e %n %%, with a width and the flags - 0 + , and a space, and a precision for %f, %e and %s. */
public final class Formatter {
	private final StringBuilder out;

	public Formatter() {
		this(new StringBuilder());
	}

	public Formatter(StringBuilder out) {
		this.out = out;
	}

	public Formatter format(String format, Object... args) {
		int next = 0, n = format.length();

		for (int i = 0; i < n; i++) {
			char c = format.charAt(i);
			if (c != '%') {
				out.append(c);
				continue;
			}
			String flags = "";
			int width = -1, precision = -1;
			while (++i < n && "-0+, #(".indexOf(format.charAt(i)) >= 0)
				flags += format.charAt(i);
			for (; i < n && Character.isDigit(format.charAt(i)); i++)
				width = Math.max(width, 0) * 10 + format.charAt(i) - '0';
			if (i < n && format.charAt(i) == '.')
				for (precision = 0; ++i < n && Character.isDigit(format.charAt(i));)
					precision = precision * 10 + format.charAt(i) - '0';
			if (i >= n)
				throw new IllegalArgumentException("a format that ends in the middle: " + format);
			c = format.charAt(i);
			if (c == 'n' || c == '%') {
				out.append(c == 'n' ? '\n' : '%');
				continue;
			}
			if (next >= args.length)
				throw new IllegalArgumentException("Format specifier '%" + c + "'");
			pad(convert(c, args[next++], flags, precision), width, flags);
		}
		return this;
	}

	private static boolean has(String flags, char flag) {
		return flags.indexOf(flag) >= 0;
	}

	private String convert(char c, Object o, String flags, int precision) {
		String s;

		switch (c) {
		case 'd':
			return o == null ? "null" : sign(((Number)o).longValue() + "", flags);
		case 'x':
		case 'X':
		case 'o':
			if (o == null)
				return "null";
			long l = o instanceof Integer ? (Integer)o & 0xffffffffL : ((Number)o).longValue();
			s = c == 'o' ? Long.toOctalString(l) : Long.toHexString(l);
			return c == 'X' ? s.toUpperCase() : s;
		case 'f':
		case 'e':
			if (o == null)
				return "null";
			double d = ((Number)o).doubleValue();
			if (Double.isNaN(d) || Double.isInfinite(d))
				return Double.toString(d);
			return sign(Double.fixed(d, precision < 0 ? 6 : precision, c == 'e'), flags);
		case 'c':
		case 'b':
		case 's':
			s = c == 'b' && !(o instanceof Boolean) ? String.valueOf(o != null) : String.valueOf(o);
			return precision >= 0 && precision < s.length() ? s.substring(0, precision) : s;
		}
		throw new IllegalArgumentException("Conversion = '" + c + "' is not supported");
	}

	private static String sign(String s, String flags) {
		if (has(flags, ',')) {
			int point = s.indexOf('.');
			int end = s.startsWith("-") ? 1 : 0;
			for (int i = (point < 0 ? s.length() : point) - 3; i > end; i -= 3)
				s = s.substring(0, i) + "," + s.substring(i);
		}
		if (s.startsWith("-"))
			return s;
		return has(flags, '+') ? "+" + s : has(flags, ' ') ? " " + s : s;
	}

	private void pad(String s, int width, String flags) {
		int signs = has(flags, '0') && s.length() > 0 && "+-".indexOf(s.charAt(0)) >= 0 ? 1 : 0;

		out.append(s, 0, signs);
		if (has(flags, '-'))
			out.append(s);
		for (int i = s.length(); i < width; i++)
			out.append(has(flags, '0') ? '0' : ' ');
		if (!has(flags, '-'))
			out.append(s.substring(signs));
	}

	public String toString() {
		return out.toString();
	}
}
