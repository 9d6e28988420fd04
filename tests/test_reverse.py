"""Recorded runs under GDB: forward, backward, and always the same state at the same instruction."""

import contextlib
import hashlib
import random
import re
import socket
import threading
from pathlib import Path

import pytest
from conftest import TOP
from weft_host import recording, reverse
from weft_host.guest import Result
from weft_host.guest import run as run_guest
from weft_host.machine import HostError, Machine
from weft_host.packets import Closed, Packets, connect
from weft_host.recording import Replay
from weft_host.workdir import WorkDirectory

README = (TOP / "README.md").read_text()
SECTION = re.search(r"^## Backwards, .*?^## ", README, re.MULTILINE | re.DOTALL)[0]


@pytest.fixture(scope="module")
def news(weft, tmp_path_factory):
    """The program of the README, in a directory of its own."""
    folder = tmp_path_factory.mktemp("news")
    (folder / "news.c").write_text(re.search(r"```c\n(.*?)```", SECTION, re.DOTALL)[1])
    assert weft("cc", "-O1", "news.c", "-o", "news", cwd=folder).returncode == 0
    return folder / "news"


@pytest.fixture
def gdb(weft, tmp_path):
    """gdb(commands, options, argv): what GDB printed, and what the host command said."""

    def call(commands, *options, argv, status=0):
        script = tmp_path / "commands"
        script.write_text("set width 0\n" + commands)
        done = weft("gdb", "--reverse", "--timing", "exact", *options, "--batch-commands", script,
                    "--", *argv, timeout=100)
        said = done.stderr.decode(errors="replace")
        assert done.returncode == status, done.stdout.decode(errors="replace") + said
        return done.stdout.decode(errors="replace"), said

    return call


MEMORY = 48 << 20
# QEMU hands the firmware the first 8 KiB of the kernel's file, and keeps no copy.  When the machine starts
# again, the firmware reads what QEMU has on its stack there since (x86_load_linux), and leaves it at
# address 0.  The kernel uses nothing of the first megabyte.
HEADER = 8192
RFLAGS = 17 * 16  # digits before it: 17 registers of 8 bytes
UNDEFINED = 1 << 2 | 1 << 4 | 1 << 7 | 1 << 11  # PF, AF, SF, OF


class Session:
    """A replay behind its server, and a debugger that is no GDB."""

    def __init__(self, replay, folder):
        self.replay = replay
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f"{folder}/gdb")
        listener.listen()
        self.server = reverse.Server(replay, listener)
        self._thread = threading.Thread(target=self.server.serve)
        self._thread.start()
        self._link = Packets(connect(f"{folder}/gdb"), acknowledges=False)
        self._image = Path(folder) / "memory"

    def ask(self, packet):
        self._link.send(packet if isinstance(packet, bytes) else packet.encode())
        answer = self._link.receive(60)
        assert answer is not None, packet
        return answer.decode()

    def go(self, place):
        self.ask("qRcmd," + f"weft-goal {place}".encode().hex())
        self.ask("bs")
        assert self.place() == place

    def place(self):
        return int(bytes.fromhex(self.ask("qRcmd," + b"weft-place".hex())).split()[0])

    def state(self):
        """((the place, RIP), the registers, the stack, a hash of all memory)."""
        registers = self.registers()
        stack = self.ask(f"m{self.register(registers, 7) & -64:x},40")
        place = self.place()
        self.ask("qRcmd," + b"info version".hex())  # makes QEMU go where the debugger believes to be
        assert (self.registers(), self.replay.place) == (registers, place)
        self.replay.monitor(f'pmemsave {HEADER} {MEMORY - HEADER} "{self._image}"')
        memory = hashlib.sha1(self._image.read_bytes()).hexdigest()
        return (place, self.register(registers, 16)), registers, stack, memory

    def registers(self):
        """As the stub tells them, without four flags.  Some instructions (BT) leave these undefined, and QEMU
        then has them as its translation of the code happens to begin."""
        text = self.ask("g")
        flags = int.from_bytes(bytes.fromhex(text[RFLAGS:RFLAGS + 8]), "little") & ~UNDEFINED
        return text[:RFLAGS] + flags.to_bytes(4, "little").hex() + text[RFLAGS + 8:]

    @staticmethod
    def register(registers, number):
        return int.from_bytes(bytes.fromhex(registers[16 * number:16 * number + 16]), "little")

    def close(self):
        self._link.close()
        self.server.stop()
        self._thread.join()


@pytest.fixture(scope="module")
def session(news):
    """Of a standstill on four CPUs."""
    machine = Machine(argv=["news"], files=[news], smp=4, mem=f"{MEMORY >> 20}M", timing="exact",
                      quantum=200, seed=3, timeout=60)
    with WorkDirectory() as work:
        recorded = recording.record(machine, Path(work), lambda text: None)
        assert recorded.result.status == 124 and "standstill at" in recorded.result.panic
        with Replay(recorded) as replay, contextlib.closing(Session(replay, work)) as session:
            yield session


def address(name):
    found, = recording.addresses(Machine().build / "weft.elf", (name,))
    return found


def test_a_walk_finds_the_same_states(session):
    """Steps, jumps, breakpoints and watchpoints in both directions, chosen by a seed: at the same instruction
    there are always the same registers and the same memory."""
    draw = random.Random(20)
    end = session.replay.end
    points = [f"0,{address('sched_switch'):x},1", f"0,{address('lockstep_nmi'):x},1",
              f"2,{address('idle_cpus'):x},8", f"2,{address('lockstep_token'):x},4"]
    seen, again = {}, 0
    session.go(end - 50_000)
    for _ in range(24):
        here = session.place()
        move = draw.choice(["bs", "s", "bc", "c", "near", "known"])
        point = draw.choice(points)
        if move == "near":
            session.go(min(end, max(0, here + draw.randrange(-20_000, 20_000))))
        elif move == "known":
            session.go(draw.choice(sorted(seen))[0] if seen else end)
        else:
            assert session.ask("Z" + point) == "OK"
            assert session.ask(move).startswith("T05")
            assert session.ask("z" + point) == "OK"
        place, *state = session.state()
        again += place in seen
        assert seen.setdefault(place, state) == state, f"{place}, after {move} from {here}"
    assert again >= 3


def test_an_interrupt_that_is_due(session):
    """The machine stands before it, from whichever side it has come."""
    point = f"0,{address('lockstep_nmi'):x},1"
    session.go(session.replay.end - 200_000)
    session.ask("Z" + point)
    assert session.ask("c").startswith("T05")
    assert session.register(session.ask("g"), 16) == address("lockstep_nmi")
    due = session.place()
    session.ask("z" + point)
    states = set()
    for start in (due - 1, due + 1, due - 3000, due + 3000, due - 2, due + 20) * 2:
        session.go(start)
        session.go(due)
        states.add(session.registers())
    assert len(states) == 1
    assert session.register(states.pop(), 16) != address("lockstep_nmi")
    # A step goes on to the handler's second instruction.
    session.ask("s")
    assert session.place() == due + 1
    assert session.ask("bs").startswith("T05") and session.place() == due


def forward(session, point, start, count):
    """The places of the next hits of a point after a place."""
    session.go(start)
    places = []
    assert session.ask("Z" + point) == "OK"
    while len(places) < count:
        answer = session.ask("c")
        assert "replaylog" not in answer
        places.append(session.place())
        if "watch:" not in answer:
            session.ask("z" + point)
            session.ask("s")
            session.ask("Z" + point)
    assert session.ask("z" + point) == "OK"
    return places


@pytest.mark.parametrize("name, kind", [("sched_switch", 0), ("lockstep_switch", 0), ("lockstep_nmi", 0),
                                        ("lockstep_token", 2)])
def test_backward_is_forward_reversed(session, name, kind):
    """lockstep_switch is called so often that the search for the last call leaves most calls out."""
    point = f"{kind},{address(name):x},{4 if kind else 1}"
    session.go(session.replay.end)
    session.ask("Z" + point)
    back = []
    for _ in range(4):
        assert session.ask("bc").startswith("T05")
        back.append(session.place())
    session.ask("z" + point)
    # Forward, a watchpoint stops the machine behind the instruction; backward, before it.
    assert [place + (kind != 0) for place in reversed(back)] == forward(session, point, back[-1] - 1, 4)


def test_both_ends(session):
    session.go(0)
    assert "replaylog:begin" in session.ask("bs") and "replaylog:begin" in session.ask("bc")
    session.go(session.replay.end)
    assert "replaylog:end" in session.ask("s") and "replaylog:end" in session.ask("vCont;c:p1.-1")
    assert session.place() == session.replay.end


def test_nothing_can_be_changed(session):
    before = session.state()
    for packet in ("P0=0000000000000000", "G00", "M400000,1:00", b"X400000,1:0"):
        assert session.ask(packet).startswith("E.a recorded run")
    assert "only info" in bytes.fromhex(session.ask("qRcmd," + b"system_reset".hex())).decode()
    assert session.state() == before


def test_an_interrupted_search_changes_no_place(session):
    """The user's Ctrl-C: nothing has ever written there, so the search would go back to the start."""
    session.go(session.replay.end)
    never = f"2,{address('lockstep_switch'):x},1"
    session.ask("Z" + never)
    session.replay.impatient = lambda: True
    assert session.ask("bc").startswith("T02")
    assert session.place() == session.replay.end
    session.replay.impatient = lambda: False
    session.ask("z" + never)


def test_an_interrupt_between_packets():
    ours, its = socket.socketpair()
    with ours, its:
        packets = Packets(ours, acknowledges=True)
        its.sendall(b"+$bc#c5")
        assert packets.receive() == b"bc" and its.recv(9) == b"+"
        assert not packets.interrupted()
        its.sendall(b"+\x03")
        assert packets.interrupted() and packets.interrupted()
        its.sendall(b"$g#67")
        assert packets.receive() == b"g" and not packets.interrupted()
        assert packets.receive(0.01) is None
    with pytest.raises(Closed):
        packets.send(b"OK")


def test_the_transcript_of_the_readme(news, gdb):
    """Its commands print its lines, in this order; `...` stands for what each build changes."""
    block = re.search(r"^\$ tools/weft gdb (.*?) -- news\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)
    lines = block[2].splitlines()
    commands = [line.removeprefix("(gdb) ") for line in lines if line.startswith("(gdb) ")]
    options = block[1].removeprefix("--reverse --timing exact").replace("--file news", f"--file {news}").split()
    output, said = gdb("\n".join(commands) + "\n", *options, argv=["news"])
    told = [line for line in lines if line.startswith(("weft: ", "    pid"))]
    shown = [line for line in lines if line not in told and not line.startswith("(gdb)")]
    for text, wanted in ((said, told), (output, shown)):
        at = 0
        for line in wanted:
            pattern = re.escape(line).replace(re.escape("..."), ".*")
            found = re.compile(f"^{pattern}", re.MULTILINE).search(text, at)
            assert found, f"{line}\n---\n{text}"
            at = found.end()


FORKS = """\
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int shared_name;

int main(void)
{
	shared_name = 1;
	if (fork() == 0) {
		for (int i = 2; i < 9; i++)
			shared_name = i;
		_exit(0);
	}
	wait(NULL);
	exit(shared_name);
}
"""


def test_a_watchpoint_belongs_to_one_process(weft, gdb, tmp_path):
    """The child's stores at the same address are none to the parent's variable."""
    (tmp_path / "forks.c").write_text(FORKS)
    program = tmp_path / "forks"
    assert weft("cc", "-O1", tmp_path / "forks.c", "-o", program).returncode == 0
    output, said = gdb("""\
python
def tried(command):
    try:
        gdb.execute(command)
    except gdb.error as error:
        print("error:", error)
end
python tried("weft-last-write shared_name")
break exit
reverse-continue
weft-last-write shared_name
delete
watch shared_name
continue
continue
reverse-continue
reverse-continue
""", "--file", program, argv=["forks"])
    assert "to status 1\n" in said
    assert "error: shared_name: no process runs the program here" in output
    assert re.search(r"^shared_name = 1, was 0: written at .*\n#0 .*main \(\) at .*forks.c:9\n", output,
                     re.MULTILINE)
    stops = output.partition("Hardware watchpoint 2: shared_name\n")[2]
    change = r"Old value = {}\nNew value = {}\n"
    assert re.search(change.format(0, 1) + r"main .*forks.c:10\n(.*\n)*"
                     r"No more reverse-execution history.*\n(.*\n)*"
                     + change.format(1, 0) + r"main .*forks.c:9\n(.*\n)*"
                     r"No more reverse-execution history", stops), stops
    assert stops.count("Old value") == 2


def test_the_time_limit_ends_a_recording(gdb):
    """GDB then shows what runs.  The end may lie between two windows: a step of the shell's thread leaves this
    out, and a step of the CPU does not."""
    output, said = gdb("inferior 1\nweft-when\nweft-cpus\nreverse-stepi\nweft-when\nstepi\nweft-when\n",
                       "--timeout", "1", "--mem", "64M", argv=["sh", "-c", "while :; do :; done"])
    assert re.search(r"^weft: time-out after 1 s\nweft: recorded \d+ instructions, to status 124$", said,
                     re.MULTILINE)
    assert re.search(r"^\* +0 +2/1 +sh +", output, re.MULTILINE)
    whens = re.findall(r"^(.*) ns, CPU 0.*, instruction (\d+) of (\d+)$", output, re.MULTILINE)
    assert len(whens) == 3 and whens[0] == whens[2] and int(whens[1][1]) == int(whens[0][1]) - 1


def test_times(news, gdb):
    """A time goes to its place, and a place has its time; where all CPUs are idle, time jumps."""
    output, said = gdb("""\
weft-goto start
weft-when
weft-goto end
weft-last-write ready
python gdb.execute("weft-goto " + gdb.execute("weft-when", to_string=True).split()[0] + " 1")
weft-when
weft-goto 1050000000
weft-when
python
for words in ("weft-goto 99000000000", "weft-goto 1.5", "weft-goto 1 2", "weft-last-write 5", "weft-last-write 1 +",
              "set var ready = 2"):
    try:
        gdb.execute(words)
    except gdb.error as error:
        print("error:", error)
end
weft-when
weft-goto end
weft-when
""", "--file", news, "--smp", "2", "--at", "1002000000", argv=["news"])
    ended = int(re.search(r"standstill at (\d+) ns", said)[1])
    start, write, again, jump, still, end = re.findall(
        r"^(?:ready = 1, was 0: written at )?(.*), instruction (\d+) of (\d+)$", output, re.MULTILINE)
    assert start[:2] == ("virtual time has not begun", "0")
    assert write == again
    assert re.fullmatch(r"\d+ ns, CPU [01]", jump[0]) and 1050000000 < int(jump[0].split()[0]) < ended
    assert output.count("error: ") == 6 and f"the recording ends at {ended} ns" in output
    assert still == jump
    assert end[0].startswith(f"{ended} ns") and end[1] == end[2]


def test_a_recorded_run_prints_the_same(tmp_path):
    machine = Machine(argv=["pp", "-v", "-i", "200", "-n", "2"], smp=4, model="mxn", timing="exact", seed=5,
                      quantum=300, timeout=60)
    printed = []
    recorded = recording.record(machine, tmp_path, printed.append)
    plain = run_guest(machine)
    assert (recorded.result.status, b"".join(printed).decode()) == (plain.status, plain.output)
    assert plain.status == 0 and plain.output


@pytest.mark.parametrize("options, why", [
    (["--timing", "fast"], "--reverse needs --timing exact"),
    (["--timing", "exact", "--engine", "processors", "--smp", "2"], "--reverse needs --engine one"),
    (["--timing", "exact", "--boot", "iso"], "--reverse needs --boot kernel"),
    (["--timing", "exact", "--at", "noon"], "--at: start, end or a virtual time in nanoseconds, not 'noon'"),
])
def test_what_cannot_be_recorded(weft, options, why):
    done = weft("gdb", "--reverse", *options, "--", "true")
    assert (done.returncode, why in done.stderr.decode()) == (2, True), done.stderr


def test_commands_in_a_run_that_is_not_recorded(weft, tmp_path):
    script = tmp_path / "commands"
    script.write_text("""\
python
for words in ("weft-when", "weft-goto end", "weft-last-write lockstep_token"):
    try:
        gdb.execute(words)
    except gdb.error as error:
        print("error:", error)
end
""")
    done = weft("gdb", "--timing", "exact", "--batch-commands", script, "--", "true")
    assert done.stdout.decode().count("error: this run is not recorded: weft gdb ") == 3, done.stdout


def test_at_without_reverse(weft):
    done = weft("gdb", "--at", "end", "--", "true")
    assert (done.returncode, done.stderr) == (
        2, b"weft gdb: --at: boot, or with --reverse another place, not 'end'\n")


def test_without_gdb_nothing_is_recorded(weft, monkeypatch):
    monkeypatch.setattr("weft_host.debugged.shutil.which", lambda name: None)
    monkeypatch.setattr("weft_host.recording.record", lambda *words: pytest.fail("recorded"))
    from weft_host import cli
    assert cli.main(["gdb", "--no-build", "--reverse", "--timing", "exact", "--", "true"]) == 69


@pytest.mark.parametrize("script, why", [
    ("echo no such option >&2; exit 1", "QEMU ended with status 1: no such option"),
    ("exit 33", "QEMU ended with status 33"),
])
def test_a_qemu_that_cannot_record(tmp_path, monkeypatch, script, why):
    qemu = tmp_path / "qemu"
    qemu.write_text(f"#!/bin/sh\n{script}\n")
    qemu.chmod(0o755)
    monkeypatch.setattr("weft_host.machine.QEMU", str(qemu))
    with pytest.raises(HostError, match=why):
        recording.record(Machine(argv=["true"], timing="exact", timeout=20), tmp_path, print)


def test_a_replay_that_hangs_is_told(tmp_path, monkeypatch):
    """The stub takes the packet, and never answers."""
    replay = Replay(recording.Recorded(Machine(timing="exact"), tmp_path, Result(0), None))
    ours, its = socket.socketpair()
    with ours, its:
        replay._stub = Packets(ours, acknowledges=False)
        monkeypatch.setattr(replay, "_limit", 0.2)
        with pytest.raises(HostError, match="QEMU hangs: the machine runs for 0 s already"):
            replay._run(b"c")
        assert its.recv(9) == b"$c#63"
        its.close()
        monkeypatch.setattr(replay, "_said", lambda: "QEMU ended")
        with pytest.raises(HostError, match="QEMU ended"):
            replay._run(b"c")
