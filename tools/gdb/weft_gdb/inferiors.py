"""The processes of the guest as GDB's inferiors.

The server (tools/weft_debug) lists processes and threads; GDB makes an inferior of a process when it first sees
it.  What GDB does not do by itself is done here, at each stop: an inferior goes with its process, and has the
symbols of the program that its process runs now.
"""

import contextlib
import functools
import os
import re
import shutil
import tempfile

import gdb

KERNEL = 1  # GDB's number of the kernel's inferior
KERNEL_PID = 0x7FFFFFFE
JOINED = 1000  # above this, a thread of the kernel's inferior is one of the program (weft_debug/numbering.py)

# The machine runs as a whole, so that a `continue` is one of all inferiors.
SETTINGS = ("set schedule-multiple on", "set sysroot", "set exec-file-mismatch off", "set confirm off",
            "set print inferior-events off")


# Commands before which weft-refresh is to be called, by their prefix.
HOOKED = {"": ("inferior", "thread", "break", "tbreak", "watch"), "info ": ("inferiors", "threads")}


def ask(words):
    """What the server says.  Raises gdb.error."""
    return gdb.execute(f"monitor {words}", to_string=True)


def files():
    """{pid: file with its symbols, or ""}; None: there is no server."""
    try:
        said = ask("weft-programs")
    except gdb.error:
        return None
    return {int(pid): path for pid, _, path in (line.partition(" ") for line in said.splitlines())}


after_meeting = []  # what is called when there are new inferiors
_kept = []  # what is removed with GDB


_unchanged = 0  # no stop changes the inferiors


@contextlib.contextmanager
def unchanged():
    """GDB's inferiors stay as they are, while the machine only passes."""
    global _unchanged
    _unchanged += 1
    try:
        yield
    finally:
        _unchanged -= 1


@functools.lru_cache(maxsize=1)
def recorded():
    """Is this a recorded run?"""
    try:
        return all(word.isdigit() for word in ask("weft-place").split())
    except gdb.error:
        return False


_stale = False  # the machine has run


def stopped(_event):
    """In the middle of a stop GDB (13) fails if it gets a new inferior.  So that is done when GDB is at rest
    again: by its event loop, or before the first command that may need it (HOOKED).  With -batch no event loop runs
    between two commands, and GDB 13 fails where it ends and an event is left; `weft gdb` then sets $weft_batch."""
    global _stale
    if not _unchanged:
        _stale = True
        if gdb.convenience_variable("weft_batch") is None:
            gdb.post_event(refresh_if_stale)


def refresh_if_stale():
    if _stale and not any(thread.is_running() for inferior in gdb.inferiors() for thread in inferior.threads()):
        refresh()


def refresh():
    """Brings GDB's inferiors up to date."""
    global _stale
    known = files()
    if known is None:
        return
    _stale = False
    for inferior in gdb.inferiors():
        if inferior.num == KERNEL:
            continue
        # In a recorded run the process may come again.
        if inferior.pid and inferior.pid not in known and not recorded():
            quietly(f"detach inferiors {inferior.num}")
        if not inferior.pid and inferior != gdb.selected_inferior():
            quietly(f"remove-inferiors {inferior.num}")
    follow(known)
    meet(known.keys() - {inferior.pid for inferior in gdb.inferiors()})


def follow(known):
    """An inferior whose process has executed another program gets the symbols of the new one."""
    changed = [inferior for inferior in gdb.inferiors() if inferior.num != KERNEL and known.get(inferior.pid) and
               inferior.progspace.filename != os.path.realpath(known[inferior.pid])]
    if not changed:
        return
    with staying():
        for inferior in changed:
            gdb.execute(f"inferior {inferior.num}", to_string=True)
            gdb.execute(f'file "{known[inferior.pid]}"', to_string=True)


def meet(pids):
    """Makes inferiors of these processes.

    GDB meets a new process wherever it gets the list of threads.  GDB 13 then forgets which thread is selected, and
    fails where it does so in the middle of a stop.  So the server lists new ones only here.
    """
    if not pids:
        return
    known, main = files(), ask("weft-main").strip()
    with staying():
        for pid in sorted(pids, key=lambda pid: (str(pid) != main, pid)):
            number = _empty_inferior(known[pid])
            ask(f"weft-show {pid}")
            gdb.execute("info threads", to_string=True)
            if gdb.selected_inferior().num != number and not gdb.selected_inferior().pid:
                print(f"weft: process {pid} is not shown: GDB has made no inferior of it")
    for call in after_meeting:
        call()


@contextlib.contextmanager
def staying():
    """The selected inferior, thread and frame are so again afterwards."""
    inferior, thread = gdb.selected_inferior(), gdb.selected_thread()
    frame = gdb.selected_frame() if thread is not None else None
    with silence():
        try:
            yield
        finally:
            if thread is not None and thread.is_valid():
                thread.switch()
                if frame.is_valid():
                    frame.select()
            elif inferior.is_valid():
                gdb.execute(f"inferior {inferior.num}", to_string=True)


@contextlib.contextmanager
def silence():
    """GDB does not print where it stops, nor what it shows now.  GDB 11 cannot, and prints."""
    setting = "suppress-cli-notifications"
    try:
        before = gdb.parameter(setting)
    except RuntimeError:
        yield
        return
    gdb.execute(f"set {setting} on")
    try:
        yield
    finally:  # one silence may lie within another
        gdb.execute(f"set {setting} {'on' if before else 'off'}")


@contextlib.contextmanager
def in_kernel():
    """The kernel's inferior is selected: kernel symbols are found, and registers are those of a CPU, of the one
    that executes the selected thread if one does."""
    if shows_cpu() or not any(i.num == KERNEL for i in gdb.inferiors()):
        yield
        return
    number = cpu_shown()
    with staying():
        gdb.execute(f"inferior {KERNEL}", to_string=True)
        threads = cpu_threads()
        if threads:
            threads.get(number, threads[min(threads)]).switch()
        yield


def shows_cpu():
    """Do GDB's own commands show a thread of the kernel's inferior that is a CPU?"""
    thread = gdb.selected_thread()
    return gdb.selected_inferior().num == KERNEL and (thread is None or thread.ptid[1] < JOINED)


def cpu_threads():
    """{number of a CPU: its thread}, while the kernel's inferior is selected."""
    return {thread.ptid[1] - 1: thread for thread in gdb.selected_inferior().threads() if thread.ptid[1] < JOINED}


def cpu_shown():
    """The CPU that GDB's own commands show; None: they show a thread that is on none."""
    thread = gdb.selected_thread()
    if thread is None:
        return None
    if shows_cpu():
        return thread.ptid[1] - 1
    said = ask(f"weft-cpu {thread.ptid[0]} {thread.ptid[1]}").strip()
    return int(said) if said.isdigit() else None


def _empty_inferior(path):
    """GDB puts the next process that it meets into this inferior.  Its number.

    GDB asks for a description of the registers only where it attaches or connects.  So the inferior gets the
    kernel's, which is the same.
    """
    said = gdb.execute("add-inferior", to_string=True)
    number = int(re.search(r"Added inferior (\d+)", said)[1])
    gdb.execute(f"inferior {number}", to_string=True)
    gdb.execute(f"set tdesc filename {_description()}", to_string=True)
    if path:
        gdb.execute(f'file "{path}"', to_string=True)
    return number


def _folder():
    """A new directory, which goes with GDB."""
    _kept.append(tempfile.TemporaryDirectory(prefix="weft.gdb."))
    return _kept[-1].name


def copied(path):
    """A copy of a file.  GDB (13) fails if it has the symbols of a file once by add-symbol-file, and then as
    those of an inferior ("get_msymbol_address")."""
    return shutil.copy(path, _folder())


@functools.lru_cache(maxsize=1)
def _description():
    """A file with the description of the registers, which goes with GDB."""
    with staying():
        gdb.execute(f"inferior {KERNEL}", to_string=True)
        text = gdb.execute("maint print xml-tdesc", to_string=True)
    path = os.path.join(_folder(), "registers.xml")
    with open(path, "w") as file:
        file.write(text)
    return path


def quietly(command):
    with contextlib.suppress(gdb.error):
        gdb.execute(command, to_string=True)


for setting in SETTINGS:
    gdb.execute(setting, to_string=True)
gdb.events.stop.connect(stopped)
# Where a thread has made a step and another inferior is detached, GDB 13 goes on with the step, unless
# a `continue` is one of a single inferior.
for prefix, name in (("", "detach"), ("detach ", "inferiors")):
    gdb.execute(f"define {prefix}hook-{name}\nset schedule-multiple off\nend")
    gdb.execute(f"define {prefix}hookpost-{name}\nset schedule-multiple on\nend")
for prefix, names in HOOKED.items():
    for name in names:
        gdb.execute(f"define {prefix}hook-{name}\nweft-refresh\nend")
