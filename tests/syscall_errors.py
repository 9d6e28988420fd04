"""What the comments at the system calls say of their errors.

The comment above `int64_t sys_NAME(` names each error that the call may give, with its cause:

    EINVAL: unknown flags; EBADF, ENOTDIR: fd; Errors of read; Path errors.

`Path errors` (and so on) stands for a list at the head of some file of the kernel, which reads
`Path errors...: EFAULT: cause; ...`.
"""

import re

from conftest import TOP

ERRNO = {name: int(number) for name, number in re.findall(
    r"^#define (E\w+) (\d+)", (TOP / "kernel/include/weft/errno.h").read_text(), re.MULTILINE)}
WORD = re.compile(r"\bE[A-Z0-9]{2,}\b")
ITEM = re.compile(r"\b(E[A-Z0-9]+(?:, E[A-Z0-9]+)*): +(?=[^\s.;])")
CALL = re.compile(r"/\*((?:(?!\*/).)*)\*/\nint64_t sys_(\w+)\(const uint64_t arg\[6\]\)", re.DOTALL)
ANY_CALL = re.compile(r"^int64_t sys_(\w+)\(const uint64_t arg\[6\]\)$", re.MULTILINE)
NAMED = re.compile(r"^ \* ([A-Z]\w+) errors\b[^:;.]*: (.*?)\n \*(?:/|\n)", re.DOTALL | re.MULTILINE)


def calls():
    """The names that SYSCALLS lists."""
    text = (TOP / "kernel/include/weft/syscall.h").read_text()
    return set(re.findall(r"^\s*X\(\d+, (\w+), \d\)", text, re.MULTILINE))


class Comments:
    """text[call]: its comment; where[call]: its file; named[word]: errors of `Word errors`."""

    def __init__(self):
        self.text, self.where, self.named = {}, {}, {}
        self.bare = set()  # calls without a comment
        for path in sorted((TOP / "kernel").rglob("*.c")):
            source = path.read_text()
            for text, call in CALL.findall(source):
                self.text[call] = re.sub(r"\s+\* ?", " ", text)
                self.where[call] = str(path.relative_to(TOP))
            self.bare |= set(ANY_CALL.findall(source)) - set(self.text)
            for word, text in NAMED.findall(source):
                self.named[word] = listed(re.sub(r"\s+\* ?", " ", text))

    def errors(self, call):
        """The errors that a call documents."""
        text = self.text[call]
        found = listed(text)
        for word in re.findall(r"\b([A-Z]\w+) errors\b", text):
            found |= self.named[word]
        for other in re.findall(r"\bErrors of (\w+)", text):
            found |= self.errors(other)
        return found

    def loose(self, call):
        """Names of errors that stand outside of a list, or that there are not."""
        text = self.text[call]
        known = set(ERRNO)
        return (set(WORD.findall(ITEM.sub("", text))) & known) | (listed(text) - known)


def listed(text):
    """The errors of `E1, E2: cause; E3: cause`."""
    return {name for names in ITEM.findall(text) for name in names.split(", ")}
