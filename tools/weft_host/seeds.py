"""weft run --seeds A..B: one command under many seeds of exact timing, side by side, up to the first
that fails.

Which seed that is does not depend on the host.  The seeds begin in their order; when one fails, those
above it are ended or do not begin, and those below it, which have all begun, go on to their end.  So
the lowest seed that fails is the one that is told.
"""

import re
import shlex
import sys
import threading
from dataclasses import replace

from .counts import counted
from .guest import Guests
from .machine import UsageError
from .paths import CRASHES

LARGEST = 2**32 - 1
# Where GDB stops, in the repeat of a run that failed and cannot be recorded: in the kernel.
STOPS = ("panic", "lockstep_standstill")


def parse(text):
    """The range of `A..B`.  Raises UsageError."""
    match = re.fullmatch(r"(\d+)\.\.(\d+)", text)
    if match is None or not int(match[1]) <= int(match[2]) <= LARGEST:
        raise UsageError(f"--seeds: A..B, two numbers from 0 to {LARGEST}, the lower one first, "
                         f"not {text!r}")
    return range(int(match[1]), int(match[2]) + 1)


def repeat(words, machine, check=None, reached=True):
    """The lines that repeat a run: as it was, and under GDB.  words: of the host command, before --.

    If the run can be recorded, GDB goes through it from its end backwards.  check: the function of the program
    in which a check that fails ends; GDB begins there, if the run has reached it."""
    stops = [*([check] if check else []), *STOPS]
    gdb = [*words, *(word for stop in stops for word in ("--ex", f"break {stop}")), "--ex", "continue"]
    if machine.can_be_recorded():
        back = ["--ex", f"break {check}", "--ex", "reverse-continue"] if check and reached else []
        gdb = ["--reverse", *words, *back]
    return "\n".join(shlex.join(line) for line in (
        ["tools/weft", "run", *words, "--", *machine.argv],
        ["tools/weft", "gdb", *gdb, "--", *machine.argv]))


def failed(result):
    return bool(result.error) or result.status != 0


def discard(result):
    """A failure that is not told: its memory is not wanted."""
    if result.kept is not None:
        result.kept.unlink(missing_ok=True)


class Seeds:
    """Runs of one machine.  failure: (seed, Result) of the lowest seed that failed, or None."""

    def __init__(self, machine, seeds, jobs, progress=lambda well, seeds: None):
        self._machine = machine
        self._seeds = seeds
        self._jobs = jobs
        self._progress = progress  # told how many have ended well
        self._lock = threading.Lock()  # of all below
        self._next = iter(seeds)
        self._running = {}  # {seed: its Guests, of one}
        self._ended = False  # no run begins any more
        self.well = 0
        self.failure = None

    def _begin(self):
        """A seed and its Guests, or None."""
        with self._lock:
            seed = None if self._ended or self.failure else next(self._next, None)
            if seed is None:
                return None
            self._running[seed] = Guests()
            return seed, self._running[seed]

    def _end(self, seed, guests, result):
        with self._lock:
            del self._running[seed]
            if guests.stopped:
                discard(result)
                return
            if not failed(result):
                self.well += 1
                self._progress(self.well, self._seeds)
                return
            # Those above it have been stopped, if a lower one had failed before.
            if self.failure is not None:
                discard(self.failure[1])
            self.failure = seed, result
            for other, its in self._running.items():
                if other > seed:
                    its.stop()

    def _work(self):
        try:
            while (begun := self._begin()) is not None:
                seed, guests = begun
                machine = replace(self._machine, seed=seed)
                self._end(seed, guests, guests.run(machine, self._machine.stdin))
        except BaseException:  # the host cannot run guests: so the others need not try
            self.stop()
            raise

    def stop(self):
        with self._lock:
            self._ended = True
            for guests in self._running.values():
                guests.stop()

    def run(self):
        """To the end of all, or of those up to the lowest that fails."""
        # Here, since `weft run` imports this module for a single run, too.
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self._jobs) as pool:
            try:
                for worker in [pool.submit(self._work) for _ in range(self._jobs)]:
                    worker.result()
            finally:
                self.stop()  # by Ctrl-C, perhaps: the pool waits for its workers


class Progress:
    """One line on a terminal, for a person alone."""

    def __init__(self):
        self._shown = sys.stderr.isatty()

    def __call__(self, well, seeds):
        if self._shown:
            print(f"\rweft: {well} of {len(seeds)} seeds well", end="", file=sys.stderr, flush=True)

    def clear(self):
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def run(machine, text, jobs, words, tell):
    """The Result of the lowest seed that failed, or None.  words: see repeat(); tell(result): prints
    what a run gave."""
    seeds = parse(text)
    progress = Progress()
    whole = Seeds(machine, seeds, jobs, progress)
    try:
        whole.run()
    except (KeyboardInterrupt, SystemExit):
        progress.clear()
        print(f"weft: interrupted after {counted(whole.well, 'seed')}, all well", file=sys.stderr)
        raise
    progress.clear()
    if whole.failure is None:
        print(f"weft: {counted(whole.well, 'seed')}, all well", file=sys.stderr)
        return None
    seed, result = whole.failure
    tell(result)
    print(f"weft: seed {seed} failed: {result.error or f'status {result.status}'}; the lines that "
          f"repeat it{', with the same input' if machine.stdin else ''}:\n"
          f"{repeat([*words, '--seed', str(seed)], machine)}", file=sys.stderr, flush=True)
    from . import lasttrace  # most runs end well, and need not wait for this module

    said = lasttrace.keep(Guests(), replace(machine, seed=seed), machine.stdin, machine.keep or CRASHES, result)
    print(f"weft: {said}", file=sys.stderr)
    return result
