"""weft doctor: is everything there that weft needs, does exact timing hold on this host, and
which accelerator is worth using?

Each check yields findings.  What is measured is measured with real guests: a version number
does not tell whether QEMU counts instructions faithfully, nor an open /dev/kvm whether a
processor stands behind it.
"""

import contextlib
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from . import build, ccmd, gdbcmd, iso, project
from .counts import counted
from .guest import run as run_guest
from .machine import QEMU, HostError, Machine
from .paths import BUILD

OLDEST_QEMU = (7, 2)
TESTED_CPUS = (1, 2, 4, 8)
SELFTEST_US = 10_000  # virtual, of each CPU
SPEED_US = 40_000  # virtual, in which four CPUs compute
SPEED_CPUS = 4
INSTRUCTIONS_A_US = 1000  # of a CPU, whatever the host: --mips is 1000 by default
GUEST_SECONDS = 120  # a guest that takes longer is a fault
COMPUTE = ["pp", "-i", "500000"]  # on one CPU, in model mxn: a second or so of computing
WORTH_IT = 2.0  # times as fast as tcg: else an accelerator only emulates

OK, NOTE, FAULT = "ok", "", "FAULT"


@dataclass
class Finding:
    """level: OK; NOTE: weft does without it; FAULT: something needed is not as it must be."""

    level: str
    what: str
    text: str
    advice: str = ""


def _first_line(*command):
    """What a tool says of itself, or None if it cannot be called."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (done.stdout.strip().splitlines() or [""])[0] if done.returncode == 0 else None


# --- what is installed --------------------------------------------------------------------

def _tool(what, name, package):
    """A tool that is called by one name and says its version."""
    line = _first_line(name, "--version")
    if line is None:
        return Finding(FAULT, what, f"{name} is missing or does not work",
                       f"install {package}; `make setup` does, where it may")
    return Finding(OK, what, line)


def qemu():
    found = _tool("QEMU", QEMU, "qemu-system-x86 (Debian), qemu-system-x86-core (Fedora)")
    if found.level == OK:
        version = re.search(r"version (\d+)\.(\d+)", found.text)
        if version is None or (int(version[1]), int(version[2])) < OLDEST_QEMU:
            found.level = FAULT
            found.advice = "weft needs QEMU 7.2 or newer: a newer release of your system, or " \
                "its backports"
    return found


def compiler():
    try:
        return _tool("compiler", ccmd.compiler(), "gcc")
    except HostError as error:
        return Finding(FAULT, "compiler", str(error),
                       "install gcc on x86-64, gcc-x86-64-linux-gnu or x86_64-elf-gcc elsewhere")


def gdb():
    try:
        return _tool("GDB", gdbcmd.find_gdb(again=True), "gdb")
    except HostError as error:
        return Finding(FAULT, "GDB", str(error), "`weft gdb` needs it; `make setup` installs it")


def newlib():
    """The C library as built, or the source to build it from."""
    stamp = BUILD / "newlib/stamp"
    if stamp.is_file():
        source = re.search(r"^source (.*)$", stamp.read_text(), re.MULTILINE)
        return Finding(OK, "newlib", f"built from {Path(source[1]).name}" if source else "built")
    given = os.environ.get("NEWLIB_SOURCE")
    sources = [Path(given)] if given else sorted(Path("/usr/src/newlib").glob("newlib-*.tar.*"))
    if sources and sources[-1].is_file():
        return Finding(OK, "newlib", f"to be built from {sources[-1]}")
    return Finding(FAULT, "newlib", f"no source archive{f' {given}' if given else ''}",
                   "install newlib-source (Debian), or set NEWLIB_SOURCE to the path of "
                   "newlib-3.3.0.tar.gz")


def grub():
    try:
        return _tool("GRUB", iso.grub_mkrescue(), "grub-common and grub-pc-bin")
    except iso.IsoError:
        return Finding(FAULT, "GRUB", "grub-mkrescue is missing",
                       "for CD images: install grub-common and grub-pc-bin; `make setup` does")


def packages():
    """The Python packages of the environment against those that are asked for."""
    wrong, names = [], []
    for requirement in project.packages(project.BASE):
        package, _, condition = requirement.partition(";")
        name, _, wanted = package.strip().partition("==")
        try:
            has = metadata.version(name)
        except metadata.PackageNotFoundError:
            if condition:  # not for this Python, then: pip has read the same line
                continue
            has = "missing"
        names.append(f"{name} {has}")
        if has != wanted:
            wrong.append(f"{name} is {has}, not {wanted}")
    python = f"Python {sys.version.split()[0]}"
    if wrong:
        return Finding(FAULT, "Python", f"{python}: {', '.join(wrong)}",
                       "remove build/venv; the next call of tools/weft makes it again")
    return Finding(OK, "Python", f"{python}, {', '.join(names)}")


def tools():
    yield qemu()
    yield compiler()
    yield newlib()
    yield gdb()
    yield grub()
    yield _tool("xorriso", "xorriso", "xorriso")
    yield _tool("mtools", "mformat", "mtools")
    yield packages()


# --- exact timing ---------------------------------------------------------------------------

@contextlib.contextmanager
def busy_host():
    """Twice as many processes as the host has CPUs compete with whatever runs meanwhile."""
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for process in load:
            process.kill()
            process.wait()


def _exact(run, argv, cpus, selftest=1000):
    result = run(Machine(argv=argv, smp=cpus, timing="exact", append=f"selftest={selftest}",
                         timeout=GUEST_SECONDS))
    if result.error:
        said = (result.panic or result.output).strip().splitlines()
        raise HostError(f"{cpus} CPUs: {result.error}{f' ({said[0]})' if said else ''}")
    return result


def _selftests(run):
    """Makes a long self-test on each number of CPUs; how long that on SPEED_CPUS took."""
    seconds = {cpus: _exact(run, ["true"], cpus, SELFTEST_US).seconds for cpus in TESTED_CPUS}
    return seconds[SPEED_CPUS]


def _speed(run, seconds):
    """Guest instructions a second, all CPUs together.  The same boot with a shorter self-test
    took `seconds`: so the boot does not count."""
    longer = _exact(run, ["true"], SPEED_CPUS, SELFTEST_US + SPEED_US).seconds
    if longer - seconds < 0.1:
        return "too uneven to tell: the host is busy"
    millions = SPEED_CPUS * SPEED_US * INSTRUCTIONS_A_US / 1e6 / (longer - seconds)
    return f"{millions:.0f} million guest instructions a second"


def exact_timing(run=run_guest):
    what = "exact timing"
    advice = "QEMU 7.2 and 10.0 are known to count faithfully; figures of `weft bench` are not " \
        "to be trusted on this QEMU"
    try:
        seconds = _selftests(run)
        counts = ", ".join(map(str, TESTED_CPUS))
        yield Finding(OK, what, f"the clocks of {counts} CPUs count each instruction, and none more")
        first = _exact(run, ["ptime", "pp", "-v", "-i", "2000"], 4)
        with busy_host():
            second = _exact(run, ["ptime", "pp", "-v", "-i", "2000"], 4)
        same = (first.status, first.output) == (second.status, second.output)
        if same and first.status == 0:
            yield Finding(OK, what, "a run and its repeat on a busy host gave the same bytes")
        else:
            yield Finding(FAULT, what, "a run and its repeat on a busy host differ" if not same
                          else f"a run ended with status {first.status}", advice)
        yield Finding(NOTE, "speed", f"{_speed(run, seconds)} ({SPEED_CPUS} CPUs, exact timing, "
                      "Q=1000)")
    except HostError as error:
        yield Finding(FAULT, what, f"does not run: {error}", advice)


# --- accelerators -----------------------------------------------------------------------------

def _compute(run, accel, limit):
    """Host seconds to boot and compute; HostError says why there are none."""
    result = run(Machine(argv=COMPUTE, model="mxn", accel=accel, timeout=limit))
    if result.error or result.status != 0:
        raise HostError((result.error or f"status {result.status}").splitlines()[-1])
    return result.seconds


def accelerators(run=run_guest, device="/dev/kvm"):
    try:
        tcg = _compute(run, "tcg", GUEST_SECONDS)
    except HostError as error:
        yield Finding(FAULT, "tcg", f"a guest does not run: {error}", "see the other faults")
        return
    yield Finding(OK, "tcg", f"boots and computes in {tcg:.1f} s")
    stay = "stay with --accel tcg"
    if not os.path.exists(device):
        yield Finding(NOTE, "kvm", f"there is no {device}", stay)
        return
    if not os.access(device, os.R_OK | os.W_OK):
        yield Finding(NOTE, "kvm", f"{device} may not be opened", "to try it, join its group "
                      f"({device} says which, usually kvm) and log in again")
        return
    try:
        kvm = _compute(run, "kvm", max(10.0, 2 * tcg))
    except HostError as error:
        yield Finding(NOTE, "kvm", f"{device} opens, but a guest does not run: {error}", stay)
        return
    if kvm * WORTH_IT > tcg:
        yield Finding(NOTE, "kvm", f"{device} opens, but boots and computes in {kvm:.1f} s: it "
                      "only emulates", stay)
    else:
        yield Finding(OK, "kvm", f"boots and computes in {kvm:.1f} s",
                      "--accel kvm is worth it, in fast timing")


# --- the command --------------------------------------------------------------------------------

def _built(no_build):
    """What keeps guests from being started, or None."""
    if not no_build:
        try:
            build.make()
        except HostError as error:
            return Finding(FAULT, "build", str(error), "see what make says above")
    if not (BUILD / "weft.elf").is_file() or not (BUILD / "initrd.cpio").is_file():
        return Finding(FAULT, "build", "the kernel is not built", "call make")
    return None


def findings(no_build=False):
    faults = False
    for found in tools():
        faults |= found.level == FAULT and found.what in ("QEMU", "compiler", "newlib")
        yield found
    trouble = None if faults else _built(no_build)
    if faults or trouble:
        yield trouble or Finding(NOTE, "guests", "not tried, because of the faults above")
        return
    yield from exact_timing()
    yield from accelerators()


def add_options(parser):
    parser.add_argument("--no-build", action="store_true", help="do not call make first")


def doctor(args):
    """1: something that weft needs is missing or wrong; else 0."""
    faults = 0
    for found in findings(args.no_build):
        faults += found.level == FAULT
        print(f"{found.level:6} {found.what:13} {found.text}", flush=True)
        if found.advice:
            print(f"{'':21}-> {found.advice}", flush=True)
    print(f"weft: {counted(faults, 'fault')}: see the arrows" if faults else "weft: all is well")
    return 1 if faults else 0
