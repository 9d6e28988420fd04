"""weft doctor: on this host, which has all that it needs, and on hosts with faults."""

import os
from types import SimpleNamespace

import pytest
from weft_host import debugged, doctor
from weft_host.doctor import FAULT, NOTE, OK
from weft_host.guest import Result
from weft_host.machine import HostError


def test_this_host(weft):
    done = weft("doctor", timeout=600)
    said = done.stdout.decode()
    assert done.returncode == 0, said + done.stderr.decode()
    for line in ("ok     QEMU ", "ok     compiler ", "ok     newlib ", "ok     GDB ",
                 "ok     GRUB ", "ok     Python ", "ok     exact timing  the clocks of 1, 2, 4, 8 CPUs",
                 "ok     exact timing  a run and its repeat", "       speed ", "ok     tcg "):
        assert line in said, said
    assert " kvm  " in said


# --- tools ------------------------------------------------------------------------------

@pytest.fixture
def path(tmp_path, monkeypatch):
    """path(name, output, status=0): a fake tool, on a PATH that has the shell's and nothing
    else."""
    monkeypatch.setattr(debugged, "PROVED", tmp_path / "proved")
    for tool in ("sh", "dirname", "env"):
        (tmp_path / tool).symlink_to(f"/usr/bin/{tool}")
    monkeypatch.setenv("PATH", str(tmp_path))

    def add(name, output, status=0):
        tool = tmp_path / name
        tool.write_text(f"#!/bin/sh\ncase $* in\n*python*) echo python 2;;\n"
                        f"*) echo '{output}';;\nesac\nexit {status}\n")
        tool.chmod(0o755)

    return add


def test_nothing_is_installed(path):
    found = {f.what: f for f in doctor.tools()}
    for what in ("QEMU", "compiler", "GDB", "GRUB", "xorriso", "mtools"):
        assert found[what].level == FAULT, found[what]
        assert found[what].advice, found[what]
    assert found["Python"].level == OK


def test_all_is_installed(path):
    path("qemu-system-x86_64", "QEMU emulator version 10.0.2 (Debian)")
    path("x86_64-elf-gcc", "x86_64-elf-gcc 14")
    path("gdb-multiarch", "GNU gdb 14")
    path("grub2-mkrescue", "grub2-mkrescue 2.12")
    path("xorriso", "xorriso 1.5.6")
    path("mformat", "mformat 4.0.44")
    found = {f.what: f for f in doctor.tools()}
    assert [f for f in found.values() if f.level != OK] == []
    assert found["QEMU"].text == "QEMU emulator version 10.0.2 (Debian)"
    assert found["compiler"].text == "x86_64-elf-gcc 14"
    assert found["GDB"].text == "GNU gdb 14"


@pytest.mark.parametrize("says, level", [
    ("QEMU emulator version 7.1.0", FAULT), ("QEMU emulator version 6.2.0 (Ubuntu)", FAULT),
    ("QEMU emulator version 7.2.22 (Debian)", OK), ("QEMU emulator version 10.0.0", OK),
    ("something else", FAULT)])
def test_version_of_qemu(path, says, level):
    path("qemu-system-x86_64", says)
    assert doctor.qemu().level == level


def test_a_tool_that_fails(path):
    path("qemu-system-x86_64", "QEMU emulator version 10.0.0", status=127)
    assert doctor.qemu().level == FAULT


def test_newlib(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "BUILD", tmp_path)
    monkeypatch.setenv("NEWLIB_SOURCE", str(tmp_path / "newlib-3.3.0.tar.xz"))
    assert doctor.newlib().level == FAULT
    (tmp_path / "newlib-3.3.0.tar.xz").touch()
    assert doctor.newlib().text.startswith("to be built from ")
    (tmp_path / "newlib").mkdir()
    (tmp_path / "newlib/stamp").write_text("recipe 1 2\ncompiler gcc\nsource /usr/n-3.3.0.tar\n")
    assert doctor.newlib().text == "built from n-3.3.0.tar"


def test_a_package_of_the_wrong_version(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text(
        '[project]\ndependencies = ["pytest==0.1", "no-such-package==1.0",\n'
        """"no-such-tomli==1.0; python_version < '3'"]\n""")
    monkeypatch.setattr(doctor.project, "FILE", tmp_path / "pyproject.toml")
    found = doctor.packages()
    assert found.level == FAULT
    assert "pytest is " in found.text and "no-such-package is missing, not 1.0" in found.text


# --- guests -----------------------------------------------------------------------------

class Guests:
    """Stands in for guest.run: every guest does well, except for what a test changes."""

    def __init__(self, **changes):
        self.runs = 0
        self.changes = changes

    def __call__(self, machine):
        self.runs += 1
        result = Result(0, "the same\n",
                        seconds=1.0 if "selftest=50000" not in machine.append else 5.0)
        if "seconds" in self.changes:
            result.seconds = self.changes["seconds"][machine.accel]
        for name in ("error", "status"):
            if name in self.changes:
                setattr(result, name, self.changes[name])
        if self.changes.get("fails") == machine.accel:
            result.status, result.error = 69, "QEMU ended with status 1: no\nreal CPU"
        if "drifts" in self.changes:
            result.output = f"run {self.runs}\n"
        return result


def levels(found):
    return [(f.what, f.level) for f in found]


def test_exact_timing_holds():
    found = list(doctor.exact_timing(Guests()))
    assert levels(found) == [("exact timing", OK), ("exact timing", OK), ("speed", NOTE)]
    assert "1, 2, 4, 8 CPUs" in found[0].text
    # Four CPUs, 40 virtual milliseconds each, in four seconds.
    assert found[2].text.startswith("40 million guest instructions a second")


@pytest.mark.parametrize("changes, says", [
    ({"drifts": True}, "a run and its repeat on a busy host differ"),
    ({"status": 1}, "ended with status 1"),
    ({"status": 70, "error": "the kernel panicked"}, "1 CPUs: the kernel panicked"),
])
def test_exact_timing_does_not_hold(changes, says):
    faults = [f for f in doctor.exact_timing(Guests(**changes)) if f.level == FAULT]
    assert len(faults) == 1
    assert says in faults[0].text
    assert "not to be trusted" in faults[0].advice


def test_the_load_ends():
    with pytest.raises(KeyboardInterrupt), doctor.busy_host():
        raise KeyboardInterrupt
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize("changes, level, says", [
    ({"seconds": {"tcg": 2.0, "kvm": 0.5}}, OK, "computes in 0.5 s"),
    ({"seconds": {"tcg": 2.0, "kvm": 1.9}}, NOTE, "it only emulates"),
    ({"seconds": {"tcg": 2.0, "kvm": 30.0}}, NOTE, "it only emulates"),
    ({"fails": "kvm"}, NOTE, "a guest does not run: real CPU"),
])
def test_kvm(tmp_path, changes, level, says):
    (tmp_path / "kvm").touch()
    tcg, kvm = doctor.accelerators(Guests(**changes), str(tmp_path / "kvm"))
    assert tcg.level == OK
    assert kvm.level == level
    assert says in kvm.text
    assert ("worth it" in kvm.advice) == (level == OK)


def test_no_kvm(tmp_path):
    tcg, kvm = doctor.accelerators(Guests(), str(tmp_path / "kvm"))
    assert (tcg.level, kvm.level) == (OK, NOTE)


def test_no_guest_runs(tmp_path):
    found = list(doctor.accelerators(Guests(fails="tcg"), str(tmp_path / "kvm")))
    assert levels(found) == [("tcg", FAULT)]


# --- the whole --------------------------------------------------------------------------

def test_a_fault_is_the_status(path, capsys):
    """Without QEMU no guest is tried."""
    assert doctor.doctor(SimpleNamespace(no_build=True)) == 1
    said = capsys.readouterr().out
    assert "FAULT  QEMU          qemu-system-x86_64 is missing" in said
    assert "-> install qemu-system-x86" in said
    assert "not tried, because of the faults above" in said
    assert "exact timing" not in said


@pytest.mark.parametrize("levels, last", [([OK], "weft: all is well"),
                                          ([FAULT], "weft: 1 fault: see the arrows"),
                                          ([FAULT, NOTE, FAULT], "weft: 2 faults: see the arrows")])
def test_the_last_line_counts_the_faults(monkeypatch, capsys, levels, last):
    monkeypatch.setattr(doctor, "findings", lambda no_build: [
        doctor.Finding(level, "what", "text") for level in levels])
    doctor.doctor(SimpleNamespace(no_build=True))
    assert capsys.readouterr().out.splitlines()[-1] == last


def test_a_gdb_is_asked_once(path, tmp_path):
    """Of each file; weft doctor asks it again."""
    asked = tmp_path / "asked"

    def write(answer):
        (tmp_path / "gdb").write_text(f"#!/bin/sh\necho asked >>{asked}\necho python {answer}\n")
        (tmp_path / "gdb").chmod(0o755)

    def count():
        return asked.read_text().count("asked")

    write("2")
    assert [debugged.find_gdb(), debugged.find_gdb(), count()] == ["gdb", "gdb", 1]
    assert [debugged.find_gdb(again=True), count()] == ["gdb", 2]
    write("is not here")
    for times in (3, 4):
        with pytest.raises(HostError, match="no GDB with"):
            debugged.find_gdb()
        assert count() == times
    write("2  # again")
    (tmp_path / "proved").unlink()
    (tmp_path / "proved").mkdir()  # nothing can be kept
    assert [debugged.find_gdb(), debugged.find_gdb(), count()] == ["gdb", "gdb", 6]
