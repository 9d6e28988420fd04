"""How fast exact timing runs on this host: guest instructions a second of a core's time.

All CPUs execute a loop (scale split).  What a boot costs drops out, because each figure is the difference
of two lengths: of the instructions, and of the time that QEMU had of the host's cores.  That time does
not depend on what else the host does, except for what the cores share.

The engine of several processors passes its token between threads of the host, and with many CPUs its
windows cost a hundred times those of the other: there it executes less.
"""

from rich.console import Group
from rich.text import Text

from ..machine import HostError, UsageError
from .pingpong import grid

CPU_COUNTS = (1, 2, 4, 8, 16, 32, 64)
QUANTA = (200, 1000, 10_000)
WINDOWS = 200_000  # of all CPUs, in the longer run
MOST = 200_000_000  # instructions of all CPUs
SHARES = 10 * max(CPU_COUNTS)  # so that also a tenth of it is shared evenly
SHORTER = {"processors": {16: 4, 32: 16, 64: 40}}  # so many times fewer windows, by CPUs


def length(engine, cpus, quantum):
    """Instructions of all CPUs in the longer of two runs."""
    windows = WINDOWS // SHORTER.get(engine, {}).get(cpus, 1)
    return min(windows * quantum, MOST) // SHARES * SHARES


def cpu_seconds(ctx, engine, cpus, quantum, instructions):
    """Of one run."""
    argv = ["scale", "split", instructions]
    result = ctx.guest(argv, smp=cpus, quantum=quantum, engine=engine)
    if result.status != 0:
        raise HostError(f"{argv} ({cpus} CPUs): status {result.status}\n{result.output}")
    if result.cpu_seconds is None:
        raise UsageError("speed needs Linux, which tells what time of its cores QEMU had")
    return result.cpu_seconds


def run(ctx):
    """A row for each engine, number of CPUs and length of a round."""
    if ctx.timing != "exact":
        raise UsageError("speed is about exact timing: it needs --timing exact")
    cases = [(engine, cpus, quantum) for engine in ctx.engines for cpus in CPU_COUNTS for quantum in QUANTA]
    rows = []
    ctx.steps(len(cases))
    for engine, cpus, quantum in cases:
        ctx.step(f"{engine}, {cpus} CPUs, rounds of {quantum}")
        long = length(engine, cpus, quantum)
        short = long // 10
        took = [cpu_seconds(ctx, engine, cpus, quantum, count) for count in (short, long)]
        seconds = max(took[1] - took[0], 0.01)  # a tick of the host
        rows.append({"engine": engine, "cpus": cpus, "quantum": quantum, "instructions": long - short,
                     "host_s": round(seconds, 2), "boot_s": round(took[0], 2),
                     "speed": round((long - short) / seconds / 1e6, 1),
                     "us_a_window": round(seconds * quantum / (long - short) * 1e6, 2)})
    return rows


def table(rows):
    """A line for each number of CPUs; of each engine and length of a round the speed."""
    columns = list(dict.fromkeys((row["engine"], row["quantum"]) for row in rows))
    lines = grid([("CPUs", "right"), *((f"{engine}\n{quantum}", "right") for engine, quantum in columns)],
                 wrap="")
    by_key = {(row["engine"], row["quantum"], row["cpus"]): row for row in rows}
    for cpus in dict.fromkeys(row["cpus"] for row in rows):
        lines.add_row(str(cpus), *(f"{by_key[engine, quantum, cpus]['speed']:,.1f}" for engine, quantum in columns))
    note = ("Million guest instructions, of all CPUs together, a second of a core of this host, by engine of "
            "exact timing and instructions of a round.")
    return Group("", lines, "", Text(note), "")
