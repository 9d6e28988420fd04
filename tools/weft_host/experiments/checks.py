"""The two statements that the ping-pong table must bear out on any host.

A 1:1 library that spins while the owner is on a CPU hands over faster on two CPUs than on one;
and on one CPU a switch between user threads is far cheaper than one through the kernel.
"""

from rich.console import Group
from rich.text import Text

from .pingpong import grid, play

ITERATIONS = 100_000
EXACT_ITERATIONS = 20_000
REPEATS = 3  # fast timing: the best counts, since what disturbs a run only adds to it

# (what, the slower (model, CPUs), the faster, times as fast that it has to exceed)
CHECKS = [
    ("spinning on 2 CPUs against sleeping on 1", ("lwp", 1), ("lwp", 2), 1.0),
    ("user-level switch against the kernel's, 1 CPU", ("lwp", 1), ("mxn", 1), 2.5),
]


def judge(what, slower, faster, slower_ms, faster_ms, required, iterations=ITERATIONS):
    """One row of the results; milliseconds of all repeats."""
    ratio = min(slower_ms) / max(min(faster_ms), 1)
    return {"check": what, "slower_model": slower[0], "slower_cpus": slower[1],
            "slower_ms": min(slower_ms), "faster_model": faster[0], "faster_cpus": faster[1],
            "faster_ms": min(faster_ms), "iterations": iterations, "repeats": len(slower_ms),
            "ratio": round(ratio, 3), "required": required, "holds": ratio > required}


def run(ctx):
    """Measures each configuration once for all checks that need it."""
    configurations = sorted({c for check in CHECKS for c in check[1:3]})
    times = {}
    exact = ctx.timing == "exact"
    repeats, iterations = (1, EXACT_ITERATIONS) if exact else (REPEATS, ITERATIONS)
    ctx.steps(len(configurations) * repeats)
    for model, cpus in configurations:
        times[model, cpus] = []
        for repeat in range(repeats):
            ctx.step(f"{model}, {cpus} CPUs, {repeat + 1} of {repeats}")
            measured = play(ctx, ["-v"], iterations, cpus=cpus, model=model)
            times[model, cpus].append(measured.completed_ms)
    return [judge(what, slower, faster, times[slower], times[faster], required, iterations)
            for what, slower, faster, required in CHECKS]


def parts(rows):
    """One line for each check."""
    lines = grid([("check", "left"), ("slower", "right"), ("faster", "right"),
                  ("ratio", "right"), ("above", "right"), ("holds", "left")], wrap="check")
    for row in rows:
        lines.add_row(row["check"],
                      *(f"{row[side + '_ms']} ms ({row[side + '_model']}, {row[side + '_cpus']})"
                        for side in ("slower", "faster")),
                      f"{row['ratio']:.2f}", f"{row['required']:.1f}",
                      "yes" if row["holds"] else "NO")
    return {"checks": lines}


def table(rows):
    """All of it."""
    note = f"pp -v -i {rows[0]['iterations']}; in brackets the model and the CPUs."
    if rows[0]["repeats"] > 1:
        note += (f" The best of {REPEATS} runs. On a busy host the first may not show: a turn waits "
                 "for a virtual CPU that the host has taken away.")
    return Group("", parts(rows)["checks"], "", Text(note), "")
