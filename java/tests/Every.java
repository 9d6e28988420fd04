/* Every CLASS...: loads, verifies and initialises each class, and says how many there are. */
public class Every {
	public static void main(String[] args) throws Exception {
		for (String name : args)
			Class.forName(name);
		System.out.println(args.length);
	}
}
