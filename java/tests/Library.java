import java.io.*;
import java.util.*;

/* Strings, numbers, collections and files. */
public class Library {
	static void strings() {
		String s = "The quick brown fox";
		System.out.println(s.length() + s.substring(4, 9) + s.indexOf("brown") + s.lastIndexOf('o') + s.replace('o', '0')
				   + s.toUpperCase() + s.contains("fox") + s.startsWith("The") + s.endsWith("x") + s.hashCode());
		System.out.println("a,b,,c,,".split(",").length + " " + Arrays.toString("x y  z".split(" ")) + " " + "  trim ".trim() + "|"
				   + "abc".compareTo("abd") + "Zebra".compareToIgnoreCase("apple") + "aXbXc".replace("X", "--"));
		StringBuilder b = new StringBuilder("abc");
		b.append(1).append('x').append(2.5).append(true).append((Object)null).append(new char[] {'y'}).insert(0, "<").reverse();
		b.setCharAt(1, '!');
		b.deleteCharAt(0).delete(2, 4);
		System.out.println(b + " " + b.length() + " " + b.indexOf("x"));
		System.out.println("gr\u00fc\u00df \u20ac " + "\ud83d\ude00".length() + " " + "\u00e9".getBytes().length);
		System.out.println(("a" + "b" == "ab") + " " + (new String("ab") == "ab") + " " + (new String("ab").intern() == "ab"));
		System.out.println(String.join("-", "a", "b", "c") + String.valueOf(new char[] {'q'}) + "x".equals(null) + "".isEmpty());
	}

	static void numbers() {
		System.out.println(Integer.toHexString(-1) + " " + Integer.toBinaryString(10) + " " + Long.toString(-255, 16) + " "
				   + Integer.parseInt("-7f", 16) + " " + Long.parseLong("-9223372036854775808") + " " + Integer.MIN_VALUE + " "
				   + Long.MIN_VALUE + " " + Integer.bitCount(255) + " " + Integer.numberOfLeadingZeros(1) + " " + Byte.MIN_VALUE);
		System.out.println(Double.parseDouble("1e3") + " " + Float.parseFloat("0.1") + " " + 1.0 / 3 + " " + 2.0f / 3 + " " + 1e21 + " "
				   + 1.0e-10 + " " + 100000.0 + " " + Float.MAX_VALUE + " " + Double.MIN_VALUE + " " + 0.3f + " " + 1234567.0f);
		System.out.println(Math.max(-0.0, 0.0) + " " + Math.min(-0.0, 0.0) + " " + Math.abs(-5) + " " + Math.round(2.5) + " "
				   + Math.round(-2.5) + " " + Math.floor(-1.1) + " " + Math.sqrt(2) + " " + Math.pow(2, 10) + " "
				   + Math.floorMod(-7, 3));
		System.out.println(String.format("%5.2f|%-8s|%08d|%+d|%x|%c|%b|%e|%,.2f|%s|%%|%10.3e", Math.E, "left", -42, 7, 48879, 'c', true,
						 12345.678, 9876543.213, null, 0.00012));
		decimals();
		Random r = new Random(42);
		System.out.println(r.nextInt() + " " + r.nextInt(100) + " " + r.nextLong() + " " + r.nextDouble() + " " + r.nextBoolean() + " "
				   + r.nextFloat());
		System.out.println(Character.isLetter('x') + " " + Character.toUpperCase('q') + Character.getNumericValue('7')
				   + Character.isWhitespace('\t') + (int)Character.forDigit(11, 16));
	}

	/* Formatter rounds the shortest digits half up, and parseDouble takes no more than the language does. */
	static void decimals() {
		double[] values = {0.25, 1.005, 0.5, 2.5, 9.995, 99.95, -0.04, 0.06, 4.9E-324, 1e7, 0.00099999, 123456789.125};
		String[] texts = {"0x1.8P1d", "0x1", "inf", "nan", "NaNf", "-Infinity", "1_0", "1.e3f", " .5 ", "1e", "1\0"};

		for (double d : values)
			System.out.println(d + String.format(" %.0f %.1f %.2f %.0e %.2e", d, d, d, d, d));
		for (String s : texts)
			try {
				System.out.println(Double.parseDouble(s));
			} catch (NumberFormatException e) {
				System.out.println(e.getMessage());
			}
	}

	static void collections() {
		List<Integer> list = new ArrayList<Integer>();
		Random random = new Random(1);
		for (int i = 0; i < 20; i++)
			list.add(random.nextInt(50));
		System.out.println(list + " " + list.indexOf(45) + " " + list.contains(3));
		Collections.sort(list);
		System.out.println(list + " " + Collections.max(list));
		Collections.sort(list, new Comparator<Integer>() { public int compare(Integer a, Integer b) { return a % 10 - b % 10; } });
		System.out.println(list);
		list.remove(3);
		list.remove(Integer.valueOf(0));
		list.subList(2, 5).clear();
		for (Iterator<Integer> i = list.iterator(); i.hasNext();)
			if (i.next() % 2 == 1)
				i.remove();
		System.out.println(list + " " + list.size() + " " + list.hashCode() + " " + list.equals(new LinkedList<Integer>(list)));
		Map<String, Integer> map = new HashMap<String, Integer>(), linked = new LinkedHashMap<String, Integer>();
		for (String w : "the cat and the dog and the bird sat on the mat with a hat by an old red barn in may".split(" ")) {
			map.put(w, map.getOrDefault(w, 0) + 1);
			linked.put(w, w.length());
		}
		System.out.println(map + " " + map.get("the") + map.containsKey("cow") + map.remove("cat") + map.size());
		System.out.println(linked.keySet() + " " + linked.values() + " " + linked.entrySet().iterator().next());
		Set<Integer> set = new HashSet<Integer>();
		for (int i = 0; i < 1000; i++)
			set.add(i * 7919 % 311);
		System.out.println(set.size() + " " + set.contains(310) + " " + set.remove(5) + set.remove(5));
		Deque<String> deque = new ArrayDeque<String>();
		for (int i = 0; i < 40; i++) {
			deque.addFirst("f" + i);
			deque.addLast("l" + i);
			if (i % 3 == 0)
				deque.pollFirst();
		}
		System.out.println(deque + " " + deque.peekLast() + deque.pop());
		LinkedList<Integer> links = new LinkedList<Integer>(Arrays.asList(5, 3, 8));
		links.addFirst(1);
		links.add(2, 9);
		links.removeLast();
		System.out.println(links + " " + links.getFirst() + links.indexOf(9));
		int[] sorted = new int[200];
		for (int i = 0; i < 200; i++)
			sorted[i] = random.nextInt(1000) - 500;
		Arrays.sort(sorted);
		for (int i = 1; i < 200; i++)
			if (sorted[i - 1] > sorted[i])
				System.out.println("not sorted");
		System.out.println(Arrays.toString(Arrays.copyOf(sorted, 3)) + Arrays.hashCode(sorted));
	}

	static void files() throws IOException {
		File dir = new File("/tmp/weft-java"), file = new File(dir, "text.txt");

		dir.mkdir();
		BufferedWriter out = new BufferedWriter(new FileWriter(file));
		for (int i = 0; i < 1000; i++) {
			out.write("line " + i + " \u20ac");
			out.newLine();
		}
		out.close();
		System.out.println(file.length() + " " + file.exists() + " " + dir.isDirectory() + " " + file.getName() + " " + file.getParent());
		BufferedReader in = new BufferedReader(new FileReader(file));
		int n = 0, sum = 0;
		for (String line; (line = in.readLine()) != null; n++)
			sum = sum * 31 + line.hashCode();
		in.close();
		System.out.println(n + " " + sum + " " + Arrays.toString(dir.list()));
		FileInputStream bytes = new FileInputStream(file);
		byte[] b = new byte[10];
		System.out.println(bytes.read(b) + " " + new String(b) + bytes.read());
		bytes.close();
		try {
			new FileReader("/tmp/weft-java/none");
		} catch (FileNotFoundException e) {
			System.out.println("not found");
		}
		System.out.println(file.delete() + " " + dir.delete() + " " + dir.exists());
	}

	public static void main(String[] args) throws IOException {
		strings();
		numbers();
		collections();
		files();
	}
}
