package java.lang;

public class StringIndexOutOfBoundsException extends IndexOutOfBoundsException {
	public StringIndexOutOfBoundsException() {
	}

	public StringIndexOutOfBoundsException(String message) {
		super(message);
	}

	public StringIndexOutOfBoundsException(int index) {
		super("index out of range: " + index);
	}
}
