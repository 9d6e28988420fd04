"""The commands themselves: arguments, and what is printed."""

import contextlib
import functools
import os

import gdb

from . import inferiors, kernel
from .cpus import REGISTERS, virtual_cpus
from .memory import KERNEL_HALF
from .threads import threads
from .unwind import Unwinder

program = None  # path of the program whose symbols weft-program has loaded
_copy = None  # the file that GDB has loaded


class Command(gdb.Command):
    """A command whose errors read like GDB's own.  While it runs, the kernel's inferior is selected."""

    stays = True

    def __init__(self, name, kind=gdb.COMMAND_STATUS, completer=gdb.COMPLETE_NONE):
        super().__init__(name, kind, completer)

    def words(self, argument):
        return gdb.string_to_argv(argument)

    def invoke(self, argument, from_tty):
        try:
            inferiors.refresh_if_stale()
            with inferiors.in_kernel() if self.stays else contextlib.nullcontext():
                self.call(self.words(argument))
        except gdb.MemoryError as error:
            raise gdb.GdbError(f"{error} (has the kernel booted yet?)") from error

    def table(self, rows):
        """Prints rows in columns as wide as need be."""
        widths = [max(len(str(cell)) for cell in column) for column in zip(*rows)]
        for row in rows:
            cells = (str(cell).ljust(width) for cell, width in zip(row, widths))
            print("  ".join(cells).rstrip())


class Cpus(Command):
    """weft-cpus: what each CPU runs.

Columns: the CPU, its LWP as PID/LWP, the process, whether it is in user or in kernel mode,
and the instruction that it executes next.  * marks the CPU that GDB's own commands show; weft-cpu
shows another one."""

    def __init__(self):
        super().__init__("weft-cpus")

    def call(self, argv):
        rows = [(" ", "CPU", "LWP", "PROCESS", "PRI", "MODE", "AT")]
        for vcpu in virtual_cpus():
            lwp, process = _runs(vcpu)
            rows.append(("*" if vcpu.shown else "", vcpu.id, lwp, process,
                         int(vcpu.lwp["pri"]), _mode(vcpu), _where_of(vcpu)))
        self.table(rows)


class Cpu(Command):
    """weft-cpu N: the registers and the backtrace of CPU N.

A CPU that waits for its turn (exact timing) is shown where it was interrupted.  The backtrace goes
on in user mode if the process runs the program given to weft-program."""

    def __init__(self):
        super().__init__("weft-cpu")

    def call(self, argv):
        if len(argv) != 1:
            raise gdb.GdbError("usage: weft-cpu N")
        vcpu = next((v for v in virtual_cpus() if str(v.id) == argv[0]), None)
        if vcpu is None:
            raise gdb.GdbError(f"there is no CPU {argv[0]}, or it has not started")
        lwp, process = _runs(vcpu)
        print(f"CPU {vcpu.id}: {f'LWP {lwp} of {process}' if lwp != '-' else process}, "
              f"{_mode(vcpu)} mode, {'waits for its turn' if vcpu.waits else 'runs'}")
        _show_registers(vcpu.registers, REGISTERS)
        mine = lwp != "-" and _runs_program(vcpu.lwp["proc"])
        unwinder = _unwinder(gdb.current_progspace().filename, *[program] * mine)
        frames = unwinder.backtrace(vcpu.memory(), vcpu.registers)
        _show_backtrace(frames, mine)


class Lwps(Command):
    """weft-lwps [PID]: the LWPs of every process, or of one.

Columns: process, LWP, state, the CPU that it is or was last on, its priority, what it sleeps
on, the system call that it is in, and where it left user mode."""

    def __init__(self):
        super().__init__("weft-lwps")

    def call(self, argv):
        if len(argv) > 1:
            raise gdb.GdbError("usage: weft-lwps [PID]")
        vcpus = virtual_cpus()
        procs = [kernel.find_process(_pid(argv[0]))] if argv else kernel.processes()
        rows = [("PID", "PROCESS", "LWP", "STATE", "CPU", "PRI", "WCHAN", "SYSCALL", "USER AT")]
        for proc in procs:
            for lwp in kernel.process_lwps(proc):
                registers = kernel.user_registers(lwp, vcpus)
                rows.append((int(proc["pid"]), kernel.proc_name(proc), int(lwp["id"]),
                             kernel.lwp_state(lwp), int(lwp["cpu"]), int(lwp["pri"]),
                             kernel.lwp_wchan(lwp) or "-",
                             kernel.syscall_name(int(lwp["syscall"])) or "-",
                             _where(proc, registers["rip"])))
        self.table(rows)


class Threads(Command):
    """weft-threads [-s] [PID]: libthread's threads of a process.

Without PID, the process that runs the program given to weft-program, or else the selected
inferior's.  Each thread is shown with its state, the LWP that it is on, what it waits for, its
registers and its backtrace; a thread on no LWP has them saved in its own memory.  -s leaves
registers and backtraces out."""

    def __init__(self):
        super().__init__("weft-threads")

    def call(self, argv):
        short = "-s" in argv
        argv = [word for word in argv if word != "-s"]
        if len(argv) > 1:
            raise gdb.GdbError("usage: weft-threads [-s] [PID]")
        proc = kernel.find_process(_pid(argv[0])) if argv else _process_of_program()
        _follow_program(proc)
        found = threads(proc, virtual_cpus())
        unwinder = None if short else _unwinder(program)
        for thread in found:
            self.show(thread, unwinder)

    def show(self, thread, unwinder):
        on = f"on LWP {thread.lwp}" if thread.lwp else "on no LWP"
        line = f"thread {thread.id}: {'exited' if thread.exited else thread.state}, {on}, " \
               f"{'bound' if thread.bound else 'unbound'}, priority {thread.priority}"
        if thread.wchan:
            line += f", waits for {kernel.where(thread.wchan)}"
        if thread.start:
            line += f", started at {kernel.where(thread.start)}"
        print(line)
        if unwinder is None or thread.registers is None:
            return
        _show_registers(thread.registers, kernel.USER_REGISTERS)
        _show_backtrace(thread.backtrace(unwinder), True)


class Program(Command):
    """weft-program FILE: takes the symbols of a user program from its ELF file.

The symbols of the program loaded before are forgotten: all programs lie at the same addresses."""

    def __init__(self):
        super().__init__("weft-program", gdb.COMMAND_FILES, gdb.COMPLETE_FILENAME)

    def call(self, argv):
        global program, _copy
        if len(argv) != 1 or not os.path.isfile(argv[0]):
            raise gdb.GdbError("usage: weft-program FILE")
        path = os.path.realpath(argv[0])
        confirm = gdb.parameter("confirm")
        gdb.execute("set confirm off")
        try:
            if _copy is not None:
                gdb.execute(f'remove-symbol-file "{_copy}"')
            _copy = inferiors.copied(path)
            gdb.execute(f'add-symbol-file "{_copy}"', to_string=True)
        finally:
            gdb.execute(f"set confirm {'on' if confirm else 'off'}")
        program = path
        inferiors.quietly(f"monitor weft-program {path}")
        inferiors.quietly("maintenance flush register-cache")  # weft-ide: the same numbers are other threads


class Refresh(gdb.Command):
    """weft-refresh: brings GDB's inferiors up to date, if the machine has run."""

    def __init__(self):
        super().__init__("weft-refresh", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        inferiors.refresh_if_stale()


class Attach(Command):
    """weft-attach PID: makes an inferior of a process that has been detached, and selects it."""

    stays = False

    def __init__(self):
        super().__init__("weft-attach")

    def call(self, argv):
        if len(argv) != 1:
            raise gdb.GdbError("usage: weft-attach PID")
        said = inferiors.ask(f"weft-want {_pid(argv[0])}").strip()
        if said:
            raise gdb.GdbError(said)
        inferiors.refresh()
        for inferior in gdb.inferiors():
            if inferior.pid == int(argv[0]):
                gdb.execute(f"inferior {inferior.num}")


class Main(gdb.Command):
    """weft-main: what is to be done after GDB has connected.

Brings GDB's inferiors up to date, and selects that of the program that the guest runs first."""

    def __init__(self):
        super().__init__("weft-main", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        # In the inferior that GDB has connected with, it takes all stops for a part of connecting, up to the first
        # one after a `continue` or step there.  (GDB 13 and 15: stop_soon of other inferiors is never cleared.)
        inferiors.ask("weft-stay")
        with inferiors.silence():
            gdb.execute("stepi", to_string=True)
        inferiors.refresh()
        pid, file = _main_program()
        _take_symbols(file)
        with inferiors.silence():
            for inferior in gdb.inferiors():
                if str(inferior.pid) == pid:
                    gdb.execute(f"inferior {inferior.num}", to_string=True)
        gdb.execute("frame")


class Ide(gdb.Command):
    """weft-ide: makes the kernel, and the program that the guest runs first, one inferior.

Many IDEs show the threads of GDB's first inferior alone.  The threads of the program then have numbers above
1000, and their states in their names.  Before GDB has connected, this is done when it has."""

    def __init__(self):
        super().__init__("weft-ide", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        if inferiors.files() is None:
            for name in ("remote", "extended-remote"):
                gdb.execute(f"define target hookpost-{name}\nweft-ide\nend")
            return
        _, file = _main_program()
        inferiors.ask("weft-join")  # before GDB is brought up to date, and makes inferiors of processes
        _take_symbols(file)
        inferiors.refresh()
        gdb.execute("info threads", to_string=True)  # GDB asks for them


def _main_program():
    """The pid of the program that the guest runs first, or another word; its file, or None."""
    pid = inferiors.ask("weft-main").strip()
    return pid, (inferiors.files() or {}).get(int(pid)) if pid.isdigit() else None


def _take_symbols(file):
    """The kernel's inferior has those of this program, if it has none yet."""
    if program is None and file:
        gdb.execute(f"weft-program {file}", to_string=True)


def _pid(word):
    try:
        return int(word)
    except ValueError:
        raise gdb.GdbError(f"{word} is no process id") from None


def _runs_program(proc):
    return program is not None and kernel.proc_name(proc) == os.path.basename(program)


def _where(proc, address):
    """A user address of a process: all programs have the same, so the symbols fit only one."""
    return kernel.where(address) if _runs_program(proc) else f"{address:#x}"


def _runs(vcpu):
    """The CPU's LWP as PID/LWP, and the process."""
    proc = vcpu.lwp["proc"]
    if int(proc) == 0:
        return "-", "(idle)" if vcpu.idle else "(kernel)"
    return f"{int(proc['pid'])}/{int(vcpu.lwp['id'])}", kernel.proc_name(proc)


def _mode(vcpu):
    return "user" if vcpu.user else "kernel"


def _where_of(vcpu):
    rip = vcpu.registers["rip"]
    return _where(vcpu.lwp["proc"], rip) if vcpu.user else kernel.where(rip)


@functools.lru_cache(maxsize=4)
def _unwinder_of(files):
    return Unwinder(*(path for path, _ in files))


def _unwinder(*paths):
    """Reads a file again only when it has changed."""
    return _unwinder_of(tuple((path, os.stat(path).st_mtime_ns) for path in paths))


def _show_registers(registers, names):
    known = [(name, registers[name]) for name in names if name in registers]
    for begin in range(0, len(known), 4):
        print("    " + "  ".join(f"{name:3} {value:#018x}" for name, value in known[begin:begin + 4]))


def _show_backtrace(frames, symbols_fit):
    """symbols_fit: the program's symbols are those of this process.  Without them, the first frame in
    user mode is the last that can be told."""
    for depth, (address, inside) in enumerate(frames):
        in_kernel = address >= KERNEL_HALF
        said = kernel.where(inside) if in_kernel or symbols_fit else ""
        print(f"    #{depth:<3}{address:#x} {said}".rstrip())
        if not in_kernel and not symbols_fit:
            return


def loaded_process():
    """The youngest process that runs the program given to weft-program, or None."""
    found = [] if program is None else [p for p in kernel.processes() if _runs_program(p)]
    return found[-1] if found else None


def _process_of_program():
    found = loaded_process()
    if found is None:
        selected = gdb.selected_inferior().pid
        found = next((p for p in kernel.processes() if int(p["pid"]) == selected), None)
    if found is None and program is None:
        raise gdb.GdbError("no program is loaded: weft-program FILE, or name a PID")
    if found is None:
        raise gdb.GdbError(f"no process runs {os.path.basename(program)}: `inferior N` selects another one, or "
                           "name a PID")
    return found


def _follow_program(proc):
    """Takes the symbols of the program that a process runs now: a program of the command may have executed it."""
    if _runs_program(proc):
        return
    pid, name = int(proc["pid"]), kernel.proc_name(proc)
    path = (inferiors.files() or {}).get(pid)
    if not path:
        raise gdb.GdbError(f"process {pid} runs {name}: weft-program FILE takes its symbols")
    print(f"weft: the symbols are those of {name} now")
    gdb.execute(f"weft-program {path}")


for command in (Cpus, Cpu, Lwps, Threads, Program, Main, Ide, Refresh, Attach):
    command()
