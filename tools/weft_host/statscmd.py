"""weft stats: where the time of threads, LWPs and CPUs went, from a trace.

The trace is a file that `weft trace --raw` has written, or that of a command which runs now.  --query asks one
of the questions that traces of schedulers are mostly asked (after SchedViz).
"""

import json
import sys
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from weft_trace import events
from weft_trace.events import Record
from weft_trace.model import Model
from weft_trace.objects import THREAD_STATES
from weft_trace.stats import Stats
from weft_trace.waits import Wait, Waits

from . import traced
from .machine import UsageError

QUERIES = {
    "starved": "LWPs that waited longest for a CPU, threads for an LWP, and what ran meanwhile",
    "idle-while-waiting": "CPUs that were idle while LWPs waited in the queues of others",
    "antagonists": "what ran while the LWP of --of waited for a CPU",
    "policies": "this trace beside the one of --against",
}
LATENCIES = {"woken": "LWPs, after a wake-up", "preempted": "LWPs, after a preemption",
             "dispatched": "threads, for an LWP"}


def add_options(parser):
    traced.add_options(parser)
    parser.add_argument("trace", nargs="?", metavar="FILE", help="a trace that `weft trace --raw` has written")
    parser.add_argument("--query", choices=QUERIES, metavar="QUESTION",
                        help="; ".join(f"{name}: {text}" for name, text in QUERIES.items()))
    parser.add_argument("--of", metavar="PID/ID", help="the LWP that --query antagonists is about")
    parser.add_argument("--against", metavar="FILE", help="the other trace of --query policies")
    parser.add_argument("--rows", type=int, default=20, metavar="N", help="of each table at most; 20 by default")
    parser.add_argument("--json", action="store_true", help="for machines: all rows, times in nanoseconds")


def analysed(records: Iterable[Record], rows: int, of: str | None) -> tuple[Stats, Waits]:
    """Raises HostError."""
    model = Model()
    stats, waits = Stats(model), Waits(model, rows, of)
    for record in records:
        model.feed(record)
        stats.records += 1
    model.end()
    return stats, waits


# --- the texts --------------------------------------------------------------------------------------------


def us(time: float) -> str:
    """Nanoseconds, as microseconds to the nanosecond."""
    return f"{time / 1000:,.3f}".replace(",", " ")


def share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def table(console: Console, title: str, columns: Iterable[str], rows: list[list[str]], most: int) -> None:
    """With the first column to the left, and others to the right."""
    if not rows:
        return
    grid = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for number, column in enumerate(columns):
        grid.add_column(column, justify="left" if number == 0 else "right", no_wrap=True)
    for row in rows[:most]:
        grid.add_row(*row)
    console.print(grid)
    if len(rows) > most:
        console.print(f"and {len(rows) - most} more (--rows)", style="dim")
    console.print()


def _states(console, title, things, most):
    """Time in each state: a row for each thing, the states that any of them had as columns."""
    had = {state: None for times in things.values() for state in times}
    if not had:
        return
    rows = [[name, us(sum(times.values())), *(us(times.get(state, 0)) for state in had)]
            for name, times in things.items()]
    table(console, title, ["", "all", *had], rows, most)


def _workers(console, figures, most):
    """Percentages of the time of the threads that a process has made."""
    rows = [[f"{pid} {figures['processes'].get(pid, '')}".rstrip(), str(found["threads"]), str(len(found["lwps"])),
             us(found["time"]), *(share(found["states"].get(state, 0), sum(found["states"].values()))
                                  for state in THREAD_STATES)] for pid, found in figures["workers"].items()]
    table(console, "Threads made by a process, while the most of them live",
          ["", "threads", "LWPs", "time", *THREAD_STATES], rows, most)


def _matrix(console, title, things, most):
    columns = sorted({to for times in things.values() for to in times}, key=lambda name: (len(name), name))
    if len(columns) > 16:
        console.print(f"{title}: {len(columns)} columns are too many; --json has them\n", style="dim")
        return
    rows = [[name, *(us(times[to]) if to in times else "" for to in columns)] for name, times in things.items()]
    table(console, title, ["", *columns], rows, most)


def _lengths(times):
    whole = sum(times.values())
    return "  ".join(f"{length}: {share(time, whole)}" for length, time in list(times.items())[:8])


def _waits(console, title, waits, most):
    rows = [[wait.waiter, us(wait.duration), us(wait.begin), wait.state, wait.what, wait.owner, wait.woken_by]
            for wait in waits]
    table(console, title, ["", "wait", "from", "state", "for", "owner", "woken by"], rows, most)


def overview(console, figures, waits, most):
    """All tables of a trace.  Times are microseconds."""
    span = figures["end"] - figures["begin"]
    console.print(f"{us(span)} us, {figures['records']} records, {figures['switches']} switches, "
                  f"{figures['wakes']} wake-ups, {figures['migrations']} migrations; times in us\n")
    named = {key: figures["processes"].get(key.replace("/", ".").split(".")[0], "")
             for key in (*figures["lwps"], *figures["threads"])}

    def with_names(things):
        return {f"{key} {named[key]}".rstrip(): times for key, times in things.items()}

    _states(console, "CPUs", {f"CPU {cpu}": times for cpu, times in figures["cpus"].items()}, most)
    _states(console, "LWPs", with_names(figures["lwps"]), most)
    _states(console, "Threads", with_names(figures["threads"]), most)
    _workers(console, figures, most)
    _matrix(console, "LWPs on CPUs", figures["lwp_on_cpu"], most)
    _matrix(console, "Threads on LWPs", figures["thread_on_lwp"], most)
    queues = {f"CPU {cpu}": queue for cpu, queue in figures["queues"].items()}
    queues |= {f"threads of {pid}": queue for pid, queue in figures["thread_queues"].items()}
    rows = [[name, f"{queue['mean']:.3f}", str(queue["max"]), _lengths(queue["time"])]
            for name, queue in queues.items()]
    table(console, "Run queues", ["", "mean", "max", "share of time with each length"], rows, most)
    rows = [[text, str(found["count"]), *(us(found[name]) for name in ("mean", "p50", "p99", "p99.9", "max"))]
            for name, text in LATENCIES.items() if (found := figures["latency"][name])["count"]]
    table(console, "From runnable to running", ["", "count", "mean", "50 %", "99 %", "99.9 %", "max"], rows, most)
    for name, text in LATENCIES.items():
        _histogram(console, text, figures["latency"][name], most)
    _waits(console, "Longest waits", waits.blocked.waits(), most)
    _waits(console, "Longest waits for a CPU", waits.runnable.waits(), most)


def _histogram(console, text, found, most):
    if not found["count"]:
        return
    top = max(found["histogram"].values())
    rows = [[f"up to {us(int(bound))}", str(count), "#" * -(-40 * count // top)]
            for bound, count in found["histogram"].items()]
    grid = Table(title=f"From runnable to running: {text}", title_justify="left", title_style="bold", box=None,
                 pad_edge=False)
    for justify in ("right", "right", "left"):
        grid.add_column("", justify=justify, no_wrap=True)
    for row in rows:
        grid.add_row(*row)
    console.print(grid)
    console.print()


# --- the questions ----------------------------------------------------------------------------------------


def _wait(wait: Wait) -> dict:
    return {"waiter": wait.waiter, "state": wait.state, "for": wait.what, "begin": wait.begin, "end": wait.end,
            "duration": wait.duration, "owner": wait.owner, "woken_by": wait.woken_by}


def starved(_, waits: Waits) -> dict[str, list[dict]]:
    return {name: [{**_wait(wait), "total": waits.total[wait.waiter],
                    "ran": dict(waits.ran_during(wait).most_common())} for wait in longest.waits()]
            for name, longest in (("lwps", waits.runnable), ("threads", waits.ready))}


def _starved_shown(console, found, most):
    for title, name, meanwhile, waits in (
            ("Longest waits for a CPU", "LWP", "ran there meanwhile", found["lwps"]),
            ("Longest waits for an LWP", "thread", "had LWPs meanwhile", found["threads"])):
        rows = [[one["waiter"], us(one["duration"]), us(one["begin"]), us(one["total"]),
                 "  ".join(f"{name} {us(time)}" for name, time in list(one["ran"].items())[:6])] for one in waits]
        table(console, title, [name, "wait", "from", "all its waits", meanwhile], rows, most)


def idle_while_waiting(_, waits: Waits) -> dict:
    return {"total": waits.idle_total, "longest": [_wait(wait) for wait in waits.idle_meanwhile.waits()]}


def _idle_shown(console, found, most):
    console.print(f"{us(found['total'])} us with an idle CPU while an LWP waited in the queue of a busy one\n")
    rows = [[one["waiter"], us(one["duration"]), us(one["begin"]), one["for"]] for one in found["longest"]]
    table(console, "Longest intervals", ["idle", "for", "from", "LWPs in the"], rows, most)


def antagonists(_, waits: Waits) -> dict:
    return {"waits": len(waits.waits_of), "total": sum(wait.duration for wait in waits.waits_of),
            "ran": dict(waits.antagonists().most_common())}


def _antagonists_shown(console, found, most):
    console.print(f"{found['waits']} waits for a CPU, {us(found['total'])} us\n")
    rows = [[name, us(time), share(time, found["total"])] for name, time in found["ran"].items()]
    table(console, "Ran there meanwhile", ["LWP", "time", "share of the waits"], rows, most)


def policies(one: dict, other: dict) -> dict:
    """{figure: (in one trace, in the other)}."""
    found = {}

    def add(name, of):
        found[name] = of(one), of(other)

    add("span", lambda figures: figures["end"] - figures["begin"])
    for name in ("switches", "migrations", "wakes"):
        add(name, lambda figures, name=name: figures[name])
    for state in dict.fromkeys(state for figures in (one, other) for times in figures["cpus"].values()
                               for state in times):
        add(f"CPUs {state}", lambda figures, state=state: sum(times.get(state, 0) for times in
                                                              figures["cpus"].values()))
    add("longest run queue", lambda figures: max((queue["max"] for queue in figures["queues"].values()), default=0))
    for name in LATENCIES:
        for which in ("count", "mean", "p50", "p99", "p99.9", "max"):
            add(f"latency {name} {which}",
                lambda figures, name=name, which=which: figures["latency"][name].get(which))
    return {name: pair for name, pair in found.items() if pair != (None, None)}


COUNTS = ("switches", "migrations", "wakes", "longest run queue")


def _policies_shown(console, found, most):
    def said(name, value):
        return "-" if value is None else str(value) if name in COUNTS or name.endswith("count") else us(value)

    rows = [[name, said(name, one), said(name, other), f"{other / one:.3f}" if one and other is not None else "-"]
            for name, (one, other) in found.items()]
    table(console, "Two traces", ["", "this", "other", "other : this"], rows, len(rows))


# --- the command ------------------------------------------------------------------------------------------


def _check(args):
    if (args.trace is None) == (not args.argv):
        raise UsageError("needs a trace, or a command after --")
    if (args.query == "antagonists") != (args.of is not None):
        raise UsageError("--query antagonists and --of LWP belong together")
    if (args.query == "policies") != (args.against is not None):
        raise UsageError("--query policies and --against FILE belong together")
    if args.rows < 1:
        raise UsageError(f"--rows: 1 at least, not {args.rows}")


def _answer(args, stats: Stats, waits: Waits):
    """What is asked for, and the function that shows it."""
    match args.query:
        case "starved":
            return starved(stats, waits), _starved_shown
        case "idle-while-waiting":
            return idle_while_waiting(stats, waits), _idle_shown
        case "antagonists":
            if args.of not in stats.lwps:
                raise UsageError(f"--of: there is no LWP {args.of} in the trace")
            return antagonists(stats, waits), _antagonists_shown
        case "policies":
            other, _ = analysed(events.read(args.against), args.rows, None)
            return policies(stats.figures(), other.figures()), _policies_shown
    figures = stats.figures()
    if args.json:
        figures["longest_waits"] = [_wait(wait) for wait in waits.blocked.waits()]
        figures["longest_waits_for_cpu"] = [_wait(wait) for wait in waits.runnable.waits()]
    return figures, lambda console, found, most: overview(console, found, waits, most)


def _show(args, records):
    stats, waits = analysed(records, args.rows, args.of)
    lost = stats.model.lost
    for cpu, count in sorted(lost.items()):
        print(f"weft stats: {count} records of CPU {cpu} are lost: sums and waits around them are wrong",
              file=sys.stderr)
    found, shown = _answer(args, stats, waits)
    if args.json:
        json.dump(found, sys.stdout, indent=1)
        print()
        return
    console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 200)
    shown(console, found, args.rows)


def stats(args):
    """weft stats: with a command, the exit status is the program's."""
    _check(args)
    if args.trace is not None:
        _show(args, events.read(args.trace))
        return 0
    return traced.run(args, lambda records: _show(args, records)).status
