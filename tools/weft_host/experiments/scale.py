"""How work of several kinds spreads over 1 to 64 CPUs.

The programs scale and pp do the work; their sources say what each kind is.  At 1,000 million
instructions a second a nanosecond is an instruction, so the figures are the same on every host,
whatever its number of cores.  64 CPUs cost the host much: the amounts of work are the smallest
that keep the waiting at the beginning and the end below a hundredth.

A speed-up is only worth telling if all CPUs have run equally fast: a kernel whose self-test at boot
finds that they have not panics.
"""

import re
from dataclasses import dataclass

from rich.console import Group
from rich.text import Text

from ..machine import HostError, UsageError
from .pingpong import grid

CPU_COUNTS = (1, 2, 4, 8, 16, 32, 64)
QUANTUM = 1000  # CPUs see each other's stores up to so many instructions late


@dataclass(frozen=True)
class Kind:
    """A kind of work.  operations: of all CPUs together; of games, moves of each player."""

    title: str
    operations: int
    base: int = 1  # the number of CPUs that speed-ups refer to


KINDS = {
    "split": Kind("split work", 16_000_000),
    "faults": Kind("page faults", 3_200),
    "wakeups": Kind("wake-ups", 3_200),
    "games": Kind("ping-pong", 100, base=2),
}


def guest(ctx, argv, cpus, quantum=QUANTUM, **options):
    """The output of a run that has ended well."""
    result = ctx.guest(argv, smp=cpus, quantum=quantum, **options)
    if result.status != 0:
        raise HostError(f"{' '.join(map(str, argv))} ({cpus} CPUs): status {result.status}\n"
                        f"{result.output}")
    return result.output


def measure(ctx, kind, cpus, operations, *arguments, **options):
    """Instructions that a CPU executes in the time that `scale` took for so many operations."""
    output = guest(ctx, ["scale", kind, operations, *arguments], cpus, **options)
    words = output.split()
    if words[:3] != [kind, str(cpus), str(operations)] or len(words) != 4:
        raise HostError(f"not what scale {kind} prints on {cpus} CPUs: {output!r}")
    return int(words[3])


def play(ctx, cpus, moves, games=None, **options):
    """The same for games of ping-pong, one for two CPUs.  Setting them up does not count: the time
    is the difference to twice as many moves."""
    def microseconds(moves):
        output = guest(ctx, ["pp", "-vu", "-i", moves, "-n", games], cpus, mips=1, **options)
        return int(re.search(r"games completed in (\d+)us", output)[1])

    games = games or max(cpus // 2, 1)
    return microseconds(2 * moves) - microseconds(moves)


def run(ctx):
    """A row for each kind of work and number of CPUs."""
    if ctx.timing != "exact":
        raise UsageError("scale compares numbers of CPUs that the host need not have: it needs "
                         "--timing exact")
    rows = []
    ctx.steps(len(KINDS) * len(CPU_COUNTS))
    for name, kind in KINDS.items():
        for cpus in CPU_COUNTS:
            ctx.step(f"{kind.title}, {cpus} CPUs")
            operations = kind.operations
            if name == "games":
                took = play(ctx, cpus, operations)
                operations *= max(cpus // 2, 1)
            else:
                took = measure(ctx, name, cpus, operations)
            rows.append({"kind": name, "cpus": cpus, "operations": operations,
                         "instructions": took, "speedup": None})
    add_speedups(rows)
    return rows


def add_speedups(rows):
    """Operations in a time, over those of one CPU (of games, half of two)."""
    def rate(row):
        return row["operations"] / row["instructions"]

    for row in rows:
        base = KINDS[row["kind"]].base
        reference = next(r for r in rows if r["kind"] == row["kind"] and r["cpus"] == base)
        row["speedup"] = round(rate(row) / rate(reference) * base, 3)


def table(rows):
    """A line for each number of CPUs: the time and the speed-up of each kind."""
    lines = grid([("CPUs", "right")] + [heading for kind in KINDS for heading in (
        (kind, "right"), ("speed-up", "right"))], wrap="")
    by_key = {(row["kind"], row["cpus"]): row for row in rows}
    for cpus in dict.fromkeys(row["cpus"] for row in rows):
        cells = [by_key[kind, cpus] for kind in KINDS]
        lines.add_row(str(cpus), *(text for row in cells for text in (
            f"{row['instructions'] / 1000:,.0f}", f"{row['speedup']:.2f}")))
    note = (f"Thousands of instructions. split: {KINDS['split'].operations:,} of a loop, in two parts "
            f"with a barrier behind each. faults: first stores to {KINDS['faults'].operations:,} "
            f"pages by the threads of one process. wakeups: {KINDS['wakeups'].operations:,} there "
            "and back by pairs of LWPs, a pair a CPU. games: of ping-pong, one for two CPUs, with "
            f"{KINDS['games'].operations} moves a player; their speed-up refers to one game on two "
            "CPUs, which counts as 2: alone, a CPU has nobody to spin for. Exact timing: "
            "every instruction costs the same, and CPUs see each other's stores up to "
            f"{QUANTUM} instructions late. What shows is work that waits for other work, in the "
            "program and in the kernel's locks, not memory.")
    return Group("", lines, "", Text(note), "")
