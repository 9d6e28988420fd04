"""The file tools of the guest: one boot runs all commands, each case looks at its own part."""

import re

import pytest

TEXT = "".join(f"line {n}\n" for n in range(1, 21))
BINARY = bytes(range(48)) + b"\0" * 64 + b"end"

# A command, what it says (standard output and error), and its status if that is not 0.  They
# run one after the other in /tmp.
CASES = [
    ("mkdir d d/e", ""),
    ("mkdir d", "mkdir: d: File exists\n", 1),
    ("mkdir p/q", "mkdir: p/q: No such file or directory\n", 1),
    ("mkdir -p p/q/r p/q", ""),
    ("mkdir -m 700 private", ""),
    ("mkdir -m 9 x", "mkdir: not an octal mode: 9\n", 2),
    ("cp /host/text d/copy && cp d/copy .", ""),
    ("cp none x", "cp: none: No such file or directory\n", 1),
    ("cp copy copy", "cp: copy and copy are the same file\n", 1),
    ("cp d x", "cp: d: a directory (-R copies it)\n", 1),
    ("cp copy copy none", "cp: none: not a directory\n", 1),
    ("cp copy", "usage: cp [-Rrpfi] SOURCE... TARGET\n", 2),
    ("ln -s ../copy d/link && ln copy d/hard", ""),
    ("cp -R d tree && ls -F tree", "copy*\ne/\nhard*\nlink@\n"),
    ("cp -R d tree && ls tree", "copy\nd\ne\nhard\nlink\n"),
    ("cp -R d d/e/x", "cp: d: not into itself (d/e/x)\n", 1),
    ("cp d/link followed && ls -F followed", "followed*\n"),
    ("chmod 751 copy && cp -p copy kept && ls -l kept",
     r"-rwxr-x--x  1        151 \d{4}-\d\d-\d\d \d\d:\d\d kept\n"),
    ("chmod u=rw,go-rwx,a+x kept && ls -l kept", r"-rwx--x--x  1 .* kept\n"),
    ("chmod +y kept", "chmod: not a mode: +y\n", 2),
    ("chmod 8 kept none", "chmod: not a mode: 8\n", 2),
    ("chmod 644 none", "chmod: none: No such file or directory\n", 1),
    ("readlink d/link && readlink -f d/link", "../copy\n/tmp/copy\n"),
    ("readlink copy", "readlink: copy: Invalid argument\n", 1),
    ("mv kept moved && mv moved p && ls p", "moved\nq\n"),
    ("mv none x", "mv: none to x: No such file or directory\n", 1),
    ("mv p p/q/x", "mv: p to p/q/x: Invalid argument\n", 1),
    ("mv p/moved /dev/moved && cat /dev/moved", TEXT),
    ("mv /dev/moved back && ls back /dev/moved",
     "ls: /dev/moved: No such file or directory\nback\n", 1),
    ("mv followed back p/q && ls p/q", "back\nfollowed\nr\n"),
    ("ln copy d/hard", "ln: d/hard: File exists\n", 1),
    ("ln -f copy d/hard && ln -s nowhere dangling && ls -l dangling",
     r"lrwxrwxrwx  1          7 .* dangling -> nowhere\n"),
    ("ls dangling", "dangling\n"),
    ("ln -sf copy dangling && ls -i copy d/hard", r" +(\d+) copy\n +\1 d/hard\n"),
    ("head -n 2 copy", "line 1\nline 2\n"),
    ("head -2 copy && head -c 6 copy", "line 1\nline 2\nline 1"),
    ("head -n 1 copy none d/copy",
     "==> copy <==\nline 1\nhead: none: No such file or directory\n==> d/copy <==\nline 1\n", 1),
    ("head -n x", "head: not a number: x\n", 2),
    ("tail -n 2 copy && tail -1 copy", "line 19\nline 20\nline 20\n"),
    ("tail -c 4 copy && tail -n +20 copy && tail -c +150 copy", " 20\nline 20\n0\n"),
    ("tail -n 0 copy && tail -n 1000 copy && tail -c 0 copy", TEXT),
    ("head copy && tail copy", "".join(TEXT.splitlines(True)[:10] + TEXT.splitlines(True)[10:])),
    ("wc copy", "      20      40     151 copy\n"),
    ("wc -l copy none d/copy",
     "wc: none: No such file or directory\n".join(["      20 copy\n", "      20 d/copy\n"])
     + "      40 total\n", 1),
    ("wc -c -w copy", "      40     151 copy\n"),
    ("hexdump -C /host/binary",
     "00000000  00 01 02 03 04 05 06 07  08 09 0a 0b 0c 0d 0e 0f  |................|\n"
     "00000010  10 11 12 13 14 15 16 17  18 19 1a 1b 1c 1d 1e 1f  |................|\n"
     "00000020  20 21 22 23 24 25 26 27  28 29 2a 2b 2c 2d 2e 2f  | !\"#$%&'()*+,-./|\n"
     "00000030  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n"
     "*\n"
     "00000070  65 6e 64                                          |end|\n"
     "00000073\n"),
    ("hexdump -s 0x6e -n 4 /host/binary", "000006e 0000 6e65\n0000072\n"),
    ("touch t && touch -r copy t && touch -c none && ls t none",
     "ls: none: No such file or directory\nt\n", 1),
    ("touch none/x", "touch: none/x: No such file or directory\n", 1),
    ("touch -r /host/text old && ls -t old one t && ls -tr old t",
     "ls: one: No such file or directory\nt\nold\n", 1),
    ("ls -S /host/text /host/binary t", "/host/text\n/host/binary\nt\n"),
    ("ls -Sr /host/text /host/binary t", "t\n/host/binary\n/host/text\n"),
    ("touch .dot && ls -d .dot d", ".dot\nd\n"),
    ("ls p/q/r && ls -a p/q/r && ls -A .", r"\.\n\.\.\n\.dot\n(.*\n)*"),
    ("ls -R p", "p:\nq\n\np/q:\nback\nfollowed\nr\n\np/q/r:\n"),
    ("ls -l /dev/null", r"crw-rw-rw-  1       1, 3 .* /dev/null\n"),
    ("ls none", "ls: none: No such file or directory\n", 1),
    ("date -u +%Y-%m-%d", r"20\d\d-\d\d-\d\d\n"),
    ("date -r copy +", "\n"),
    ("date x", "usage: date [-u] [-r FILE] [+FORMAT]\n", 2),
    ("mount", "tmpfs on / type tmpfs\ndevfs on /dev type devfs\n(.*\n)*"),
    ("df /tmp", r"Filesystem .*\ntmpfs +\d+ +\d+ +\d+ +\d+% /\n"),
    ("df none", "Filesystem .*\ndf: none: No such file or directory\n", 1),
    ("sleep 0.01 0s && sleep 1x", "sleep: not a time: 1x\n", 2),
    ("/bin/kill -l 15 && /bin/kill -l 34", "TERM\nRTMIN\n"),
    ("/bin/kill -l", r" 1\) HUP .*(.*\n)+"),
    ("/bin/kill -0 $$ && /bin/kill -s CONT $$", ""),
    ("/bin/kill -NONE 1", "kill: NONE: no such signal\n", 1),
    ("/bin/kill -SIGTERM 99998 x",
     "kill: 99998: No such process\nkill: x: not a process id\n", 1),
    ("sleep 100 & /bin/kill -SIGKILL $!; wait $!", "Killed\n", 137),
    ("time -p false", r"real \d\.\d\d\nuser 0\.\d\d\nsys 0\.\d\d\n", 1),
    ("time none", "time: none: No such file or directory\n", 127),
    ("rm none", "rm: none: No such file or directory\n", 1),
    ("rm -f none && rm d", "rm: d: Is a directory\n", 1),
    ("rm -r . / d/..", "rm: .: not to be removed\nrm: /: not to be removed\n"
     "rm: d/..: not to be removed\n", 1),
    ("rmdir d", "rmdir: d: Directory not empty\n", 1),
    ("mkdir -p a/b/c && rmdir -p a/b/c && ls a", "ls: a: No such file or directory\n", 1),
    ("rm dangling && ls copy", "copy\n"),
    ("rm -r d tree p private copy t old .dot && ls -a", ".\n..\n"),
]


@pytest.fixture(scope="module")
def results(guest, tmp_path_factory):
    path = tmp_path_factory.mktemp("tools")
    (path / "text").write_text(TEXT)
    (path / "binary").write_bytes(BINARY)
    script = "cd /tmp\n" + "".join(
        f"echo '=={n}'\n{case[0]}\necho \"=={n} $?\"\n" for n, case in enumerate(CASES))
    (path / "script").write_text(script)
    result = guest(["sh", "/host/script"], timeout=120,
                   files=[path / "text", path / "binary", path / "script"])
    return result.output


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_tool(results, number):
    command, says, *status = CASES[number]
    found = re.search(rf"^=={number}\n(.*?)=={number} (\d+)$", results, re.S | re.M)
    assert found, f"no end of {command!r} in:\n{results[-2000:]}"
    assert found[1] == says or re.fullmatch(says, found[1]), found[1]
    assert int(found[2]) == (status[0] if status else 0), found[1]


def test_tee(guest, tmp_path):
    (tmp_path / "old").write_text("0\n")
    result = guest(["sh", "-c", "cd /tmp; cp /host/old one; tee -a one two; cat one two"],
                   stdin=b"1\n2\n", files=[tmp_path / "old"])
    assert (result.status, result.output) == (0, "1\n2\n0\n1\n2\n1\n2\n")
