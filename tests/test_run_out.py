"""weft run --out GUEST:HOST: files of the guest, on the host."""

import os
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
from conftest import TOP
from weft_host import outfiles

EXACT = ("--timing", "exact")
BIG = 24 << 20  # bytes


def out(weft, *words, command, **options):
    return weft("run", "--timeout", 100, *words, "--", "sh", "-c", command, **options)


@pytest.mark.parametrize("timing", ["fast", "exact"])
def test_files_and_directories(weft, tmp_path, timing):
    """Each byte of them, their modes, and the program's status."""
    (tmp_path / "there").mkdir()
    (tmp_path / "old").write_text("old")
    done = out(weft, "--timing", timing, "--smp", 2, "--out", "/tmp/text:old",
               "--out", f"/tmp/tree/:{tmp_path}/tree", "--out", "/tmp/tree/sub/e mpty:there",
               "--out", "/bin/sh", cwd=tmp_path,
               command="echo -n text >/tmp/text; mkdir -p /tmp/tree/sub/none; : >'/tmp/tree/sub/e mpty'; "
               "cp /bin/sh /tmp/tree/sh; chmod 640 /tmp/tree/sh; exit 3")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"", b"")
    assert (tmp_path / "old").read_bytes() == b"text"
    program = (TOP / "build/initrd/bin/sh").read_bytes()
    assert (tmp_path / "sh").read_bytes() == (tmp_path / "tree/sh").read_bytes() == program
    assert stat.S_IMODE((tmp_path / "tree/sh").stat().st_mode) == 0o640
    assert (tmp_path / "there/e mpty").read_bytes() == b""
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "old", "sh", "there", "there/e mpty", "tree", "tree/sh", "tree/sub", "tree/sub/e mpty",
        "tree/sub/none"]


def test_a_big_file(weft, tmp_path):
    """Bytes of all values: what passes the console is filtered, and would take long."""
    data = os.urandom(BIG)
    (tmp_path / "big").write_bytes(data)
    done = weft("run", *EXACT, "--file", tmp_path / "big", "--out", f"/host/big:{tmp_path}/back",
                "--", "true")
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "back").read_bytes() == data


def test_a_file_that_does_not_know_its_size(weft, tmp_path):
    done = out(weft, *EXACT, "--out", f"/proc/1/maps:{tmp_path}", command="cat /proc/1/maps")
    areas = [[line.split()[0] for line in text.splitlines()]
             for text in (done.stdout, (tmp_path / "maps").read_bytes())]
    assert areas[0][0].startswith(b"400000-") and len(areas[0]) > 5 and areas[0] == areas[1]


def test_the_command_takes_the_same_time(weft, tmp_path):
    """It begins and ends at the same nanosecond, whatever is wanted afterwards."""
    (tmp_path / "now.c").write_text("""
        #include <stdio.h>
        #include <time.h>
        int main(void)
        {
                struct timespec t;
                clock_gettime(CLOCK_MONOTONIC, &t);
                printf("%lld.%09ld\\n", (long long)t.tv_sec, t.tv_nsec);
                return 0;
        }
        """)
    assert weft("cc", tmp_path / "now.c", "-o", tmp_path / "now").returncode == 0
    words = ["--smp", 2, "--file", tmp_path / "now"]
    command = "now; pp -v -i 500; now"
    plain = out(weft, *EXACT, *words, command=command)
    wanted = out(weft, *EXACT, *words, "--out", f"/bin:{tmp_path}/bin",
                 "--out", f"/{'long' * 50}:{tmp_path}", command=command)
    assert plain.returncode == 0 and b"\n1." in plain.stdout
    assert plain.stdout == wanted.stdout


def test_what_cannot_be_had_is_said(weft, tmp_path):
    """Of each file; the others come all the same."""
    done = out(weft, *EXACT, "--out", f"/none:{tmp_path}", "--out", f"/dev/null:{tmp_path}",
               "--out", f"/tmp/tree:{tmp_path}", "--out", f"/tmp/tree/a:{tmp_path}/tree",
               command="mkdir /tmp/tree; echo a >/tmp/tree/a; ln -s / /tmp/tree/link")
    assert (done.returncode, done.stdout) == (69, b"")
    assert done.stderr.decode().splitlines() == [
        "weft: --out /none: No such file or directory",
        "weft: --out /dev/null: neither a file nor a directory",
        "weft: --out /tmp/tree/link: a symbolic link to a directory",
        "weft: --out /tmp/tree/a: Is a directory"]
    assert (tmp_path / "tree/a").read_text() == "a\n"


@pytest.mark.parametrize("words, command, status, why", [
    (["--timeout", "2"], "echo begun >/tmp/a; sleep 1000000 & while :; do :; done", 124, "time-out"),
    ([], "echo begun >/tmp/a; deadlock", 124, "nothing could happen"),
    (["--append", "init=/nothing"], "true", 70, "panicked"),
    ([], "reboot 5", 5, None)])
def test_a_guest_that_did_not_end_by_its_command(weft, tmp_path, words, command, status, why):
    """Nothing comes, and that is said; what the host had stays."""
    (tmp_path / "a").write_text("old")
    done = weft("run", *EXACT, *words, "--out", f"/tmp/a:{tmp_path}", "--", "sh", "-c", command)
    said = done.stderr.decode()
    assert done.returncode == status and (why is None or why in said)
    assert said.endswith("weft: --out fetched nothing: the guest did not come to hand its files over\n")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "old"


class Monitor(outfiles.Monitor):
    """Stands in for QEMU's: writes `data[address]`, whatever was asked for."""

    data: ClassVar[dict] = {}

    def __init__(self, path):
        self._link = path.with_name("link")

    def ask(self, command, **arguments):
        Path(arguments["filename"]).write_bytes(self.data[arguments["val"]])

    def close(self):
        pass


def fetch(monkeypatch, tmp_path, entries, data):
    """What outfiles.fetch() says of these entries of a list; the one file that is wanted is `a`."""
    listed = b"".join(b"0\0\x000100644\0%d\0%d\0%s\0" % entry for entry in entries)
    monkeypatch.setattr(Monitor, "data", {0: listed, **data})
    monkeypatch.setattr(outfiles, "Monitor", Monitor)
    guest = SimpleNamespace(work=tmp_path / "work",
                            filter=SimpleNamespace(held=0, manifest=(0, len(listed))))
    guest.work.mkdir()
    (tmp_path / "to").mkdir()
    (tmp_path / "to/a").write_text("old")
    return outfiles.fetch(guest, [outfiles.Wanted("/a", tmp_path / "to")])


def test_the_host_has_no_room(monkeypatch, tmp_path):
    """QEMU does not look whether the last bytes could be written; the old file stays."""
    assert fetch(monkeypatch, tmp_path, [(4096, 10, b"a")], {4096: b"nine byte"}) == \
        ["/a/a: no room for it on the host"]
    assert [path.name for path in (tmp_path / "to").iterdir()] == ["a"]
    assert (tmp_path / "to/a").read_text() == "old"


def test_a_guest_names_no_file_outside(monkeypatch, tmp_path):
    """The list is the guest's, and may say anything."""
    names = (b"../b", b"/etc/passwd", b"x/../../b", b"good")
    trouble = fetch(monkeypatch, tmp_path, [(4096, 1, name) for name in names], {4096: b"x"})
    assert len(trouble) == 3 and all(line.endswith("not a name of a file") for line in trouble)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.name != "list") == \
        ["a", "good", "to", "work"]


def test_the_host_keeps_what_is_no_file(weft, tmp_path):
    """A pipe stays one, as a device would; a link stays, and stands for what it names."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("named")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("pipe", "loop"):
        done = weft("run", *EXACT, "--out", f"/a:{name}", "--", "true", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, b"")
        assert f"weft run: --out: {name}: on the host".encode() in done.stderr
    done = out(weft, *EXACT, "--out", f"/tmp/{tmp_path.name}:..", "--out", "/tmp/a:link", cwd=tmp_path,
               command=f"mkdir /tmp/{tmp_path.name}; echo a >/tmp/a; cp /tmp/a /tmp/{tmp_path.name}/pipe")
    assert done.returncode == 69
    assert done.stderr.decode() == (f"weft: --out /tmp/{tmp_path.name}/pipe: on the host it is neither a "
                                    "file nor a directory\n")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "named").read_text() == "a\n"


def test_names_that_are_no_text(weft, tmp_path):
    """Their bytes pass as they are: of a file, of what is wanted and its place, of an argument."""
    name, place, word = (os.fsdecode(text) for text in (b"name\xff", b"place\xff", b"word\xff"))
    (tmp_path / name).write_text("text")
    done = weft("run", *EXACT, "--file", name, "--out", f"/host/{name}:{place}", "--", "echo", word,
                cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"word\xff\n", b"")
    assert (tmp_path / place).read_text() == "text"


@pytest.mark.parametrize("item, says", [
    ("relative:x", "absolute"), ("/a:", "no file"), ("/a:/no/such/x", "no such directory"),
    ("/a:/proc/x", "written to")])
def test_wrong_usage(weft, item, says):
    """Found before the guest is started."""
    if says == "written to" and os.geteuid() == 0:
        item, says = "/a:LICENSE/x", "no such directory"
    done = weft("run", *EXACT, "--out", item, "--", "true", cwd=TOP)
    assert (done.returncode, done.stdout) == (2, b"")
    assert says in done.stderr.decode()


def test_seeds_take_nothing_out(weft):
    assert weft("run", "--seeds", "1..2", "--out", "/a:b", "--", "true").returncode == 2
