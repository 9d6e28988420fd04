"""GDB commands for weft; `weft gdb` loads this file.

    weft-cpus               what each CPU runs
    weft-cpu N              the registers and the backtrace of a CPU
    weft-lwps [PID]         the LWPs of every process, or of one
    weft-threads [-s] [PID] libthread's threads of a process, also those that are on no LWP
    weft-program FILE       takes the symbols of a user program from its ELF file
    weft-attach PID         makes an inferior again of a process that has been detached
    weft-main, weft-ide     what is to be done after GDB, or an IDE, has connected

What waits where:

    weft-locks [PID]        what threads wait for, which thread holds it, deadlocks
    weft-queues             dispatch queues, and the sleep queues of the kernel and of each threads library
    weft-timers             each CPU's timers, and the deadlines of threads on no LWP
    weft-mutex EXPR         one mutex; weft-cond, weft-rwlock, weft-sema, weft-barrier

In a recorded run (weft gdb --reverse):

    weft-when               virtual time, CPU and instruction
    weft-goto TIME [CPU]    goes to a virtual time, or to start or end
    weft-last-write EXPR    goes back to the instruction that wrote a variable last

They use the types that the debugging information describes, so they need no change when a
structure of the kernel or of libthread does.
"""

import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
# GDB runs its own Python, which knows no environment.
sys.path.insert(0, HERE)
# Compiled modules are kept where those of the host command are (tools/weft).
sys.pycache_prefix = os.path.join(os.path.dirname(os.path.dirname(HERE)), "build/pycache")
sys.dont_write_bytecode = False

import weft_gdb.commands  # noqa: E402
import weft_gdb.homes  # noqa: E402
import weft_gdb.inferiors  # noqa: E402
import weft_gdb.locks  # noqa: E402
import weft_gdb.travel  # noqa: E402, F401  (all register commands)
