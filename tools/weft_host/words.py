"""What the keys of results are called in tables, plots and claims: words and units.

A program prints keys (real_ns=1234567), and the results hold them.  A reader wants "elapsed time"
and "ms".  An experiment's own [names] and [units] come first, then the words of this file, then the
key itself, without its unit and with spaces.
"""

SUFFIXES = {"_ns": "ns", "_us": "us", "_ms": "ms", "_s": "s", "_bytes": "bytes"}
SIGNS = {"us": "µs"}  # units that are written otherwise than in an experiment's file
TIMES = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
# The largest value, in ns, that is still read easily in a unit.
READABLE = (("ns", 1e4), ("us", 1e7), ("ms", 1e10), ("s", float("inf")))

# What can be counted: one of it, and many.
COUNTED = {
    "smp": ("CPU", "CPUs"), "cpus": ("CPU", "CPUs"), "threads": ("thread", "threads"),
    "active": ("active thread", "active threads"), "games": ("game", "games"),
    "turns": ("turn", "turns"), "iterations": ("iteration", "iterations"),
    "cities": ("city", "cities"), "locks": ("lock", "locks"), "barriers": ("barrier", "barriers"),
    "load": ("other process", "other processes"),
    "reads": ("thread that begins with a read", "threads that begin with a read"),
    "counters": ("thread that wants the mutex", "threads that want the mutex"),
}
NAMES = {
    "configuration": "", "statistic": "", "seed": "seed", "model": "model", "mem": "memory",
    "free": "free memory", "engine": "engine of exact timing",
    "quantum": "latency from CPU to CPU", "mips": "speed of a CPU",
    # parameters
    "burst": "burst", "unit": "unit of work", "report": "length of a report",
    "sleep_ms": "sleep in a move", "delay": "delay", "depth": "depth",
    "stretch": "boost", "which": "object", "idle": "idle",
    "turn": "turn", "phase": "phase", "iteration": "iteration", "case": "case", "kind": "kind of work",
    "run": "run", "mechanism": "mechanism", "system": "system",
    "check": "check",
    # figures
    "real_ns": "elapsed time", "user_ns": "time in user mode", "sys_ns": "time in the kernel",
    "waitcpu_ns": "time waiting for a CPU", "lwps": "LWPs", "blocks": "sleeps",
    "preempted": "preemptions", "memory_bytes": "memory", "each_bytes": "memory of a thread",
    "create_ns": "time to create all threads", "start_ns": "time until a new thread runs",
    "ended_by": "ended by", "slept": "sleeps in 1,000 turns", "alive": "LWPs",
    "barrier_ns": "time from one barrier to the next", "blocked_ns": "time Blocked",
    "runqueue_ns": "time on the RunQueue", "dispatchable_ns": "time Dispatchable",
    "onlwp_ns": "time OnLWP", "contended": "times found taken",
    "user_each": "LWP's time in user mode", "sys_each": "LWP's time in the kernel",
    "waitcpu_each": "LWP's time waiting for a CPU", "share": "share of all CPUs' time",
    "stopped_share": "share of the time Stopped", "blocked_share": "share of the time Blocked",
    "runqueue_share": "share of the time on the RunQueue",
    "dispatchable_share": "share of the time Dispatchable", "onlwp_share": "share of the time OnLWP",
    "worker_lwps": "LWPs that have run the threads", "record_ns": "time of the trace",
    "record_instructions": "instructions of the records",
    "sample_ns": "time of the samples", "sample_cpu_ns": "CPU time of the monitor",
    "sample_instructions": "instructions of the samples' records",
    "completed_us": "time of the games", "ns_per_iteration": "time of an iteration",
    "us_per_iteration": "time of an iteration", "ns_per_turn": "time of a turn",
    "blocks_per_turn": "sleeps of a thread, a turn", "preempted_per_s": "preemptions a second",
    "busy": "share of the time in which CPUs are busy",
    "waiting_share": "threads that wait for a CPU",
    "iteration_ns": "time of an iteration", "counter_ns": "time for integers",
    "equation_ns": "time for floating point", "file_ns": "time for files",
    "value_ns": "time to hand a value over", "value_sys_ns": "time in the kernel, a value",
    "value_wait_ns": "time waiting for a CPU, a value",
    "init_ms": "set-up", "paper_init_ms": "set-up", "ratio": "ratio",
    "speedup": "speed-up", "instructions": "instructions",
}
UNITS = {
    "quantum": "instructions", "burst": "instructions", "unit": "instructions", "report": "us",
    "mips": "million instructions a second", "delay": "turns of a loop",
    "user_each": "ns", "sys_each": "ns", "waitcpu_each": "ns", "share": "%",
    **dict.fromkeys(("stopped_share", "blocked_share", "runqueue_share", "dispatchable_share", "onlwp_share"), "%"),
    "record_instructions": "instructions", "sample_instructions": "instructions",
    "ns_per_iteration": "ns", "us_per_iteration": "us", "ns_per_turn": "ns",
}
VALUES = {
    "which": {1: "critical section", 2: "two critical sections", 3: "mutex", 4: "semaphore",
              5: "event"},
    "sleep_ms": {-1: "a global mutex"},
    "figure": {  # of the program micro
        "null_syscall": "system call that does nothing", "mutex": "mutex, lock and unlock",
        "mutex_contended": "mutex that all CPUs want", "rwlock_read": "read-write lock, for reading",
        "semaphore": "semaphore, post and wait", "getspecific": "thread-specific data, read",
        "ui_mutex": "mutex of UNIX International, lock and unlock",
        "ui_getspecific": "thread-specific data of UNIX International, read",
        "create_join": "thread, create and join", "yield_pair": "yield to another thread and back",
        "yield_masked": "yield to a thread of another mask and back",
        "sigmask": "signal mask, block and unblock",
        "nanosleep_zero": "nanosleep of no length",
        "semaphore_round_trip": "round trip by semaphores",
        "timed_semaphore_round_trip": "round trip by semaphores, with deadlines",
        "condition_round_trip": "round trip by condition variables",
        "pingpong_iteration": "iteration of ping-pong", "malloc_free": "malloc and free",
        "malloc_free_mt": "malloc and free, malloc=mt",
        "malloc_contended_mt": "malloc and free on all CPUs, malloc=mt",
        "park_unpark_round_trip": "round trip by park and unpark",
        "park_handoff_round_trip": "round trip by park and unpark in one call",
        "lwp_mutex": "mutex of the kernel, lock and unlock",
        "shared_mutex": "process-shared mutex, lock and unlock",
        "robust_mutex": "robust mutex, lock and unlock",
        "shared_semaphore_round_trip": "round trip by process-shared semaphores",
        "kobj_mutex": "mutex of NT, wait and release",
        "kobj_event_round_trip": "round trip by events of NT",
        "lwp_create_exit": "LWP, create and exit", "page_fault": "page fault",
        "mmap_munmap": "mmap and munmap", "mmap_touch_munmap": "mmap, touch and munmap",
        "tlb_shootdown": "mprotect, with TLB shootdown", "spawn_wait": "process, spawn and wait",
    },
}


def number(value):
    """Three digits or more, thousands apart, and what is tiny in a short form."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "–" if value is None else str(value)
    size = abs(value)
    if 0 < size < 1e-3 or size >= 1e15:
        return f"{value:.3g}"
    if isinstance(value, int) or value == 0:
        return f"{value:,.0f}"
    return f"{value:,.{0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 1 else 3}f}"


def sign(unit):
    """A unit as it is written for readers."""
    return SIGNS.get(unit, unit)


def quantity(value, unit):
    """A number with its unit; a time in the unit that is read most easily."""
    if unit in TIMES and isinstance(value, (int, float)):
        ns = value * TIMES[unit]
        unit = next(one for one, most in READABLE if abs(ns) < most)
        value = ns / TIMES[unit] if unit != "ns" or not isinstance(value, int) else value
    return f"{number(value)} {sign(unit)}".rstrip()


def name(experiment, key):
    """Of a parameter or a figure, without its unit."""
    if key in experiment.names:
        return experiment.names[key]
    if key in COUNTED:
        return COUNTED[key][1]
    if key in NAMES:
        return NAMES[key]
    suffix = next((one for one in SUFFIXES if key.endswith(one)), "")
    return key.removesuffix(suffix).replace("_", " ")


def unit(experiment, key):
    """Of a parameter or a figure; an empty text if it has none, or none is known."""
    if key in experiment.units:
        return experiment.units[key]
    if key == experiment.figure and experiment.unit is not None:
        return experiment.unit
    if key in UNITS:
        return UNITS[key]
    return next((one for suffix, one in SUFFIXES.items() if key.endswith(suffix)), "")


def titled(text, unit):
    """A title and its unit, as above a column and along an axis."""
    if not unit or sign(unit) == text:
        return text
    return f"{text}, {sign(unit)}" if text else sign(unit)


def axis(experiment, key):
    """The title of a table's first column, and of a plot's axis."""
    return titled(name(experiment, key), unit(experiment, key))


def each(experiment, key):
    """After "for each": "number of threads", "column"."""
    if key in COUNTED and key not in experiment.names:
        return f"number of {name(experiment, key)}"
    return name(experiment, key) or "column"


def label(key, value):
    """A value of a parameter, without the parameter's name."""
    if value in VALUES.get(key, {}):
        return VALUES[key][value]
    if key in ("mem", "free") and str(value)[-1:] in "MG":
        return f"{value[:-1]} {value[-1]}B"
    if key == "run":
        return str(value).replace("test", "test ")
    if key == "figure":
        return str(value).replace("_", " ")
    return number(value)


def point(experiment, key, value):
    """A parameter and its value, as a phrase: "16 threads", "delay 5"."""
    if key == "configuration" and value in experiment.configurations:
        return experiment.configurations[value].title
    if key in COUNTED and key not in experiment.names and isinstance(value, (int, float)):
        return f"{label(key, value)} {COUNTED[key][value != 1]}"
    if value in VALUES.get(key, {}) or key in ("configuration", "run", "figure", "kind", "mechanism",
                                               "check", "model"):
        return label(key, value)
    said = label(key, value)
    if isinstance(value, (int, float)) and unit(experiment, key):
        said += f" {sign(unit(experiment, key))}"
    return f"{name(experiment, key)} {said}".strip()
