"""GDB on processes and threads, in each model: finish, watchpoints, written registers, Ctrl-C, and points of an
inferior that is left."""

import asyncio
import contextlib
import re

import pexpect
import pytest
from conftest import AWAIT_REST, MODELS, TOP, brought
from elftools.elf.elffile import ELFFile
from test_debug_gdb import TIMINGS, Link, gdb, served  # noqa: F401  (a fixture)
from weft_debug.debugger import Debugger
from weft_debug.motion import Action
from weft_debug.points import KERNEL_PID
from weft_debug.protocol import ALL, Id
from weft_host.debugged import STUB, await_stub, served_of
from weft_host.guest import Guest
from weft_host.machine import Machine
from weft_host.recording import Point

EACH_TIMING = pytest.mark.parametrize("timing", TIMINGS)
EACH_MODEL = pytest.mark.parametrize("model", MODELS)
# Where the next stops are, until there are two places.
STOPS = """\
python
stops = set()
while len(stops) < 2:
    gdb.execute("continue", to_string=True)
    stops.add(gdb.selected_thread().ptid[:2])
print("stops", sorted(stops))
end
"""
REMEMBER = "python before = gdb.selected_thread().ptid\n"
COMPARE = "python print('same thread', before == gdb.selected_thread().ptid)\n"


def stops(output):
    return [re.findall(r"\((\d+), (\d+)\)", text) for text in re.findall(r"^stops (.*)$", output, re.MULTILINE)]


@EACH_TIMING
@EACH_MODEL
def test_finish(gdb, model, timing):  # noqa: F811
    """In the program it ends in the same thread, although others execute the same code; in the kernel, on the
    same CPU."""
    output = gdb(f"break hot if number == 1 && round == 7\ncontinue\n{REMEMBER}finish\n{COMPARE}print round\n"
                 f"delete\ninferior 1\nbreak sys_write\ncontinue\n{REMEMBER}finish\n{COMPARE}",
                 "--smp", "2", "--model", model, *TIMINGS[timing], argv=["stops"])
    assert "Value returned is $1 = 107" in output, output
    assert re.search(r"^\$2 = 7$", output, re.MULTILINE), output
    assert re.search(r"hit Breakpoint 2, sys_write .*\n(?:.*\n)*syscall_dispatch", output), output
    assert re.search(r"^Value returned is \$3 = \d\d", output, re.MULTILINE), output
    assert output.count("same thread True") == 2, output


@EACH_TIMING
@EACH_MODEL
def test_watchpoints(gdb, model, timing):  # noqa: F811
    """On a variable of the program, the threads of this process hit, and not the other process's."""
    output = gdb(f"tbreak hot\ncontinue\nwatch latest\n{STOPS}",
                 "--smp", "2", "--model", model, *TIMINGS[timing], argv=["stops"])
    assert stops(output) == [[("2", "1"), ("2", "2")]], output


@EACH_TIMING
def test_a_watchpoint_of_the_kernel(gdb, timing):  # noqa: F811
    """Any CPU hits."""
    output = gdb(f"inferior 1\nwatch idle_cpus\n{STOPS}", "--smp", "2", *TIMINGS[timing],
                 argv=["sh", "-c", "while :; do pp -i 50 >/tmp/o | cat; done"])
    (found,) = stops(output)
    assert [tid for _, tid in found] == ["1", "2"], output


@pytest.mark.parametrize("timing", TIMINGS)
def test_every_hit_of_a_watchpoint(gdb, timing):  # noqa: F811
    """Also when another process, on another CPU, comes to it at the same time."""
    output = gdb("tbreak hot\ncontinue\nwatch latest\npython\nvalues = []\nwhile True:\n"
                 "    gdb.execute('continue', to_string=True)\n"
                 "    if gdb.selected_thread() is None:\n        break\n"
                 "    values.append(int(gdb.parse_and_eval('latest')))\n"
                 "print('values', values)\nend\n", "--smp", "2", "--model", "n1", *TIMINGS[timing], argv=["stops"])
    values = re.search(r"^values \[(.*)\]$", output, re.MULTILINE)
    assert values is not None, output
    written = sorted(map(int, values[1].split(", ")))
    assert written == [*range(1, 20), *range(100, 120)], output


READERS = """\
#include <pthread.h>

static volatile int looked_at, seen[2][16];

__attribute__((noinline)) static void look(int number)
{
	seen[number][0] = looked_at;
}

static void *reader(void *arg)
{
	for (int round = 0; round < 30; round++)
		look(arg != NULL);
	return NULL;
}

int main(void)
{
	pthread_t other;

	pthread_create(&other, NULL, reader, &other);
	reader(NULL);
	return pthread_join(other, NULL);
}
"""


@pytest.mark.parametrize("kind", ["rwatch", "awatch"])
def test_every_hit_of_a_read(gdb, weft, tmp_path, kind):  # noqa: F811
    """Two CPUs read at the same time, again and again."""
    (tmp_path / "readers.c").write_text(READERS)
    assert weft("cc", "-O1", "readers.c", "-o", "readers", cwd=tmp_path).returncode == 0
    output = gdb(f"break main\ncontinue\n{kind} looked_at\npython\nhits = []\nwhile True:\n"
                 "    gdb.execute('continue', to_string=True)\n"
                 "    if gdb.selected_thread() is None:\n        break\n"
                 "    hits.append(gdb.selected_thread().ptid[1])\n"
                 "print('hits', hits.count(1), hits.count(2), len(hits))\nend\n",
                 "--smp", "2", "--file", tmp_path / "readers", argv=["readers"])
    assert "hits 30 30 60" in output, output


@EACH_TIMING
@EACH_MODEL
def test_written_registers(gdb, model, timing):  # noqa: F811
    """Those of a thread that waits: in the kernel, or, in mxn and n1, on no LWP.  They are there when it runs."""
    output = gdb("break look_here\ncontinue\npython\n"
                 "thread = next(t for t in gdb.selected_inferior().threads() if t.ptid[1] == 2)\n"
                 "gdb.execute(f'thread {thread.num}')\nend\n"
                 "info threads\nset var $rbx = 4711\nset var $pc = (unsigned long) &land\nprint $rbx\n"
                 "info symbol $pc\nset var posts = 1\ndelete\ncontinue\n",
                 "--smp", "2", "--model", model, *TIMINGS[timing], argv=["landing"])
    assert re.search(r"Thread 2\.2 \(Blocked", output), output
    assert "$1 = 4711\nland in section .text" in output, output
    assert "landed with 4711" in output, output
    assert re.search(r"\[Inferior 2 \(process 2\) exited normally\]", output), output


TO_SIGRETURN = """\
python
for _ in range(300):
    gdb.execute("stepi", to_string=True)
    if "syscall" in gdb.execute("x/i $pc", to_string=True) and gdb.selected_frame().name() == "__sys_sigreturn":
        break
end
"""


@EACH_TIMING
@EACH_MODEL
def test_a_step_over_the_return_from_a_handler(gdb, model, timing):  # noqa: F811
    """It ends where the signal came."""
    output = gdb(f"break handler\ncontinue\n{TO_SIGRETURN}frame\n"
                 "set var $there = ((struct weft_ucontext *) $rdi)->rip\nstepi\nprint $there == $pc\n"
                 "print handled\n",
                 "--smp", "2", "--model", model, *TIMINGS[timing], argv=["step_end", "exit", "3"])
    assert re.search(r"^#0 .* in __sys_sigreturn \(\)", output, re.MULTILINE), output
    assert re.search(r"^\$1 = 1\n\$2 = 30$", output, re.MULTILINE), output


@EACH_TIMING
@pytest.mark.parametrize("way, said", [("exit 7", "exited with code 07"),
                                       ("kill 11", "Program terminated with signal SIGSEGV")])
def test_a_process_ends_in_a_step(gdb, way, said, timing):  # noqa: F811
    """GDB is told its status."""
    output = gdb("break main\ncontinue\nnext\nnext\nnext\nnext\nnext\nnext\n", "--smp", "2", *TIMINGS[timing],
                 argv=["step_end", *way.split()])
    assert said in output, output


def address_of(path, name):
    with open(path, "rb") as file:
        return ELFFile(file).get_section_by_name(".symtab").get_symbol_by_name(name)[0]["st_value"]


def stopped_at(link, name, first_call, address):
    """The inferior of a process of this name, which has come to this address.  Processes of this name come and go,
    and call `first_call` of the kernel before they come there."""
    first_call = address_of(TOP / "build/weft.elf", first_call)
    link.ask(f"Hgp{KERNEL_PID:x}.0")
    assert link.ask(f"Z0,{first_call:x},1") == "OK"
    found = []
    while not found:
        assert f"thread:p{KERNEL_PID:x}." in link.stop("vCont;c", 60)
        programs = [line.split() for line in link.monitor("weft-programs").splitlines()]
        found = [int(pid) for pid, path in programs if path.endswith(f"/{name}")]
    link.ask(f"Hgp{KERNEL_PID:x}.0")
    assert link.ask(f"z0,{first_call:x},1") == "OK"
    pid = found[0]
    link.monitor(f"weft-show {pid}")
    link.ask(f"Hgp{pid:x}.0")
    assert link.ask(f"Z0,{address:x},1") == "OK"
    assert f"thread:p{pid:x}." in link.stop("vCont;c", 60)
    return pid


@pytest.mark.parametrize("way, said", [("exit 7", "W07"), ("kill 11", "X0b")])
def test_a_child_ends_in_a_step(way, said):
    """Its status is told, although its parent has waited for it before the server looks again."""
    function = "_exit" if way == "exit 7" else "kill"
    address = address_of(TOP / "build/bin/step_end", function)
    with served("sh", "-c", f"while :; do step_end {way}; done", smp=2) as (_, port), \
            contextlib.closing(Link(port)) as link:
        pid = stopped_at(link, "step_end", "sys_sigaction", address)
        assert link.stop(f"vCont;r0,7fffffffffff:p{pid:x}.1;c", 60) == f"{said};process:{pid:x}"


@pytest.mark.parametrize("timing", ["fast", "exact"])
def test_ctrl_c(timing):
    """At GDB's own prompt."""
    files = [word for path in brought("landing") for word in ("--file", path)]
    weft = pexpect.spawn(str(TOP / "tools/weft"),
                         ["gdb", "--no-build", "--smp", "2", "--timing", timing, "--ex", "set confirm off",
                          "--ex", "set pagination off", *files, "--", "landing"], timeout=60, encoding="utf-8")
    try:
        weft.expect_exact("(gdb) ")
        for _ in range(3):
            weft.sendline("continue")
            weft.expect_exact("Continuing.")
            with pytest.raises(pexpect.TIMEOUT):  # it runs
                weft.expect_exact("(gdb) ", timeout=1)
            weft.sendintr()
            weft.expect(r"Thread \d\.\d.* received signal SIGINT")
            weft.expect_exact("(gdb) ")
        weft.sendline("info threads")
        weft.expect(r"Thread 2\.2 \(Blocked")
        weft.expect_exact("(gdb) ")
        weft.sendline("kill inferiors 1")
        weft.sendline("quit")
        weft.expect(pexpect.EOF)
    finally:
        weft.close(force=True)


@EACH_TIMING
def test_an_lwp_of_the_library(gdb, timing):  # noqa: F811
    """It executes no thread of the program; where it comes to a point, GDB shows it as one that has its name.  The
    program does not end by itself: on a host with much to do, a program may end before its ASLWP begins."""
    output = gdb("break __aslwp_main\ncontinue\ninfo threads\nbt 2\nnext\ndelete\n" + AWAIT_REST + "info threads\n",
                 "--smp", "2", "--model", "mxn", *TIMINGS[timing])
    assert re.search(r'^Thread 2\.\d "aslwp" hit Breakpoint .*, __aslwp_main \(', output, re.MULTILINE), output
    assert re.search(r'^\* 2\.\d +Thread 2\.1000002 "aslwp" \(OnLWP, LWP 2, .*__aslwp_main', output, re.MULTILINE)
    assert "in lwp_main (self=" in output and "__sys_sig_aslwp();" in output, output
    assert "SIGTRAP" not in output and "token_taker" in output, output


TAKING_TURNS = """\
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t turns[2];

static void *other(void *arg)
{
	for (;;) {
		sem_wait(&turns[1]);
		sched_yield();
		sem_post(&turns[0]);
		usleep(100);
	}
	return NULL;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, other, NULL);
	for (;;) {
		sem_post(&turns[1]);
		sched_yield();
		sem_wait(&turns[0]);
		sched_yield();
	}
}
"""
SWITCHES = ("sys_lwp_yield", "lwp_park", "sched_switch")


@pytest.mark.parametrize("timing", ["fast", "one"])
def test_threads_through_a_switch(weft, tmp_path, timing):
    """A debugger may stop the machine between any two instructions of a switch: each thread is still on its LWP."""
    (tmp_path / "turns.c").write_text(TAKING_TURNS)
    assert weft("cc", "-O1", "turns.c", "-o", "turns", cwd=tmp_path).returncode == 0
    machine = Machine(argv=["turns"], files=[f"{tmp_path}/turns:/bin/turns"], timeout=100, smp=1, model="lwp",
                      timing="fast" if timing == "fast" else "exact", debugger="may")
    with Guest(machine) as guest:
        await_stub(guest.work / STUB, guest.qemu)
        debugger = Debugger(served_of(machine, guest.work / STUB))
        try:
            wrong, steps = asyncio.run(through_switches(debugger))
        finally:
            debugger.close()
    assert not wrong and all(count > 50 for count in steps.values()), (wrong, steps)


async def through_switches(debugger):
    """Steps of the kernel from where each switch begins to user mode or the idle LWP, and where a thread is on
    another's LWP."""
    stop, cpu = asyncio.Event(), Id(KERNEL_PID, 1)
    wrong, steps = [], {}
    for name in SWITCHES:
        point = Point(1, debugger.guest.layout.symbols[name], 1)
        debugger.points.add(point, KERNEL_PID, None)
        for _ in range(100):
            report = await debugger.motion.resume([Action("c", Id(ALL, ALL))], stop)
            assert report.id == cpu, report
            if len(on_lwps(debugger)) == 2:  # it has begun
                break
        debugger.points.remove(point, KERNEL_PID)
        steps[name] = 0
        while not debugger.guest.cpus[0].user and not debugger.guest.cpus[0].idle:
            await debugger.motion.resume([Action("s", cpu)], stop)
            steps[name] += 1
            if on_lwps(debugger) != {1: 1, 2: 2}:
                where = debugger.guest.symbols.function(debugger.guest.cpus[0].registers["rip"])
                wrong.append((name, where, on_lwps(debugger)))
    return wrong, steps


def on_lwps(debugger):
    """The LWP of each of the program's threads."""
    return {thread.id: thread.lwp.id for process in debugger.guest.processes if process.name == "turns"
            for thread in process.threads if thread.lwp is not None}
