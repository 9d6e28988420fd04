/* Uses each class that is named, COUNT times: Again COUNT CLASS... Prints what came of it the last time. */
public class Again {
	public static void main(String[] args) throws Exception {
		for (int k = 1; k < args.length; k++)
			for (int i = Integer.parseInt(args[0]); i > 0; i--)
				try {
					Object o = Class.forName(args[k]).newInstance();
					if (i == 1)
						System.out.println(args[k] + ": " + o);
				} catch (LinkageError e) {
					if (i == 1)
						System.out.println(args[k] + ": " + e);
				}
	}
}
