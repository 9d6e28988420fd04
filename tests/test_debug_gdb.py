"""GDB on processes and threads: inferiors, points that belong to one process, steps of a thread, and what a guest
leaves when it ends."""

import contextlib
import random
import re
import socket
import subprocess
import time

import pytest
from conftest import AWAIT_REST, MODELS, TOP, brought
from elftools.elf.elffile import ELFFile
from weft_debug.debugger import Debugger
from weft_debug.points import KERNEL_PID
from weft_debug.server import Server, serving
from weft_host.debugged import STUB, await_stub, served_of
from weft_host.guest import Guest
from weft_host.machine import Machine
from weft_host.packets import Packets, connect

# In exact timing GDB's server sees one processor for all CPUs, or one for each.
TIMINGS = {"fast": (), "one": ("--timing", "exact"), "processors": ("--timing", "exact", "--engine", "processors")}


@pytest.fixture
def gdb(weft, tmp_path):
    """gdb(commands, "--smp", "2", ..., argv=[...]) returns what GDB printed."""

    def run(commands, *options, argv=("at_rest",), command="gdb"):
        script = tmp_path / "commands"
        script.write_text("set width 0\n" + commands)
        done = weft(command, *options, "--batch-commands", script, *(["--", *argv] if argv else []), timeout=110)
        # What the server says comes on GDB's standard error.
        output = (done.stdout + done.stderr).decode(errors="replace")
        assert done.returncode == 0, output
        return output

    return run


def rows(output):
    """What the last `info threads` printed: {(pid, tid) or CPU: the rest of the line}."""
    found = {}
    for pid, tid, rest in re.findall(r"^[* ] \d+\.?\d* +Thread (\d+)\.(\d+) (.*)$", output, re.MULTILINE):
        found[int(tid) - 1 if int(pid) == KERNEL_PID else (int(pid), int(tid))] = rest
    return found


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("model", MODELS)
def test_inferiors_and_threads(gdb, model, timing):
    """GDB begins at the program, `break main` stops in it, and its threads are the program's."""
    output = gdb("info inferiors\nbreak main\ncontinue\ndelete\n" + AWAIT_REST +
                 "info threads\nthread apply all -s bt\nfinish\nnext\ninfo symbol $pc\n",
                 "--smp", "2", "--model", model, *TIMINGS[timing])
    assert re.search(rf"^  1 +process {KERNEL_PID} .*/weft\.elf", output, re.MULTILINE), output
    assert re.search(r"^\* 2 +process 2 .*/bin/at_rest", output, re.MULTILINE), output
    assert re.search(r"^  3 +process 1 .*/bin/init", output, re.MULTILINE), output
    assert "[Switching to inferior" not in output  # nothing tells of how they are made
    assert re.search(r"hit Breakpoint 1(\.\d)?, main \(\) at tests/guest/at_rest\.c:\d+", output), output
    threads = rows(output)
    assert {0, 1, (1, 1), (2, 1), (2, 2), (2, 3), (2, 4)} == threads.keys(), output
    # A yield in sa may move the thread to another LWP.
    lwp = r"\d" if model == "sa" else "1"
    assert re.search(rf"OnLWP, LWP {lwp}, CPU", threads[2, 1]) and "look_here" in threads[2, 1], output
    assert "Blocked" in threads[2, 2] and "mutex lock, held by thread 1" in threads[2, 2], output
    assert '"reads news"' in threads[2, 3] and "condition variable news" in threads[2, 3], output
    assert "semaphore tokens" in threads[2, 4], output
    for tid in (2, 3, 4):
        assert ("LWP" in threads[2, tid]) == (model == "lwp"), output
    # Each thread's stack, also of those on no LWP.
    for function in ("wants_lock", "news_reader", "token_taker", "look_here"):
        assert re.search(rf"^#\d+ .*\b{function} \(", output, re.MULTILINE), output
    assert re.search(r"^main \+ \d+ in section", output, re.MULTILINE), output


TWICE = """\
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int shared_name;

__attribute__((noinline)) static void hot(int number, int round)
{
	shared_name = 10000 * number + round;
}

int main(int argc, char **argv)
{
	int number = argc > 1 ? atoi(argv[1]) : 1;

	if (number == 1 && fork() == 0)
		execl(argv[0], argv[0], "2", NULL);
	for (int round = 1; round < 2000; round++)
		hot(number, round);
	if (number == 1)
		wait(NULL);
	return 0;
}
"""


@pytest.fixture(scope="module")
def twice(weft, tmp_path_factory):
    """A program that runs twice, in two processes."""
    folder = tmp_path_factory.mktemp("twice")
    (folder / "twice.c").write_text(TWICE)
    assert weft("cc", "-O1", "twice.c", "-o", "twice", cwd=folder).returncode == 0
    return folder / "twice"


COUNT = """\
python
seen = set()
for _ in range(12):
    gdb.execute("continue", to_string=True)
    frame = gdb.selected_frame()
    seen.add((gdb.selected_thread().ptid[0], {}))
print("seen", sorted(seen))
end
"""


@pytest.mark.parametrize("timing", TIMINGS)
def test_a_point_is_of_one_process(gdb, twice, timing):
    """Its breakpoint, and its watchpoint, are passed over in the other process, which runs the same code."""
    output = gdb("break hot\n" + COUNT.format('int(frame.read_var("number"))') +
                 "delete\nwatch shared_name\n" + COUNT.format('int(gdb.parse_and_eval("shared_name")) // 10000'),
                 "--smp", "2", "--file", twice, *TIMINGS[timing], argv=["/host/twice"])
    assert re.findall(r"^seen (.*)$", output, re.MULTILINE) == ["[(2, 1)]"] * 2, output


COPIED = """\
#include <sys/wait.h>
#include <unistd.h>

static struct {
	volatile int kept, written;
	char alone_in_its_page[4088];
} together __attribute__((aligned(4096)));

__attribute__((noinline)) static void forked(void)
{
	together.written = 1;
}

int main(void)
{
	int to_child[2];
	char byte;

	together.kept = 4711;
	pipe(to_child);
	if (fork() == 0)
		return read(to_child[0], &byte, 1) != 1;
	forked();
	write(to_child[1], "", 1);
	wait(NULL);
	return 0;
}
"""


def test_a_page_that_is_copied(gdb, weft, tmp_path):
    """Its entry in the page tables is not present until all CPUs have forgotten the old page.  The thread that
    writes is on its step past a breakpoint, and its CPU comes to one in the kernel."""
    (tmp_path / "copied.c").write_text(COPIED)
    assert weft("cc", "-O1", "copied.c", "-o", "copied", cwd=tmp_path).returncode == 0
    output = gdb("break forked\ncontinue\nset $page = (unsigned long) &together\ninferior 1\n"
                 "break tlb_shootdown if start == $page\ncontinue\nbacktrace 2\n"
                 "inferior 2\nprint together.kept\ndelete\ncontinue\n",
                 "--file", tmp_path / "copied", argv=["/host/copied"])
    assert re.search(r"^#1 .* copy_on_write ", output, re.MULTILINE), output
    assert re.search(r"^\$1 = 4711$", output, re.MULTILINE), output
    assert "exited normally]" in output, output


def test_a_guest_ends(gdb):
    """With the status of its program."""
    output = gdb("continue\ninfo inferiors\ninferior 1\nbacktrace\ncontinue\n", argv=["sh", "-c", "exit 3"])
    assert "weft: the guest ends with status 3" in output
    assert re.search(r"\[Inferior 2 \(process 2\) exited with code 03\]", output), output
    assert re.search(r"^#\d+ .*sys_reboot", output, re.MULTILINE), output
    assert f"[Inferior 1 (process {KERNEL_PID}) exited normally]" in output


@pytest.mark.parametrize("engine", ["one", "processors"])
def test_a_standstill(gdb, engine):
    output = gdb("continue\nbacktrace\ninfo threads\n", "--smp", "2", *TIMINGS[engine], argv=["deadlock"])
    assert "weft: standstill: every LWP sleeps, and no timer is set" in output
    assert re.search(r"^#\d+ .*lockstep_standstill", output, re.MULTILINE), output
    assert "Blocked" in rows(output)[2, 1]


@pytest.mark.parametrize("timing", TIMINGS)
def test_a_panic(gdb, timing):
    """GDB has the guest as it was."""
    output = gdb("python gdb.execute('monitor mce 0 0 0xbd80000000100134 5 0 0x8c')\n"
                 "continue\nbacktrace\nweft-cpus\ninfo threads\ncontinue\n",
                 *TIMINGS[timing], argv=["sh", "-c", "while :; do :; done"])
    assert "weft: the kernel panics: machine check" in output, output
    assert "received signal SIGABRT" in output
    assert re.search(r"^#\d+ .*panic", output, re.MULTILINE), output
    assert "weft: panic: machine check" in output  # it goes on to its report


TRIPLE_FAULT = """\
inferior 1
python
address = int(gdb.parse_and_eval("(unsigned long) &'cpu.c'::idt"))
gdb.selected_inferior().write_memory(address, bytes(4096))
end
continue
info threads
continue
"""


@pytest.mark.parametrize("timing", TIMINGS)
def test_a_triple_fault(gdb, timing):
    """The machine stands where it was, and then has ended."""
    output = gdb(TRIPLE_FAULT, "--smp", "2", *TIMINGS[timing], argv=["pp"])
    assert "weft: the guest has reset itself (a triple fault)" in output, output
    assert "received signal SIGABRT" in output and (2, 1) in rows(output), output
    assert f"[Inferior 1 (process {KERNEL_PID}) exited normally]" in output, output


def test_detach_and_attach(gdb):
    output = gdb("break look_here\ncontinue\ndetach\nweft-attach 2\nbacktrace 1\ncontinue\n"
                 "python print(gdb.selected_inferior().pid)\n"
                 "python\ntry:\n    gdb.execute('weft-attach 99')\n"
                 "except gdb.error as e:\n    print('error:', e)\nend\n"
                 "info os processes\ndetach\nattach 2\nbacktrace 1\n")
    assert re.search(r"^2$", output, re.MULTILINE), output
    assert "error: there is no process 99" in output
    assert re.search(r"^2 +at_rest +1 +\d+", output, re.MULTILINE), output
    assert len(re.findall(r"^#0 ", output, re.MULTILINE)) >= 3, output


def test_a_process_executes_another_program(gdb):
    """Its inferior has the new program's symbols; so have the commands that show its threads."""
    output = gdb("inferior 1\nbreak sys_write\ncontinue\ninfo inferiors\nweft-threads -s 2\n",
                 "--model", "mxn", "--smp", "2", argv=["priocntl", "-e", "-c", "TS", "pp", "-v", "-i", "20"])
    assert re.search(r"^  2 +process 2 .*/bin/pp *$", output, re.MULTILINE), output
    assert "weft: the symbols are those of pp now" in output
    assert re.search(r"^thread 1: .*, (on LWP \d+|on no LWP), ", output, re.MULTILINE), output


def test_a_thread_s_breakpoint(gdb):
    """`break F thread N` stops for that thread alone."""
    output = gdb(AWAIT_REST + "delete\npython\n"
                 "thread = next(t for t in gdb.selected_inferior().threads() if t.ptid[1] == 1)\n"
                 "gdb.execute(f'break look_here thread {thread.num}')\n"
                 "end\ncontinue\npython print('stopped in', gdb.selected_thread().ptid[:2])\n", "--model", "mxn")
    assert "stopped in (2, 1)" in output


# --- a guest of `weft run` ---------------------------------------------------------------------------


@contextlib.contextmanager
def served(*argv, **options):
    """A running guest, and the port at which it is served."""
    machine = Machine(argv=list(argv), files=brought(*argv), timeout=100, debugger="may", **options)
    with Guest(machine) as guest:
        stub = guest.work / STUB
        await_stub(stub, guest.qemu)
        with serving(Server(served_of(machine, stub)), port=0) as port:
            yield guest, port


def test_two_terminals(gdb, weft):
    """`weft run --gdb-port`, and GDB on it, twice."""
    files = [word for file in brought("at_rest") for word in ("--file", file)]
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = str(free.getsockname()[1])
    run = subprocess.Popen([TOP / "tools/weft", "run", "--no-build", "--gdb-port", port, "--gdb-wait", *files, "--",
                            "at_rest"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert "--attach" in run.stderr.readline()
        socket.create_connection(("localhost", int(port))).close()  # no GDB: the guest still waits
        output = gdb("break main\ncontinue\n", "--attach", port, argv=())
        assert re.search(r"hit Breakpoint 1(\.\d)?, main \(\)", output), output
        output = gdb("break look_here\ncontinue\ninfo threads\n", "--attach", port, argv=())
        assert {(2, 1), (2, 2), (2, 3), (2, 4)} <= rows(output).keys(), output
        assert run.poll() is None
        # A guest that resets itself stays as long as GDB does.
        output = gdb(TRIPLE_FAULT, "--attach", port, argv=())
        assert "weft: the guest has reset itself (a triple fault)" in output and (2, 1) in rows(output), output
        assert "the guest has reset itself (a triple fault)" in run.stderr.read()
        assert run.wait(30) == 70
    finally:
        run.kill()
        run.wait()
        run.stderr.close()


class Link:
    """A debugger that is no GDB, on the server."""

    def __init__(self, port):
        self._packets = Packets(socket.create_connection(("localhost", port)), acknowledges=True)
        self.ask("qSupported:multiprocess+;vContSupported+")
        self.ask("?")

    def ask(self, packet):
        self._packets.send(packet.encode())
        answer = self._packets.receive(60)
        assert answer is not None, packet
        return answer.decode()

    def stop(self, packet, seconds):
        """Runs the machine for so long at most; the stop."""
        self._packets.send(packet.encode())
        answer = self._packets.receive(seconds)
        if answer is None:
            self._packets.interrupt()
            answer = self._packets.receive(60)
        assert answer is not None, packet
        return answer.decode() if answer[:1] != b"O" else self._packets.receive(60).decode()

    def monitor(self, words):
        return bytes.fromhex(self.ask("qRcmd," + words.encode().hex()).replace("OK", "")).decode()

    def threads(self):
        return re.findall(r'thread id="p([0-9a-f]+)\.([0-9a-f]+)"', self.ask("qXfer:threads:read::0,4000"))

    def close(self):
        self._packets.close()


def points_left(guest, addresses):
    """Those of these addresses at which QEMU has a breakpoint: its stub cannot remove what is not there."""
    packets = Packets(connect(guest.work / STUB), False)

    def ask(packet):
        packets.send(packet.encode())
        while (answer := packets.receive(60)).startswith(b"T"):  # the connection has stopped the machine
            pass
        return answer

    try:
        assert [ask(f"{letter}0,400000,1") for letter in "Zzz"] == [b"OK", b"OK", b"E22"]
        found = [address for address in addresses if ask(f"z0,{address:x},1") != b"E22"]
        assert ask("D;1") == b"OK"
        return found
    finally:
        packets.close()


def changed_text(guest):
    """Where the code of the kernel and of the processes differs from their files, and how many processes."""
    debugger = Debugger(served_of(guest.machine, guest.work / STUB))
    try:
        model = debugger.guest
        texts = [(KERNEL_PID, model.kernel, model.layout.elf)]
        texts += [(p.pid, p.space, p.program) for p in model.processes if p.space is not None and p.program]
        found = []
        for pid, space, path in texts:
            with open(path, "rb") as file:
                for segment in ELFFile(file).iter_segments("PT_LOAD"):
                    if segment["p_flags"] & 1:  # PF_X
                        found += differences(pid, space, segment["p_vaddr"], segment.data())
        return found, len(texts) - 1
    finally:
        debugger.leave()


def differences(pid, space, address, wanted):
    data = space.read(address, len(wanted))
    return [(pid, address + at, data[at]) for at in range(len(wanted)) if data[at] != wanted[at]][:10]


def points_at(link, address):
    """Sets a breakpoint of process 2.  False: there is no such process, or nothing at this address."""
    link.monitor("weft-show 2")
    link.threads()
    link.ask("Hgp2.1")
    return link.ask(f"Z0,{address:x},1") == "OK"


def test_points_of_an_inferior_that_is_left():
    """Detach takes its points away, also when the process goes on to where they were."""
    with served("at_rest", smp=2, model="mxn") as (guest, port):
        place = ELFFile(open(TOP / "build/bin/at_rest", "rb")).get_section_by_name(".symtab")
        look_here = place.get_symbol_by_name("look_here")[0]["st_value"]
        link = Link(port)
        while not points_at(link, look_here):  # the program has not begun: the guest runs without a debugger
            link.close()
            time.sleep(0.1)
            link = Link(port)
        assert "thread:p2.1;" in link.stop("vCont;c", 20)
        assert link.ask("D;2") == "OK"
        assert link.stop("vCont;c", 1).startswith("T02")  # our interrupt alone
        link.close()
        time.sleep(0.1)
        assert points_left(guest, [look_here]) == []
        assert changed_text(guest) == ([], 2)


@pytest.mark.parametrize("timing", ["fast", "exact"])
def test_steps_at_random(timing, pytestconfig):
    """Steps, points, attaching and detaching while processes come and go leave nothing behind.  A thousand of
    them take two minutes: --gdb-steps 1000."""
    most = pytestconfig.getoption("--gdb-steps")
    draw = random.Random(18)
    script = "while :; do pp -i 20 >/tmp/o; (exit 3) | cat; done"
    with served("sh", "-c", script, smp=2, model="mxn", timing=timing) as (guest, port):
        link, steps, points = None, 0, set()
        while steps < most or len(points) <= min(most / 20, 25):  # the same places come again
            if link is None:
                link = Link(port)
            programs = [int(line.split()[0]) for line in link.monitor("weft-programs").splitlines()]
            link.monitor("weft-show " + " ".join(map(str, programs)))
            for _ in range(draw.randrange(1, 40)):
                threads = link.threads()
                assert threads[0] == (f"{KERNEL_PID:x}", "1")
                pid, tid = draw.choice(threads)
                steps += 1
                what = draw.choice(["step", "step", "step", "go", "point", "detach", "attach", "registers"])
                thread = f"p{pid}.{tid}"
                if what == "step":
                    told = link.stop(f"vCont;s:{thread};c", 0.05)
                    assert re.match(r"[TW]", told), told
                elif what == "go":
                    assert re.match(r"[TW]", link.stop("vCont;c", draw.choice([0.01, 0.1]))), what
                elif what == "point":
                    link.ask(f"Hg{thread}")
                    registers = link.ask("g")
                    if "x" not in registers[256:272] and not registers.startswith("E"):
                        pc = int.from_bytes(bytes.fromhex(registers[256:272]), "little")
                        link.ask(f"Z0,{pc:x},1")
                        points.add(pc)
                elif what == "detach" and pid != f"{KERNEL_PID:x}":
                    assert link.ask(f"D;{pid}") == "OK"
                elif what == "attach":
                    link.stop(f"vAttach;{draw.choice(programs):x}", 1)
                else:
                    link.ask(f"Hg{thread}")
                    assert re.match(r"[0-9a-fx]{64}", link.ask("g")) or link.ask(f"T{thread}") == "E01"
            link.close()
            link = None
            time.sleep(0.05)
        assert points_left(guest, points) == []
        found, processes = changed_text(guest)
        assert found == [] and processes >= 2
        # The guest runs, and nothing stops it.
        link = Link(port)
        assert link.stop("vCont;c", 2).startswith("T02")
        assert {pid for pid, _ in link.threads()} == {f"{KERNEL_PID:x}"}
        link.close()
        time.sleep(0.1)
        assert guest.qemu.poll() is None
