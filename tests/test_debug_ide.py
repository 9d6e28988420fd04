"""GDB/MI, as IDEs drive GDB: their commands as they are, and what they show of the answers.

The sequences are those of MIEngine, the adapter of VS Code's extension C/C++ (src/MIDebugEngine and src/MICore of
microsoft/MIEngine), and of cdt-gdb-adapter 1.7, that of the extension CDT GDB.  The configurations are those of
docs/debugging.md.
"""

import contextlib
import json
import re
import socket
import subprocess
import time

import pytest
from conftest import MODELS, TOP, brought
from weft_debug.points import KERNEL_PID
from weft_host.debugged import find_gdb

DOCUMENT = TOP / "docs/debugging.md"


class Mi:
    """GDB/MI on the pipes of a command."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=TOP)
        self.lines = []

    def until(self, begin):
        """The next line that begins so."""
        while line := self.process.stdout.readline():
            self.lines.append(line)
            if line.startswith(begin):
                return line
        raise AssertionError("".join(self.lines))

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.until(("^done", "^running", "^connected", "^error", "^exit"))

    def do(self, command):
        """The answer to a command that succeeds."""
        answer = self.ask(command)
        assert answer.startswith(("^done", "^connected", "^running")), (command, "".join(self.lines))
        return answer

    def console(self, command):
        return self.do(f'-interpreter-exec console "{command}"')

    def run(self, command):
        """Runs the machine up to the stop, and returns it."""
        assert self.ask(command).startswith("^running"), "".join(self.lines)
        return self.until("*stopped")

    def end(self):
        self.ask("-gdb-exit")
        assert self.process.wait(30) == 0

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def waiting(model, *argv):
    """A guest of `weft run --gdb-wait`, and its port."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    files = [word for file in brought(*argv) for word in ("--file", file)]
    run = subprocess.Popen([TOP / "tools/weft", "run", "--no-build", "--gdb-port", str(port), "--gdb-wait",
                            "--model", model, "--smp", "2", *files, "--", *argv],
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert "--attach" in run.stderr.readline()
        yield run, port
    finally:
        run.kill()
        run.wait()
        run.stderr.close()


def field(name, line):
    return re.search(rf'\b{name}="([^"]*)"', line)[1]


def panel(mi):
    """{GDB's number: name} of the threads of the first inferior, as VS Code shows them."""
    created = "".join(mi.lines)
    known = set(re.findall(r'=thread-created,id="(\d+)",group-id="i1"', created))
    return {number: name for number, name in re.findall(
        r'\{id="(\d+)",target-id="[^"]*",name="([^"]*)"', mi.do("-thread-info")) if number in known}


def click(mi, number):
    """The functions on a thread's stack."""
    mi.do(f"-thread-select {number}")
    return re.findall(r'func="([^"]*)"', mi.do("-stack-list-frames 0 1000"))


def launch(kind, port):
    """The configuration of this type in docs/debugging.md."""
    text = DOCUMENT.read_text().replace("${workspaceFolder}", str(TOP)).replace("1234", str(port))
    found = [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)]
    one, = (config for file in found for config in file["configurations"] if config["type"] == kind)
    return one


def connect_as_vs_code(mi, port):
    config = launch("cppdbg", port)
    mi.do("-gdb-set mi-async on")
    for command in config["setupCommands"]:
        mi.console(command["text"])
    mi.console("set pagination off")
    mi.do("-gdb-set auto-solib-add on")
    mi.do(f"-gdb-set solib-search-path {TOP}/build:")
    mi.do("-gdb-set stop-on-solib-events 1")
    mi.do(f"-environment-cd {config['cwd']}")
    mi.do(f"-file-exec-and-symbols {config['program']}")
    mi.console("show architecture")
    assert mi.ask("-break-insert main").startswith("^error")  # which it expects: the kernel has none
    assert config["useExtendedRemote"]
    mi.do(f"-target-select extended-remote {config['miDebuggerServerAddress']}")
    mi.console("info sharedlibrary")


@pytest.mark.parametrize("model", MODELS)
def test_vs_code(model):
    """The program's threads are in the panel, a click on one shows its stack, and the buttons work."""
    with waiting(model, "at_rest") as (run, port), \
            contextlib.closing(Mi(find_gdb(), "--interpreter=mi")) as mi:
        connect_as_vs_code(mi, port)
        assert field("func", mi.do("-break-insert -f at_rest.c:48")) == "look_here"
        stop = mi.run("-exec-continue")
        for _ in range(100):
            threads = panel(mi)
            if len(re.findall(": Blocked", str(threads))) == 3:
                break
            stop = mi.run("-exec-continue")
        assert (field("reason", stop), field("func", stop)) == ("breakpoint-hit", "look_here")
        lwp = r"\d" if model == "sa" else "1"  # a yield in sa may move the thread to another LWP
        assert re.match(rf"1: OnLWP, LWP {lwp}, CPU ", threads[field("thread-id", stop)]), threads
        assert [name.partition(":")[0] for name in threads.values()] == \
            ["CPU 0", "CPU 1", "1", "2", "reads news", "4"], threads
        stacks = {name.partition(":")[0]: click(mi, number) for number, name in threads.items()}
        assert stacks["1"][:2] == ["look_here", "main"]
        assert "wants_lock" in stacks["2"] and "lock_taker" in stacks["2"]
        assert "news_reader" in stacks["reads news"] and "token_taker" in stacks["4"], stacks
        assert "mutex lock, held by thread 1" in str(threads)
        # Variables of a frame that is not the innermost one.
        mi.do(f"-thread-select {field('thread-id', stop)}")
        mi.do("-stack-select-frame 1")
        assert 'name="round"' in mi.do("-stack-list-variables 0")
        assert 'name="round"' in mi.do("-stack-list-arguments 2 0 0")
        assert field("type", mi.do('-var-create - * "tokens"')) == "sem_t"
        assert field("value", mi.do('-var-create - * "round"')) == field("value", mi.do(
            "-data-evaluate-expression round"))
        # Steps.
        mi.do("-stack-select-frame 0")
        assert field("reason", mi.run("-exec-finish")) == "function-finished"
        stop = mi.run("-exec-next")
        assert (field("reason", stop), field("func", stop)) == ("end-stepping-range", "main")
        mi.run("-exec-step-instruction")
        # Pause; then the scheduler.
        mi.do("-break-delete 1")
        assert mi.ask("-exec-continue").startswith("^running")
        time.sleep(0.2)
        mi.do("-exec-interrupt")
        assert field("signal-name", mi.until("*stopped")) == "SIGINT"
        mi.do("-break-insert -f sched_switch")
        stop = mi.run("-exec-continue")
        assert panel(mi)[field("thread-id", stop)].startswith("CPU ")
        assert field("func", mi.run("-exec-next")) == "sched_switch"
        mi.console("weft-locks")
        assert "mutex lock, held by thread 1" in "".join(mi.lines[-12:])
        mi.end()
        time.sleep(0.1)
        assert run.poll() is None  # the guest runs on


def test_vs_code_sees_the_end():
    """The program's end is that of the inferior; the guest then ends by itself."""
    with waiting("mxn", "sh") as (run, port), contextlib.closing(Mi(find_gdb(), "--interpreter=mi")) as mi:
        connect_as_vs_code(mi, port)
        assert field("reason", mi.run("-exec-continue")) in ("exited", "exited-normally"), "".join(mi.lines)
        mi.end()
        assert run.wait(30) == 0


def connect_as_cdt(mi, port):
    config = launch("gdbtarget", port)
    mi.do("-list-features")
    mi.do("-gdb-set mi-async on")
    mi.do("-gdb-set pagination off")
    mi.do("-gdb-set non-stop off")
    mi.do("-gdb-show host-charset")
    mi.do(f"-file-exec-and-symbols {config['program']}")
    mi.do("-enable-pretty-printing")
    for command in config["preConnectCommands"]:
        mi.console(command)
    mi.do("-target-select {type} {host}:{port}".format(**config["target"]))
    for command in config["initCommands"]:
        mi.console(command)


def test_cdt():
    """Each process is an inferior of its own, and the threads of all are in the panel."""
    with waiting("mxn", "at_rest") as (_, port), contextlib.closing(Mi(find_gdb(), "--interpreter=mi")) as mi:
        connect_as_cdt(mi, port)
        mi.do("-list-target-features")
        mi.do("-break-list")
        mi.do("-break-insert --function look_here")
        for _ in range(3):
            stop = mi.run("-exec-continue")
        assert (field("reason", stop), field("func", stop)) == ("breakpoint-hit", "look_here")
        groups = mi.do("-list-thread-groups")
        assert re.findall(r'pid="(\d+)"', groups) == [str(KERNEL_PID), "2", "1"], groups
        threads = re.findall(r'id="(\d+)",target-id="Thread 2\.(\d+)",details="([^"]*)"', mi.do("-thread-info"))
        assert len(threads) == 4, threads
        waits = next(number for number, _, details in threads if "mutex lock" in details)
        assert int(field("depth", mi.do(f"-stack-info-depth --thread {waits} 100"))) >= 6
        stack = mi.do(f"-stack-list-frames --thread {waits} 0 5")
        assert 'func="wants_lock"' in stack and 'func="lock_taker"' in stack, stack
        me = field("thread-id", stop)
        mi.do(f"-stack-list-variables --thread {me} --frame 0 --no-values")
        mi.do(f'-var-create --thread {me} --frame 0 - * "round"')
        assert field("func", mi.run(f"-exec-next --thread {me}")) in ("look_here", "main")
        mi.do("-break-delete 1")
        assert mi.ask(f"-exec-continue --thread {me}").startswith("^running")
        time.sleep(0.2)
        mi.do("-exec-interrupt --all")
        assert "signal-received" in mi.until("*stopped")
        mi.end()


def test_an_ide_that_knows_target_remote_alone():
    """As CLion's manual says: a .gdbinit, a symbol file and `target remote`."""
    with waiting("mxn", "at_rest") as (_, port), contextlib.closing(Mi(find_gdb(), "--interpreter=mi")) as mi:
        gdbinit, = re.findall(r"^```\n(source [^`]*\nweft-ide\n)^```", DOCUMENT.read_text(), re.MULTILINE)
        for command in gdbinit.splitlines():
            mi.console(command)
        mi.do(f"-file-exec-and-symbols {TOP}/build/weft.elf")
        mi.do(f"-target-select remote localhost:{port}")
        mi.do("-break-insert -f main")
        assert field("func", mi.run("-exec-continue")) == "main"
        assert "1: OnLWP" in str(panel(mi))
        mi.end()


def test_weft_gdb():
    """`weft gdb` itself speaks GDB/MI."""
    files = [word for file in brought("at_rest") for word in ("--file", file)]
    with contextlib.closing(Mi(TOP / "tools/weft", "gdb", "--no-build", "--interpreter", "mi", *files, "--",
                               "at_rest")) as mi:
        mi.do("-break-insert main")
        assert field("func", mi.run("-exec-continue")) == "main"
        assert field("func", mi.run("-exec-next")) == "main"
        mi.end()
