"""A guest that has failed tells what every thread waits for: the picture after a panic, a standstill and a
time limit, and what `weft crash` makes of a file that --keep has left."""

import contextlib
import random
import re
import subprocess
import sys
import time
import zipfile

import pytest
from conftest import GUEST_PROGRAMS, MODELS, TOP, brought, turn
from test_proc_tools import KERNEL, KINDS
from weft_debug import guest as guests
from weft_debug import waits
from weft_debug.crash import CrashError, CrashFile, Ended
from weft_debug.crash import write as write_crash
from weft_debug.crashstub import CrashStub
from weft_debug.guest import Guest
from weft_debug.memory import PAGE, MemoryFault
from weft_debug.picture import picture
from weft_debug.programs import Programs
from weft_debug.stub import StubMachine
from weft_host.guest import Guest as Running
from weft_host.guest import run
from weft_host.machine import ENGINES, QMP_SOCKET, Machine
from weft_host.monitor import Monitor
from weft_host.packets import StubError
from weft_host.standing import Standing, crash_path, explained

TIMINGS = [{"timing": "fast"}, *({"timing": "exact", "engine": engine} for engine in ENGINES)]
NAMES = ["fast", *ENGINES]
DEADLOCK = "deadlock: thread 2 (left) waits for mutex second held by thread 3 (right), which waits for mutex " \
           "first held by thread 2 (left)"
CIRCLE = f"""mutex second, held by thread 3 (right)
    thread 2 (left) waits
mutex first, held by thread 2 (left)
    thread 3 (right) waits
{DEADLOCK}
"""
MEM = "128M"  # the smaller, the sooner it is kept
# The shell is process 2, and what it starts in the background process 3.
SPIN = "while :; do :; done"


def limit(timing):
    """Seconds: in fast timing it ends the guest, and in exact timing the standstill comes before."""
    return 8 if timing["timing"] == "fast" else 100


def untimed(text):
    """Without how long each thread has waited."""
    return re.sub(r", for \d+\.\d{3} s\b", "", text)


def section(text, pid):
    """What a picture says of one process, without times."""
    return untimed(re.search(rf"^{pid}:\t.*\n(?:.+\n)*", text, re.MULTILINE)[0])


def circle(weft, timing, *more):
    """The deadlock, as a user runs it."""
    options = [word for key, value in timing.items() for word in (f"--{key}", value)]
    with turn() if timing["timing"] == "fast" else contextlib.nullcontext():
        return weft("run", "--smp", 2, "--mem", MEM, "--model", "mxn", "--timeout", limit(timing), *options, *more,
                    "--", "held_locks", "circle")


# --- every end -------------------------------------------------------------------------------------------


# In fast timing this test waits for the time limit.  The structures of sa are those of mxn: sa is left out.
@pytest.mark.parametrize("model, timing", [
    pytest.param(model, timing, id=f"{model}-{name}") for model in MODELS for timing, name in zip(TIMINGS, NAMES)
    if (model, name) != ("sa", "fast")])
def test_a_deadlock_of_two_threads(guest, model, timing):
    """Exact timing finds the standstill; in fast timing the time limit ends the guest."""
    result = guest(["held_locks", "circle"], smp=2, model=model, timeout=limit(timing), may_fail=True, **timing)
    assert result.status == 124
    assert ("standstill" in result.panic) == (timing["timing"] == "exact"), result.panic
    assert CIRCLE in section(result.picture, 2), result.picture
    assert re.search(r"^  2 +left +Blocked +(2|-) +- +mutex second, held by thread 3 \(right\)$",
                     section(result.picture, 2), re.MULTILINE), result.picture
    assert "damaged" not in result.picture


def test_the_engines_show_the_same(guest):
    pictures = [guest(["held_locks", "circle"], smp=3, model="mxn", timing="exact", engine=engine, may_fail=True,
                      timeout=60).picture for engine in ENGINES]
    assert pictures[0] == pictures[1] != ""


@pytest.mark.parametrize("timing", TIMINGS, ids=NAMES)
@pytest.mark.parametrize("model", ["lwp", "mxn", "sa"])
def test_a_panic(model, timing):
    """A machine check, which QEMU's monitor makes, comes in the middle of everything."""
    machine = Machine(argv=["sh", "-c", f"held_locks circle & sleep 0.2; echo stands; {SPIN}"], smp=2, model=model,
                      timeout=60, files=brought("held_locks"), **timing)
    with turn(), Running(machine) as running:
        seen = bytearray()

        def sink(text):
            seen.extend(text)
            if b"stands" in seen and not done:
                done.append(True)
                monitor = Monitor(running.work / QMP_SOCKET, 10)
                monitor.ask("human-monitor-command", **{"command-line": "mce 0 1 0xbd80000000100134 5 0 0x8c"})
                monitor.close()

        done = []
        result = running.relay(sink)
    assert (result.status, result.error) == (70, "the kernel panicked"), result
    assert "weft: panic: machine check" in result.panic
    assert CIRCLE in section(result.picture, 3), result.picture
    # The shell computes, or is not quite back from its write.
    assert re.search(r"^\d +2/1 +sh +(user|kernel) ", result.picture, re.MULTILINE), result.picture
    assert "damaged" not in result.picture


def test_a_panic_without_processes(guest):
    result = guest(["true"], append="init=/nothing", may_fail=True, timing="exact", smp=2)
    assert result.status == 70 and "cannot start /nothing" in result.panic
    assert re.search(r"^0 +- +\S+ +kernel +\w+\+0x", result.picture, re.MULTILINE), result.picture


@pytest.mark.parametrize("timing", TIMINGS[:2], ids=NAMES[:2])
def test_a_thread_that_spins(guest, timing):
    """At the time limit an NMI has interrupted the thread; the picture shows where."""
    result = guest(["spins_for", "pool"], model="mxn", smp=2, may_fail=True, timeout=6, **timing)
    assert result.timed_out
    assert re.search(r"^\d +2/1 +spins_for +user +main\+0x", result.picture, re.MULTILINE), result.picture
    assert len(re.findall(r"^  [23] +- +RunQueue +- +- +an LWP$", result.picture, re.MULTILINE)) == 2


def stopped(command, **options):
    """What a shell prints up to its line "stands", after which it computes; and the picture of then.  Nothing is
    asked of the kernel: QEMU stops a guest that runs."""
    machine = Machine(argv=["sh", "-c", f"{command}; echo stands; {SPIN}"], smp=2, timeout=100,
                      files=brought("held_locks"), **options)
    seen, said = bytearray(), []

    def sink(text):
        seen.extend(text)
        if seen.endswith(b"stands\n") and not said:
            with Standing(running.work, machine) as standing:
                said.append(standing.picture())
            running.qemu.kill()

    with turn() if machine.timing == "fast" else contextlib.nullcontext(), Running(machine) as running:
        running.relay(sink)
    assert said, seen
    return seen.decode().removesuffix("stands\n"), said[0]


@pytest.mark.parametrize("timing", TIMINGS, ids=NAMES)
def test_a_kernel_that_does_not_answer(timing):
    _, said = stopped("held_locks circle & sleep 0.2", model="mxn", **timing)
    assert CIRCLE in section(said, 3), said


# --- the words of the guest -----------------------------------------------------------------------------


@pytest.mark.parametrize("model, what, wanted, env", [
    *((model, "kinds", KINDS, "") for model in MODELS),
    ("lwp", "kinds", KINDS, "LIBTHREAD_OPTIONS=sleep=kernel"),
    *((model, "kernel", KERNEL, "") for model in ("lwp", "mxn", "sa"))])
def test_each_kind_of_wait(model, what, wanted, env):
    """As plocks and pstack say it in the guest, of the same process."""
    output, shown = stopped(f"{env} held_locks {what} & sleep 0.2; plocks 3; echo; pstack 3; echo; lwps 3",
                            model=model, timing="exact")
    plocks, pstack, lwps = output.split("\n\n")
    said = section(shown, 3)
    objects = untimed(plocks.partition("\n")[2])
    assert said.endswith(objects.removesuffix("no deadlock found")), (said, plocks)
    for name in wanted:
        assert f"\n{name}\n" in said, name
    waits_for = re.findall(r"^ \w+, waits for (.*)$", untimed(pstack), re.MULTILINE)
    ours = re.findall(r"^  \d+ +.*? (?:Blocked|OnLWP) +\S+ +\S+ +(.*)$", said, re.MULTILINE)
    assert set(waits_for) <= set(ours), (waits_for, ours)
    # PID LWP STATE CLS PRI CPU USER SYS SYSCALL WAITS-FOR NAME
    rows = [re.split(r"\s+", line.strip(), maxsplit=10) for line in lwps.splitlines()[1:]]
    for row in rows:
        assert re.search(rf"^3 +{row[1]} +{row[2]} +{row[3]} +\d+ +\d+ +{row[8]} +{row[9]} +"
                         rf"{re.escape(row[10])}$", shown, re.MULTILINE), (row, shown)
    assert len(rows) > 1


@pytest.mark.parametrize("model, how, says, known", [
    ("mxn", "ring", "the list of threads does not lead back to its first", 3),
    ("lwp", "wild", "the list of threads leads to memory that is no thread", 3),
    ("sa", "ring", "the list of threads does not lead back to its first", 3),
    ("n1", "image", "", 0)])
def test_a_process_that_damages_itself(guest, model, how, says, known):
    result = guest(["held_locks", how], smp=2, model=model, timing="exact", may_fail=True, timeout=60)
    said = section(result.picture, 2)
    assert len(re.findall(r" waits$", said, re.MULTILINE)) >= (2 if known else 0), said
    assert f"damaged: process 2: {says}\n" in result.picture or not says, result.picture


def test_a_deadlock_through_two_processes(tmp_path, weft, guest):
    """Each holds a robust mutex in memory that they share, and waits for the other's."""
    source = tmp_path / "across.c"
    source.write_text("""
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	struct { pthread_mutex_t m[2]; pthread_barrier_t both; } *s =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;
	pthread_barrierattr_t battr;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrierattr_init(&battr);
	pthread_barrierattr_setpshared(&battr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->m[0], &attr);
	pthread_mutex_init(&s->m[1], &attr);
	pthread_barrier_init(&s->both, &battr, 2);
	int child = fork() == 0;
	pthread_mutex_lock(&s->m[child]);
	pthread_barrier_wait(&s->both);
	pthread_mutex_lock(&s->m[!child]);
	return 1;
}
""")
    assert weft("cc", "-O1", source, "-o", tmp_path / "across").returncode == 0
    result = guest(["across"], files=[tmp_path / "across"], smp=2, timing="exact", may_fail=True)
    deadlocks = re.findall(r"^deadlock: .*$", result.picture, re.MULTILINE)
    assert len(deadlocks) == 2 and all(re.fullmatch(
        r"deadlock: thread 1 of process (\d) waits for mutex 0x\w+ held by thread 1 of process (\d), which waits "
        r"for mutex 0x\w+ held by thread 1 of process \1", line) for line in deadlocks), result.picture


def test_the_numbers_of_the_headers():
    """Debugging information has no macros, so waits.py has some of weft/ksync.h and weft/signal.h."""
    text = (TOP / "kernel/include/weft/ksync.h").read_text()
    macros = {name: int(value, 0) << int(shift or 0) for name, value, shift in re.findall(
        r"^#define (LWP_\w+) \(?(0x[0-9a-f]+|1)(?:ull|u)?(?: << (\d+)\))?", text, re.MULTILINE)}
    ours = {name: value for name, value in vars(waits).items() if name.startswith("LWP_")}
    assert len(ours) > 8 and ours.items() <= macros.items()
    text = (TOP / "kernel/include/weft/signal.h").read_text()
    signals = {int(number): name for name, number in re.findall(
        r"^#define WEFT_SIG([A-Z0-9]+) (\d+)\b", text, re.MULTILINE)}
    assert {n: name for n, name in enumerate(waits.SIGNALS, 1) if name != "-"} == \
        {n: name for n, name in signals.items() if n < waits.FIRST_REALTIME}
    text = (TOP / "user/bin/threads/states.h").read_text()
    assert tuple(re.findall(r"\] = \"(\w+)\"", text)) == guests.LWP_STATES


# --- crash files ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A Result whose memory was kept, of held_locks in mxn."""
    folder = tmp_path_factory.mktemp("kept")
    result = run(Machine(argv=["held_locks", "kinds"], smp=2, model="mxn", timing="exact", seed=5, timeout=60,
                         mem=MEM, files=brought("held_locks"), keep=folder / "crashes", background=True))
    assert result.kept == folder / "crashes/held_locks-seed5.crash"
    return result


@pytest.mark.parametrize("timing", TIMINGS, ids=NAMES)
def test_keep(weft, tmp_path, timing):
    """One command tells of the deadlock; the file shows what the run has shown."""
    done = circle(weft, timing, "--keep", tmp_path / "k")
    assert done.returncode == 124
    assert f"\n{DEADLOCK}\n".encode() in done.stderr and done.stdout == b"", done.stderr.decode()
    path, = (tmp_path / "k").iterdir()
    assert f"its memory is kept: tools/weft crash {path}\n" in done.stderr.decode()
    text, _, _ = done.stderr.decode().partition("weft: time-out")[0].partition("weft: nothing could happen")
    shown = weft("crash", path)
    assert shown.returncode == 0 and shown.stderr == b""
    head, _, rest = shown.stdout.decode().partition("\n")
    assert head.startswith("held_locks circle: ") and head.endswith(", status 124")
    assert rest.strip() == text.strip()
    alone = weft("crash", path, "--pid", "2").stdout.decode()
    assert CIRCLE in untimed(alone) and "CPU  LWP" not in alone and "1:\tinit" not in alone
    refused = weft("crash", path, "--pid", "99")
    assert (refused.returncode, refused.stdout) == (69, b"") and b"there is no process 99\n" in refused.stderr


def test_a_run_that_ends_well_leaves_nothing(weft, tmp_path):
    assert weft("run", "--timing", "exact", "--keep", tmp_path / "k", "--", "true").returncode == 0
    assert not (tmp_path / "k").exists()


def test_keep_where_it_cannot_be(weft, tmp_path):
    """The run's own result is not lost."""
    (tmp_path / "file").touch()
    done = weft("run", "--timing", "exact", "--keep", tmp_path / "file", "--", "held_locks", "circle")
    assert done.returncode == 124 and DEADLOCK.encode() in done.stderr
    assert re.search(rb"--keep: .*file: ", done.stderr), done.stderr.decode()


def test_a_second_file_gets_another_name(tmp_path):
    assert [crash_path(tmp_path, "a").name for _ in range(3)] == ["a.crash", "a-2.crash", "a-3.crash"]


def test_a_crash_file_when_all_was_built_anew(kept, tmp_path, weft):
    """It has the kernel and the programs itself."""
    path = tmp_path / "moved.crash"
    with zipfile.ZipFile(kept.kept) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "guest.json":
                data = re.sub(rb'"sha256": "\w{8}', b'"sha256": "00000000', data)
            new.writestr(name, data)
    shown = weft("crash", path)
    assert shown.returncode == 0 and shown.stdout.decode().rstrip().endswith(kept.picture.rstrip())
    assert b"weft.elf is not as it was" in shown.stderr and b"held_locks is not as it was" in shown.stderr


def opened(result, work):
    file = CrashFile(result.kept)
    return file, file.guest(work)


def test_the_parts_of_a_guest(kept, tmp_path):
    _, guest = opened(kept, tmp_path)
    assert picture(guest, most=60) == kept.picture == CrashFile(kept.kept).picture
    process = guest.process(2)
    assert guest.process(77) is None and guest.process_of(process.space.cr3) is process
    assert (process.name, process.parent, process.program) == ("held_locks", 1, TOP / "build/bin/held_locks")
    assert guest.process(1).program == TOP / "build/bin/init"
    assert [cpu.id for cpu in guest.cpus] == [0, 1] and [cpu.processor for cpu in guest.cpus].count(None) == 1
    assert len(process.threads) > 10 and sum(t.exited for t in process.threads) <= 1
    for thread in process.threads:
        if thread.exited:
            assert thread.registers is None and thread.wait is None
            continue
        assert thread.on is None and set(thread.saved) <= set(thread.registers)
        assert "+0x" in process.symbols.function(thread.registers["rip"]), thread
        assert thread.registers["fs_base"] == thread.record.at
        if thread.lwp is None:  # what the library has saved lies in the thread's own memory
            space, address = thread.saved["rip"]
            assert space is process.space and space.word(address) == thread.registers["rip"]
            assert address + 8 == thread.registers["rsp"]


def test_only_so_many_lines(kept, tmp_path):
    _, guest = opened(kept, tmp_path)
    text = picture(guest, most=1)
    assert "... 1 more processes\n" in text and "2:\theld_locks" not in text
    assert "PID  LWP  " in text and "... 1 more\n" in text, text


def test_no_room_for_the_file(kept, tmp_path):
    """What was written so far is removed."""
    _, guest = opened(kept, tmp_path)

    def memory():
        yield 0, bytes(1 << 18)
        raise OSError(28, "No space left on device")

    with pytest.raises(CrashError, match="No space left on device"):
        write_crash(tmp_path / "x.crash", guest, {}, memory(), Ended(["x"], 1, "", ""), "")
    assert not list(tmp_path.glob("x*"))


def test_pages_that_were_not_touched(kept, tmp_path):
    """They have the bytes of the file, or zeros; elsewhere there is no memory."""
    _, guest = opened(kept, tmp_path)
    process = guest.process(2)
    data = (TOP / "build/tests/bin/held_locks").read_bytes()
    text = process.space.read(0x400000, 16 * PAGE)
    assert text == data[:16 * PAGE]
    assert len(process.space._pages) > 0 and any(0x400 + n not in process.space._pages for n in range(16))
    main = min(t.registers["rsp"] for t in process.threads if t.id == 1)
    assert process.space.read((main & -PAGE) - 8 * PAGE, PAGE) in (bytes(PAGE), process.space.read(
        (main & -PAGE) - 8 * PAGE, PAGE))
    for address in (0, 0x1000, 1 << 47, 0x7fff_ffff_f000 + (1 << 50)):
        with pytest.raises(MemoryFault) as fault:
            process.space.read(address, 8)
        assert fault.value.address == address


def test_gdbs_packets(kept, tmp_path):
    """The stub over the file answers as QEMU's; nothing can be changed, and nothing runs."""
    file, guest = opened(kept, tmp_path)
    link = CrashStub(file).connect()

    def ask(packet):
        link.send(packet)
        return link.receive(10)

    machine = StubMachine(ask)
    assert machine.processors() == file.machine.processors()
    again = Guest(machine, guest.layout.elf, guest.programs)
    assert picture(again, most=60) == kept.picture
    assert ask(b"M0,1:00").startswith(b"E") and ask(b"G00").startswith(b"E") and ask(b"Hg9") == b"E16"
    assert b"replaylog:end" in ask(b"vCont;c") and ask(b"nonsense") == b"" and ask(b"mzz,1") == b"E16"
    ask(b"Qqemu.PhyMemMode:0")
    address = guest.layout.symbols["ncpu"]
    assert ask(b"m%x,4" % address) == b"02000000"
    link.close()


# --- damage -----------------------------------------------------------------------------------------------


class Damaged:
    """Physical memory with other bytes at some places."""

    def __init__(self, sound, changes):
        self._sound = sound
        self._changes = changes  # page -> [(offset, 8 bytes)]

    def read(self, address, size):
        first = address & -PAGE
        pages = range(first, address + size, PAGE)
        data = bytearray(self._sound.read(address, size))
        for page in pages:
            for offset, value in self._changes.get(page, ()):
                for i, byte in enumerate(value):
                    at = page + offset + i - address
                    if 0 <= at < size:
                        data[at] = byte
        return bytes(data)

    def write(self, address, data):
        raise MemoryFault(address)


class Watched(Damaged):
    """Notes which words are read."""

    def __init__(self, sound):
        super().__init__(sound, {})
        self.words = set()

    def read(self, address, size):
        self.words.update(range(address & -8, address + min(size, 256), 8))
        return super().read(address, size)


class Changed:
    def __init__(self, machine, physical, registers=None):
        self.physical = physical
        self._machine = machine
        self._registers = registers

    def processors(self):
        return self._registers or self._machine.processors()


@pytest.mark.parametrize("seed", range(8))
def test_damaged_memory(kept, tmp_path, seed):
    """Words that the picture depends on are others: numbers, pointers to other things, pointers in circles.
    There is always a picture, soon."""
    file, sound = opened(kept, tmp_path)
    watched = Watched(file.machine.physical)
    picture(Guest(Changed(file.machine, watched), sound.layout.elf, sound.programs))
    words = sorted(watched.words)
    assert len(words) > 500
    chance = random.Random(seed)
    values = [int.from_bytes(file.machine.physical.read(at, 8), "little") for at in chance.sample(words, 300)]
    pointers = [value for value in values if value >> 47] + [value for value in values if value]
    other = 0
    for _ in range(40):
        changes = {}
        for at in chance.sample(words, chance.choice((1, 3, 30, 300))):
            value = chance.choice((chance.choice(pointers), chance.getrandbits(64), chance.getrandbits(12), 0,
                                   (1 << 64) - 1, chance.choice(pointers) + 8))
            changes.setdefault(at & -PAGE, []).append((at % PAGE, (value & (1 << 64) - 1).to_bytes(8, "little")))
        began = time.monotonic()
        damaged = Changed(file.machine, Damaged(file.machine.physical, changes))
        guest = Guest(damaged, sound.layout.elf, sound.programs)
        said = picture(guest, most=60)
        assert time.monotonic() - began < 20 and said.endswith("\n")
        other += said != kept.picture
    assert other > 10


def test_damaged_registers(kept, tmp_path):
    file, sound = opened(kept, tmp_path)
    chance = random.Random(1)
    for _ in range(30):
        registers = {n: {name: chance.choice((value, chance.getrandbits(64), 0)) for name, value in values.items()}
                     for n, values in file.machine.processors().items()}
        assert picture(Guest(Changed(file.machine, file.machine.physical, registers), sound.layout.elf,
                             sound.programs)).endswith("\n")


@pytest.mark.parametrize("seed", range(3))
def test_a_damaged_file(kept, tmp_path, seed):
    """Another byte here and there, or the end cut off: a clear error, or a picture."""
    chance = random.Random(seed)
    sound = kept.kept.read_bytes()
    path = tmp_path / "damaged.crash"
    refused = 0
    for _ in range(25):
        data = bytearray(sound)
        for _ in range(chance.choice((1, 20, 2000))):
            data[chance.choice((chance.randrange(len(data)), -1 - chance.randrange(8000)))] = chance.randrange(256)
        path.write_bytes(data[:chance.choice((len(data), len(data), chance.randrange(len(data))))])
        try:
            file = CrashFile(path)
            (tmp_path / "work").mkdir(exist_ok=True)
            assert picture(file.guest(tmp_path / "work")).endswith("\n")
            CrashStub(file)
        except (CrashError, StubError) as error:
            assert str(error)
            refused += 1
    assert refused > 3


@pytest.mark.parametrize("make, says", [
    (lambda path: None, "No such file or directory"),
    (lambda path: path.mkdir(), "Is a directory"),
    (lambda path: path.write_bytes(b""), "is no crash file"),
    (lambda path: path.write_text("no archive\n" * 50), "is no crash file"),
    (lambda path: zipfile.ZipFile(path, "w").close(), "is no crash file: it has no guest.json"),
    (lambda path: zipfile.ZipFile(path, "w").writestr("guest.json", '{"format": "weft crash 99"}'),
     "is no crash file of this version"),
    (lambda path: zipfile.ZipFile(path, "w").writestr("guest.json", '{"format": "weft crash 1"}'), "is damaged"),
    (lambda path: zipfile.ZipFile(path, "w").writestr("guest.json", "[" * 100_000), "is no crash file, or damaged"),
])
def test_files_that_are_none(weft, tmp_path, make, says):
    make(tmp_path / "file")
    done = weft("crash", tmp_path / "file")
    assert done.returncode == 69 and done.stdout == b""
    assert done.stderr.decode().startswith("weft crash: ") and says in done.stderr.decode(), done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_no_other_programs_file_is_taken(kept, tmp_path):
    """A file with the process's name, and other contents."""
    _, guest = opened(kept, tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/held_locks").write_bytes((TOP / "build/bin/pp").read_bytes())
    space = guest.process(2).space
    assert Programs.of_build(tmp_path).find("held_locks", space) is None
    brought_file = TOP / "build/tests/bin/held_locks"
    assert Programs.of_build(tmp_path, {"/host/x": brought_file}).find("held_locks", space) == brought_file
    assert Programs.of_build(TOP / "build").find("../bin/held_locks", space) is None


def test_torture_keeps_what_fails(weft, tmp_path):
    """Its first failures.  A program that stops itself takes the place of torture's."""
    script = ("import sys; sys.path.insert(0, 'tools'); from weft_host import torture, cli; torture.MOST_KEPT = 1; "
              "torture.Setting.argv = lambda self: ['sh', '-c', 'kill -STOP $$']; sys.exit(cli.main(sys.argv[1:]))")
    done = subprocess.run([sys.executable, "-c", script, "torture", "--no-build", "--runs", "2", "--jobs", "1",
                           "--timing", "exact", "--model", "mxn", "--keep", tmp_path / "crashes"],
                          cwd=TOP, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr
    names = sorted(path.name for path in (tmp_path / "crashes").iterdir())
    assert names == ["sh-seed1.crash", "sh-seed1.trace"], done.stdout
    assert done.stdout.count("its memory is kept: tools/weft crash ") == 1
    assert done.stdout.count("    2:\tsh\n") == 2, done.stdout
    assert weft("crash", tmp_path / "crashes" / names[0]).returncode == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_program_that_finds_a_mistake(tmp_path, engine):
    """torture with a short patience: with --keep the machine stands still where the program says so."""
    machine = Machine(argv=["torture", "-m", "stand still", "-t", "2", "-n", "1", "-w", "1"], smp=2, mem=MEM,
                      timing="exact", engine=engine, model="mxn", timeout=100, background=True)
    plain = run(machine)
    assert (plain.status, plain.picture, plain.kept) == (1, "", None) and "what never comes" in plain.output
    machine.keep = tmp_path
    result = run(machine)
    assert (result.status, result.error) == (1, "") and plain.output.startswith(result.output)
    assert result.kept == tmp_path / "torture.crash"
    assert len(re.findall(r"^[23]:\ttorture$", result.picture, re.MULTILINE)) == 2, result.picture
    assert re.search(r"^\d +2/1 +torture +kernel ", result.picture, re.MULTILINE), result.picture


def test_qemu_ends_while_memory_is_kept(tmp_path, monkeypatch):
    """As when a run of a lower seed has failed, too.  That is said, and nothing else goes wrong."""
    def keep(standing, *_):
        running.qemu.kill()
        running.qemu.wait()
        with explained():
            standing._monitor.ask("query-status")

    monkeypatch.setattr(Standing, "keep", keep)
    machine = Machine(argv=["held_locks", "circle"], files=brought("held_locks"), smp=2, mem=MEM, timing="exact",
                      keep=tmp_path)
    with turn(), Running(machine) as running:
        result = running.relay(lambda text: None)
    assert (result.status, result.kept) == (124, None) and DEADLOCK in result.picture
    assert result.picture.splitlines()[-1].startswith("weft: the guest's memory cannot be read: ")


def test_seeds_keep_the_failure_that_is_told(weft, tmp_path):
    done = weft("run", "--seeds", "1..3", "--smp", "2", "--mem", MEM, "--keep", tmp_path / "k", "--",
                "held_locks", "circle")
    assert done.returncode == 124 and DEADLOCK.encode() in done.stderr
    assert sorted(path.name for path in (tmp_path / "k").iterdir()) == ["held_locks-seed1.crash",
                                                                        "held_locks-seed1.trace"]


assert {"held_locks", "spins_for"} <= GUEST_PROGRAMS
