"""Copies of the RAM disk for the guests of a process, one after the other: each guest has exactly its own bytes."""

import os

import pytest
from weft_host.disks import DISKS, Disks
from weft_host.guest import run
from weft_host.machine import INITRD, HostError, Machine

BASE = bytes(range(256)) * 64


@pytest.fixture
def base(tmp_path):
    path = tmp_path / "base.cpio"
    path.write_bytes(BASE)
    return path


@pytest.fixture
def made(tmp_path, base):
    """made(behind) is the disk of one more guest, of the Disks `made.disks`."""
    def make(behind):
        path = tmp_path / f"guest{len(make.paths)}"
        make.paths.append(path)
        make.disks.write(base, path, behind)
        assert path.read_bytes() == base.read_bytes() + behind
        return path

    make.disks, make.paths = Disks(), []
    make(b"the first guest of a process")
    return make


def inode(path):
    return os.stat(path).st_ino


def test_the_next_guest_has_the_copy(made):
    for behind in (b"long" * 1000, b"short", b""):
        path = made(behind)
        number = inode(path)
        made.disks.give_back(path)
        assert not path.exists()
        again = made(b"another")
        assert inode(again) == number
        made.disks.give_back(again)


def test_two_guests_at_once_have_two_copies(made):
    one, two = made(b"1"), made(b"2")
    assert inode(one) != inode(two)
    numbers = {inode(one), inode(two)}
    for path in (one, two):
        made.disks.give_back(path)
    assert {inode(made(b"3")), inode(made(b"4"))} == numbers
    assert inode(made(b"5")) not in numbers


def change_longer(path):
    path.write_bytes(path.read_bytes() + b"!")


def change_inside(path):
    before = path.stat()
    with open(path, "r+b") as file:
        file.write(b"changed")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))


def replace(path):
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


@pytest.mark.parametrize("change", [change_longer, change_inside, replace])
def test_a_copy_that_was_changed_is_not_used(made, change):
    path = made(b"behind")
    change(path)
    made.disks.give_back(path)
    made(b"behind")  # compares the bytes
    assert path.exists()


def test_a_copy_that_is_to_be_changed_is_not_used(made):
    path = made(b"behind")
    made.disks.forget(path)
    made.disks.give_back(path)
    assert path.exists()


def test_an_archive_that_is_built_again(made, base):
    path = made(b"old")
    made.disks.give_back(path)
    fresh = base.with_name("fresh")
    fresh.write_bytes(BASE[::-1])
    fresh.replace(base)
    made(b"new")  # compares the bytes


def test_the_only_guest_of_a_process_leaves_nothing(made):
    made.disks.give_back(made.paths[0])
    assert made.paths[0].exists()


def test_a_copy_that_is_gone(made):
    """Somebody has emptied the directory for temporary files."""
    path = made(b"1")
    made.disks.give_back(path)
    (kept,), = made.disks._free.values()
    kept.unlink()
    made(b"2")


def test_no_room_for_a_directory(made, monkeypatch):
    def none():
        raise HostError("no directory for temporary files")

    monkeypatch.setattr("weft_host.workdir.WorkDirectory", none)
    path = made(b"1")
    made.disks.give_back(path)
    assert path.exists()


def test_guests_one_after_the_other(tmp_path):
    """Each has its own files, and none of the guest before it."""
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"this is {name}\n")
    for name, other in (("a", "b"), ("b", "a"), ("a", "b")):
        result = run(Machine(argv=["cat", f"/host/{name}", f"/host/{other}"], files=[tmp_path / name]))
        assert result.output.startswith(f"this is {name}\ncat: ")
        assert (result.status, result.error) == (1, "")


def test_a_guest_s_directory_is_not_left_behind(tmp_path):
    """Where the caller has the directory, too."""
    DISKS.write(Machine().build / INITRD, tmp_path / "one", b"")  # so that this is not the process's only guest
    assert run(Machine(argv=["true"]), work=tmp_path).status == 0
    assert not (tmp_path / INITRD).exists()
