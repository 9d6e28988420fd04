"""The transcripts of the documents are run, and print what the documents say.

A transcript is a fenced block with lines that begin with a prompt: `$ ` of the host, `weft:/$ ` of the guest's
shell, `(gdb) `.  The lines behind a command are printed by it, in this order.  In them `...` stands for what may
differ; a line of `...` alone stands for any lines.  A comment right before the block says why it is not run:

    <!-- not run: it needs a program with a race -->
"""

import re
import shlex

import pytest
from conftest import TOP

DOCUMENTS = ["README.md", "CONTRIBUTING.md", "kernel/README.md", "libthread/README.md", "java/README.md",
             *(str(path.relative_to(TOP)) for path in sorted((TOP / "docs").glob("*.md")))]
PROMPT = re.compile(r"(\$|weft:/\$|\(gdb\)) (.*)")
BLOCK = re.compile(r"(?:^<!-- not run: (.+?) -->\n)?^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A source that a transcript compiles: the first block of C in a document that has this name before it.
SOURCE = r"`{}`.*?\n```c\n(.*?)^```$"
SETTLES = "sleep 0.2"  # in the guest, behind a command in the background: a user's next command comes later
RECORDED = "--reverse"  # tests/test_reverse.py runs these, with what they need


def blocks():
    """(place, why it is not run or None, text) of each transcript."""
    for name in DOCUMENTS:
        text = (TOP / name).read_text()
        for match in BLOCK.finditer(text):
            if any(PROMPT.match(line) for line in match[2].splitlines()):
                line = text.count("\n", 0, match.start(2))
                yield f"{name}:{line}", match[1], match[2]


RUN = [pytest.param(text, id=place) for place, why, text in blocks() if why is None and RECORDED not in text]


def steps(text):
    """[(prompt, command, the lines that it prints)]."""
    found = []
    for line in text.splitlines():
        match = PROMPT.match(line)
        if match:
            found.append((match[1], re.sub(r"\s+# .*", "", match[2]), []))
        else:
            found[-1][2].append(line)
    return found


def pattern_of(line):
    """With `...` in a table, the columns may be wider."""
    if line == "...":
        return r"(?:.*\n)*?"
    if "..." in line:
        line = re.sub(r"(\\ ){2,}", " +", re.escape(line)).replace(r"\.\.\.", ".*")
    else:
        line = re.escape(line)
    return line + r"[ \r]*\n"


def pattern(lines):
    return "".join(map(pattern_of, lines))


def expect(command, lines, output):
    """The lines stand in the output, one after the other."""
    assert re.search(f"^{pattern(lines)}", output, re.MULTILINE), \
        f"{command}\n--- should print\n" + "\n".join(lines) + f"\n--- and prints\n{output}"


class Session:
    """Runs the steps of one transcript."""

    def __init__(self, weft, folder):
        self._weft = weft
        self._folder = folder

    def run(self, found):
        host = [n for n, (prompt, _, _) in enumerate(found) if prompt == "$"]
        for begin, end in zip([None, *host], [*host, len(found)]):
            inner = found[0 if begin is None else begin + 1:end]
            if begin is not None:
                self.host(*found[begin][1:], inner)
            elif inner:
                self.guest(["run", "--smp", "2"], inner)

    def host(self, command, lines, inner):
        words = shlex.split(command, comments=True)
        if words[0] == "make":
            assert not lines and not inner  # the tests are run by it
            return
        assert words[0] == "tools/weft", command
        words = self._here(words[1:])
        if inner and inner[0][0] == "(gdb)":
            self.gdb(words, inner)
        elif inner:
            self.guest(words, inner)
        else:
            done = self._weft(*words)
            output = (done.stdout + done.stderr).decode()
            assert done.returncode == 0 or lines, output
            expect(command, lines, output)

    def _here(self, words):
        """With sources, programs and traces in the test's folder."""
        for n, word in enumerate(words):
            if re.fullmatch(r"\w+\.(trace|pftrace|tables)", word):
                words[n] = str(self._folder / word)
            name = f"{word}.c" if n and words[n - 1] in ("-o", "--file") else word
            if re.fullmatch(r"\w+\.c", name) and (self._source(name) or name == "prog.c"):
                words[n] = str(self._folder / word)
        return words

    def _source(self, name):
        """The document's source is there now."""
        texts = ((TOP / document).read_text() for document in DOCUMENTS)
        match = next(filter(None, (re.search(SOURCE.format(re.escape(name)), text, re.MULTILINE | re.DOTALL)
                                   for text in texts)), None)
        source = match[1] if match else "int main(void)\n{\n\treturn 0;\n}\n"
        (self._folder / name).write_text(source)
        return match is not None

    def guest(self, words, inner):
        script = ""
        for number, (prompt, command, _) in enumerate(inner):
            assert prompt == "weft:/$"
            script += f"echo == {number}\n{command}\n" + f"{SETTLES}\n" * command.endswith("&")
        programs = [word for _, command, _ in inner for word in re.findall(r"[\w.]+", command)]
        done = self._weft(*words, "--", "sh", "-c", f"{script}echo == end", *programs)
        output = done.stdout.decode(errors="replace").replace("\r", "")
        assert done.returncode == 0 and "== end\n" in output, output + done.stderr.decode()
        printed = re.split(r"^== \w+\n", output, flags=re.MULTILINE)[1:]
        for (_, command, lines), text in zip(inner, printed):
            assert "not found" not in text, text
            expect(command, lines, text)

    def gdb(self, words, inner):
        """GDB's answers come in one stream, so each line is looked for behind the line before."""
        (self._folder / "commands").write_text("set width 0\n" + "".join(f"{command}\n" for _, command, _ in inner))
        at = words.index("--") if "--" in words else len(words)
        done = self._weft(*words[:at], "--batch-commands", self._folder / "commands", *words[at:])
        output = done.stdout.decode(errors="replace")
        assert done.returncode == 0 and "Error in sourced" not in done.stderr.decode(), \
            output + done.stderr.decode()
        for _, command, lines in inner:
            expect(command, lines, output)
            output = output[re.search(f"^{pattern(lines)}", output, re.MULTILINE).end():]


@pytest.mark.parametrize("text", RUN)
def test_a_transcript(weft, tmp_path, text):
    Session(weft, tmp_path).run(steps(text))


def test_every_reason_is_one():
    reasons = [why for _, why, _ in blocks() if why is not None]
    assert all(len(why.split()) >= 3 for why in reasons)
    assert len(RUN) > len(reasons) and len(RUN) >= 8
    marked = sum(len(re.findall("^<!-- not run: ", (TOP / name).read_text(), re.MULTILINE)) for name in DOCUMENTS)
    assert marked == len(reasons), "a reason stands before a block that is no transcript"


@pytest.mark.parametrize("lines, output, fits", [
    (["a", "b"], "x\na\nb\ny\n", True), (["a", "b"], "a\nx\nb\n", False), (["a", "...", "b"], "a\nx\nb\n", True),
    (["a ... c"], "a 17 c\n", True), (["a ... c"], "a 17 d\n", False), (["a"], "xa\n", False),
    (["a    ...  c"], "a  17000  c\n", True), (["a  b"], "a   b\n", False), ([], "", True)])
def test_what_fits(lines, output, fits):
    assert bool(re.search(f"^{pattern(lines)}", output, re.MULTILINE)) == fits


def test_a_transcript_that_is_wrong_is_found(weft, tmp_path):
    session = Session(weft, tmp_path)
    session.run(steps("$ tools/weft run --timing exact\nweft:/$ echo a b\na ...\n"))
    for wrong in ("$ tools/weft run --timing exact\nweft:/$ echo a b\nb a\n", "$ tools/weft run -- false\n",
                  "$ tools/weft run -- true\nnothing\n", "weft:/$ nonsense\n"):
        with pytest.raises(AssertionError):
            session.run(steps(wrong))
