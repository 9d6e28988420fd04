"""Commands that show what waits where: the words of the server between GDB and the guest (tools/weft_debug)."""

import gdb

from .commands import Command

KERNEL_PID = 0x7FFFFFFE  # the kernel's inferior


def _ask(*words):
    """What the server says.  Its errors are those of the command."""
    answer = gdb.execute(f"monitor {' '.join(words)}", to_string=True)
    if answer.startswith(f"{words[0]}: "):
        raise gdb.GdbError(answer.removeprefix(f"{words[0]}: ").rstrip())
    gdb.write(answer)


class Told(Command):
    """A command that the server answers as it is."""

    words_most = 0

    def invoke(self, argument, from_tty):
        words = self.words(argument)
        if len(words) > self.words_most or not all(word.isdigit() for word in words):
            raise gdb.GdbError(f"usage: {self.name}{' [PID]' * self.words_most}")
        _ask(self.name, *words)


class Locks(Told):
    """weft-locks [PID]: what the threads of every process wait for, or those of one.

Of each process: its threads, with what each waits for; the locks and other objects, with their owners
and waiters; deadlocks.  Then LWPs and, without PID, CPUs.  The words are those of pthreads and plocks in the
guest."""

    name, words_most = "weft-locks", 1

    def __init__(self):
        super().__init__(self.name)


class Queues(Told):
    """weft-queues: the LWPs and threads that wait in queues, the next first.

The dispatch queue of each CPU, by priority; what LWPs sleep for in the kernel; the kernel's queues for
locks that processes share; and the run queue and the sleep queues of each process's threads library."""

    name = "weft-queues"

    def __init__(self):
        super().__init__(self.name)


class Timers(Told):
    """weft-timers: the timers that each CPU has armed, the earliest first, and what each does.

Then the deadlines of threads that wait on no LWP.  Times are seconds since boot.  In exact timing, what is
left of them is told too."""

    name = "weft-timers"

    def __init__(self):
        super().__init__(self.name)


class Object(Command):
    """weft-{kind} EXPR: {article} {what}: its state, its owner, its waiters, and deadlocks that they are in.

EXPR is the {what} or a pointer to it, in the language of the selected inferior: an object of its process
or, in the kernel's inferior, {kernel}."""

    def __init__(self, kind, what, kernel):
        self.kind = kind
        self.__doc__ = Object.__doc__.format(kind=kind, what=what, kernel=kernel,
                                             article="the" if what else "")
        super().__init__(f"weft-{kind}", gdb.COMMAND_STATUS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        if not argument.strip():
            raise gdb.GdbError(f"usage: weft-{self.kind} EXPR")
        try:
            address = _place(gdb.parse_and_eval(argument))
        except gdb.error as error:
            raise gdb.GdbError(str(error)) from error
        pid = gdb.selected_inferior().pid
        _ask("weft-object", self.kind, f"{address:#x}", *([] if pid == KERNEL_PID else [str(pid)]))


def _place(value):
    """The address of an object, or what a pointer to it says, or a number."""
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_INT):
        return int(value) & (1 << 64) - 1
    if value.address is None:
        raise gdb.GdbError("it is in no memory")
    return int(value.address) & (1 << 64) - 1


for told in (Locks, Queues, Timers):
    told()
OBJECTS = [("mutex", "mutex", "a struct kmutex"), ("cond", "condition variable", "there is none"),
           ("rwlock", "reader-writer lock", "a struct krwlock"), ("sema", "semaphore", "there is none"),
           ("barrier", "barrier", "there is none")]
for described in OBJECTS:
    Object(*described)
