/* library.S - puts the jar of the machine's own class files into the program. */

	.section .rodata
	.globl java_library, java_library_end
	.balign 16
java_library:
	.incbin JAVA_LIBRARY
java_library_end:
	.section .note.GNU-stack,"",@progbits
