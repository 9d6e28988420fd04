"""What libthread's headers declare, and what the comments at the functions say of their errors.

The comment right above a function's definition names each error that it may return, or leave in errno,
with its cause, and C11's results:

    EINVAL: unknown flags; EAGAIN, ENOMEM: no memory for it.  Errors of pthread_create.

`Errors of NAME` stands for those of another function.  A file's first comment may say for all of
its functions except some: `All functions except pthread_attr_init: EINVAL: attr is not initialised.`
"""

import re

from conftest import TOP

HEADERS = [TOP / "libthread/include" / f"{name}.h"
           for name in ("pthread", "thread", "synch", "semaphore", "mqueue", "aio", "threads",
                                                           "sched")]
SOURCES = [*sorted((TOP / "libthread").glob("core/*.c")),
           *sorted((TOP / "libthread").glob("sync/*.c")), TOP / "user/libc/sched.c"]
ERROR = r"(?:E[A-Z0-9]{2,}|thrd_(?:busy|error|nomem|timedout))"
WORD = re.compile(rf"\b{ERROR}\b")
ITEM = re.compile(rf"\b({ERROR}(?:, {ERROR})*): +(?=[^\s.;])")
PROTOTYPE = re.compile(r"^(?!typedef|#)[\w \*]*?\b(?!__)(\w+)\([^;{]*\)[^;{]*;", re.MULTILINE)
DEFINITION = re.compile(r"(?:/\*((?:(?!\*/).)*)\*/\s*)?\n[ \t]*(?!static|return|else)[a-z]\w*[\w \*]*?"
                        r"\b(_?[a-z][\w@]+)\([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*\)\n[ \t]*\{", re.DOTALL)
ALL = re.compile(r"All functions(?: except ([\w, ]+))?: +(E.*?)(?:\.(?=\s)|\*/)", re.DOTALL)
KINDS = ("mutex", "cond", "rwlock", "barrier")


def functions():
    """The names that the headers declare."""
    names = {"pthread_kill", "pthread_sigmask"}  # signal.h, which is not libthread's
    for path in HEADERS:
        text = re.sub(r"/\*.*?\*/|^\s*#.*?(?<!\\)$", "", path.read_text(),
                      flags=re.DOTALL | re.MULTILINE)
        names |= set(PROTOTYPE.findall(text))
    return names


def flat(text):
    return re.sub(r"\s+\*? ?", " ", text or "")


class Interface:
    """text[function]: its comment; where[function]: its file."""

    def __init__(self):
        self.names = functions()
        self.text, self.where = {}, {}
        for path in SOURCES:
            self.read(path)

    def read(self, path):
        source = re.sub(r"[ \t]*\\$", "", path.read_text(), flags=re.MULTILINE)
        head = flat(source[:source.index("*/") + 2])
        general = ALL.search(head)
        for comment, pattern in DEFINITION.findall(source.replace("##", "@")):
            for kind in KINDS if "@" in comment + pattern else ("",):
                name = pattern.replace("@kind@", kind)
                if name not in self.names:
                    continue
                self.text[name] = flat(comment)
                if general and name not in (general[1] or "").split(", "):
                    self.text[name] += " " + general[2]
                self.where[name] = str(path.relative_to(TOP))

    def errors(self, name):
        """The errors that a function documents."""
        text = self.text[name]
        found = {error for errors in ITEM.findall(text) for error in errors.split(", ")}
        for other in re.findall(r"\bErrors of (\w+)", text):
            found |= self.errors(other)
        return found

    def loose(self, name):
        """Errors that stand outside of a list."""
        return set(WORD.findall(ITEM.sub("", self.text[name])))
