package java.io;

public class FileReader extends InputStreamReader {
	public FileReader(String path) throws FileNotFoundException {
		super(new FileInputStream(path));
	}

	public FileReader(File file) throws FileNotFoundException {
		super(new FileInputStream(file));
	}
}
