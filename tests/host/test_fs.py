"""The RAM file system and its cpio parser, compiled for the host: good, odd and damaged archives."""

import shutil
import subprocess

import pytest
from hostcc import compile_c, run
from weft_host.cpio import Archive

ENOENT, ENOTDIR, ENAMETOOLONG = 2, 20, 91  # newlib's
FILE, DIR, LINK, CHR = 0o100000, 0o040000, 0o120000, 0o020000


@pytest.fixture(scope="module")
def fs_test(tmp_path_factory):
    return compile_c(
        tmp_path_factory.mktemp("fs") / "fs_test", "tests/host/fs_test.c", "kernel/fs/cpio.c",
        "kernel/fs/initrd.c", "kernel/fs/tmpfs_dir.c", "kernel/fs/tmpfs_file.c",
        "kernel/fs/tmpfs_names.c", "kernel/fs/vfs.c", "kernel/fs/devfs.c", "kernel/lib/tree.c")


def entry(name, data=b"", mode=FILE | 0o644, ino=0, nlink=1, mtime=7, **field):
    """One entry of a newc archive."""
    name = name.encode() if isinstance(name, str) else name
    values = dict(ino=ino, mode=mode, uid=0, gid=0, nlink=nlink, mtime=mtime, filesize=len(data),
                  major=0, minor=0, rmajor=0, rminor=0, namesize=len(name) + 1, check=0)
    values.update(field)
    out = b"070701" + b"".join(b"%08x" % v for v in values.values()) + name + b"\0"
    out += b"\0" * (-len(out) % 4) + data
    return out + b"\0" * (-len(out) % 4)


def archive(*entries):
    return b"".join(entries) + entry("TRAILER!!!")


class Tree:
    """What fs_test printed: files by path, and the messages."""

    def __init__(self, text):
        self.node, self.messages = {}, []
        for line in text.decode(errors="replace").splitlines():
            part = line.split(" ", 6)
            if len(part) == 7 and part[0] in "fdcl":
                kind, mode, nlink, size, checksum, _, path = part
                self.node[path] = (kind, int(mode, 8), int(nlink), int(size), int(checksum))
            else:
                self.messages.append(line)

    def files(self):
        return {p: n for p, n in self.node.items() if not p.startswith("/dev")}


def checksum(data):
    total = 0
    for byte in data:
        total = (total * 31 + byte) & 0xFFFFFFFF
    return total


@pytest.fixture
def unpack(fs_test, tmp_path):
    def unpack(data):
        (tmp_path / "a.cpio").write_bytes(data)
        return Tree(run(fs_test, "list", tmp_path / "a.cpio"))
    return unpack


def f(data, mode=0o644, nlink=1):
    return ("f", mode, nlink, len(data), checksum(data))


def test_plain(unpack):
    tree = unpack(archive(
        entry(".", mode=DIR | 0o755), entry("bin", mode=DIR | 0o711),
        entry("bin/sh", b"hello", mode=FILE | 0o755), entry("./etc/motd", b"x" * 5000),
        entry("/abs", b"1234"), entry("empty")))
    assert tree.messages == []
    assert tree.files() == {
        "/bin": ("d", 0o711, 2, 0, 0), "/bin/sh": f(b"hello", 0o755),
        "/etc": ("d", 0o755, 2, 0, 0), "/etc/motd": f(b"x" * 5000),
        "/abs": f(b"1234"), "/empty": f(b"")}
    assert tree.node["/dev/null"][0] == "c" and tree.node["/dev/console"][0] == "c"


def test_concatenated_and_overridden(unpack):
    first = archive(entry("etc/a", b"old"), entry("etc/b", b"kept"))
    second = archive(entry("etc", mode=DIR | 0o700), entry("etc/a", b"new!"))
    for pad in (b"", b"\0" * 4, b"\0" * 1000):
        for end in (b"", b"\0" * 512, b"\0" * 3):
            tree = unpack(first + pad + second + end)
            assert tree.messages == []
            assert tree.files() == {"/etc": ("d", 0o700, 2, 0, 0), "/etc/a": f(b"new!"),
                                    "/etc/b": f(b"kept")}


def test_whole_pages_are_kept(unpack, fs_test, tmp_path):
    """In archives as the build makes them.  The rest is copied, and all where no file's bytes start
    with a page."""
    ours = Archive()
    data = {size: bytes((size + i) % 251 for i in range(size)) for size in (1, 4095, 4096, 10000, 8192)}
    for size, bytes_of in data.items():
        ours.file(f"d/{size}", bytes_of)
    for front, pages in (b"", 1 + 2 + 2), (b"\0" * 4096, 5), (b"\0" * 512, 0):
        made = front + ours.bytes()
        tree = unpack(made)
        assert tree.messages == []
        assert tree.files() == {"/d": ("d", 0o755, 2, 0, 0)} | {
            f"/d/{size}": f(bytes_of) for size, bytes_of in data.items()}
        (tmp_path / "kept.cpio").write_bytes(made)
        assert int(run(fs_test, "kept", tmp_path / "kept.cpio")) == pages


def test_no_trailer(unpack):
    tree = unpack(entry("a", b"12345678"))
    assert tree.messages == [] and tree.files() == {"/a": f(b"12345678")}


def test_missing_last_padding(unpack):
    tree = unpack(entry("a", b"12345").rstrip(b"\0"))
    assert tree.messages == [] and tree.files() == {"/a": f(b"12345")}


def test_hard_links(unpack):
    one = archive(entry("a", ino=9, nlink=2), entry("b", b"data", ino=9, nlink=2))
    tree = unpack(one + archive(entry("c", b"other", ino=9, nlink=2)))
    assert tree.files() == {"/a": f(b"data", nlink=2), "/b": f(b"data", nlink=2),
                            "/c": f(b"other")}


@pytest.mark.skipif(shutil.which("cpio") is None, reason="needs cpio")
def test_gnu_cpio(unpack, tmp_path):
    src = tmp_path / "src"
    (src / "d/e").mkdir(parents=True)
    (src / "d/e/file").write_bytes(bytes(range(256)) * 40)
    (src / "d/other").hardlink_to(src / "d/e/file")
    names = "\n".join([".", "d", "d/e", "d/e/file", "d/other"])
    made = subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], input=names.encode(), cwd=src,
                          capture_output=True, check=True).stdout
    tree = unpack(made)
    assert tree.messages == []
    assert tree.files()["/d/e/file"][2:] == tree.files()["/d/other"][2:] == (
        2, 10240, checksum(bytes(range(256)) * 40))


def test_many_names(unpack):
    names = [f"n{i:05}" for i in range(0, 100000, 37)]
    tree = unpack(archive(*(entry("d/" + n, n.encode()) for n in reversed(names))))
    assert set(tree.files()) == {"/d"} | {"/d/" + n for n in names}
    assert all(tree.node["/d/" + n] == f(n.encode()) for n in names)


@pytest.mark.parametrize("bad, why", [
    (entry("dev/sda", mode=CHR), "neither"),
    (entry("l", b"", mode=LINK | 0o777), "target"),
    (entry("l", b"x" * 1024, mode=LINK | 0o777), "target"),
    (entry("../x", b"1"), '".."'),
    (entry("a/../../x", b"1"), '".."'),
    (entry("d" * 256, b"1"), "too long"),
    (entry("good/x", b"1"), "not a directory"),
    (entry("good", mode=DIR | 0o755), "not a directory"),
    (entry("sub", b"1"), "directory of that name"),
    (entry("./", b"1"), "directory of that name"),
])
def test_left_out(unpack, bad, why):
    """An entry that cannot be used is named and costs no other."""
    tree = unpack(archive(entry("good", b"1"), entry("sub/x", b"1"), bad, entry("last", b"2")))
    assert len(tree.messages) == 1 and why in tree.messages[0]
    assert set(tree.files()) >= {"/good", "/sub", "/sub/x", "/last"}
    assert tree.node["/good"] == f(b"1")


@pytest.mark.parametrize("bad, why", [
    (b"garbage and more of it", "not a cpio header"),
    (b"070702" + b"0" * 200, '"crc"'),
    (b"070707" + b"0" * 200, '"odc"'),
    (b"\x1f\x8b" + b"\1" * 50, "compressed"),
    (b"07", "not a cpio header"),
    (b"070701" + b"0" * 20, "middle of a header"),
    (entry("x", b"1").replace(b"070701", b"070701zz", 1)[:114], "not hexadecimal"),
    (entry("x", namesize=0), "out of range"),
    (entry("x", namesize=1), "out of range"),
    (entry("x", namesize=0xFFFFFFFF), "out of range"),
    (entry("x", namesize=1000), "middle of a name"),
    (entry("xyz", namesize=3), "does not end"),
    (entry("x\0y"), "does not end"),
    (entry("x", filesize=0xFFFFFFFF), "middle of a file"),
    (entry("x", b"12345678")[:-4], "middle of a file"),
    (b"\0" + entry("x"), "multiple of 4"),
])
def test_damaged(unpack, bad, why):
    """What came before the damage stays; the message says what is wrong and where."""
    good = archive(entry("good", b"1"))
    tree = unpack(good + bad)
    assert len(tree.messages) == 1 and why in tree.messages[0]
    assert f"byte {len(good) + (bad[0] == 0)} of {len(good + bad)}" in tree.messages[0]
    assert tree.files() == {"/good": f(b"1")}


@pytest.mark.parametrize("seed", range(1, 5))
def test_fuzz(fs_test, tmp_path, seed):
    ours = Archive()
    ours.file("bin/c", b"page" * 3000)
    data = ours.bytes() + archive(
        entry("bin", mode=DIR | 0o755), entry("bin/a", b"abcdefg"), entry("bin/b", b"", ino=4, nlink=2),
        entry("c/d/e/f", b"xyz" * 100, ino=4, nlink=2)) + b"\0" * 8 + archive(entry("bin/a", b"!"))
    (tmp_path / "a.cpio").write_bytes(data)
    run(fs_test, "fuzz", tmp_path / "a.cpio", seed, 3000)


def test_lookup(fs_test, tmp_path):
    (tmp_path / "a.cpio").write_bytes(archive(
        entry("file", b"1"), entry("a/b/deep", b"2"), entry("a/" + "n" * 255, b"3")))

    def look(cwd, *paths):
        out = run(fs_test, "lookup", tmp_path / "a.cpio", cwd, *paths)
        return [tuple(map(int, line.split())) for line in out.splitlines()]

    root, file, b = (ino for _, ino in look("/", "/", "file", "a/b"))
    assert len({root, file, b}) == 3
    same = [
        ("/", root, ["/", "//", ".", "./", "..", "../..", "/..", "a/..", "a/b/../..", "//a///b/.././.."]),
        ("/a/b", b, [".", "../b", "/a/b", "/a//b/", "../../a/b/."]),
        ("/a", file, ["/file", "../file", "b/../../file", "/../file"]),
    ]
    for cwd, ino, paths in same:
        assert look(cwd, *paths) == [(0, ino)] * len(paths)
    errors = [
        (ENOENT, ["", "nope", "/nope", "a/nope/x", "./fil", "filee"]),
        (ENOTDIR, ["file/", "file/.", "file/..", "file/x", "/dev/null/", "a/b/deep/x"]),
        (ENAMETOOLONG, ["n" * 256, "a/" + "n" * 256, "/" * 1024, "./" * 512 + "a", "x/" * 2000]),
    ]
    for err, paths in errors:
        assert look("/", *paths) == [(err, 0)] * len(paths)
    assert look("/", "a/" + "n" * 255, "/" * 1023)[1] == (0, root)
    assert look("/", "a/" + "n" * 255)[0][0] == 0
