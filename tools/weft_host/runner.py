"""Runs the guests of experiments, side by side over the host's cores or over a Dask cluster.

Exact timing gives the same figures however many run at once.  Fast timing does not: its runs go
one after the other, when all else has ended.  Rows come out in the order of the runs, whichever ends
first.  A run that fails keeps its row, which says how; it is not made again, and the others go on.
"""

import contextlib
import hashlib
import pickle
import re
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

from . import cores
from .experiment import Experiment, Run
from .guest import Guest
from .guest import run as run_guest
from .machine import HostError, UsageError
from .measured import Measured, measure
from .paths import TOP, build_dir

SAID_OF_A_FAILURE = 4000  # characters of its output
OK = "ok"


Row = dict[str, Any]  # one line of results: columns and their values


@dataclass
class Outcome:
    """What a run gave: one dict a line of results, or how it failed."""

    status: str = OK
    results: list[Row] = field(default_factory=list)
    output: str = ""  # of a run that failed
    measured: Measured | None = None  # of a run that is traced
    seconds: float = 0.0  # on the host


def value_of(text: str) -> int | float | str:
    """12 and 1.5 are numbers, 1:02.5 (of ptime) seconds, all else words."""
    kinds: tuple[type[int], type[float]] = (int, float)
    for kind in kinds:
        with contextlib.suppress(ValueError):
            return kind(text)
    if re.fullmatch(r"(\d+:)+\d+(\.\d+)?", text):
        total = 0.0
        for part in text.split(":"):
            total = total * 60 + float(part)
        return round(total, 6)
    return text


def parse(output: str, patterns: Sequence[str] = ()) -> list[Row]:
    """The results that a program printed: of each line `result KEY=VALUE ...`, or, with patterns,
    one of what their groups match.  A HostError says what is missing."""
    if patterns:
        found: Row = {}
        for pattern in patterns:
            match = re.search(pattern, output, re.MULTILINE)
            if match is None:
                raise HostError(f"no line like {pattern!r}")
            found |= {name: value_of(text) for name, text in match.groupdict().items()}
        return [found]
    results = []
    for line in output.splitlines():
        words = line.split()
        if words[:1] != ["result"]:
            continue
        pairs = [word.partition("=") for word in words[1:]]
        if not pairs or not all(key.isidentifier() and equals for key, equals, _ in pairs):
            raise HostError(f"not a line of results: {line!r}")
        results.append({key: value_of(text) for key, _, text in pairs})
    if not results:
        raise HostError("no line of results")
    return results


def execute(run: Run, patterns: Sequence[str] = (),
            started: Callable[[Guest], None] | None = None) -> Outcome:
    """Boots one guest to its end; its Outcome.  Never raises for what the guest did."""
    try:
        machine = run.machine()
        measured = None
        if run.traced:
            result, measured = measure(machine, started)
        else:
            result = run_guest(machine, started=started)
    except (HostError, OSError) as error:
        return Outcome(str(error).splitlines()[0])
    outcome = Outcome(seconds=result.seconds, measured=measured)
    try:
        if result.error:
            raise HostError(result.error.splitlines()[0])
        if result.status != 0:
            raise HostError(f"exit status {result.status}")
        outcome.results = parse(result.output, patterns)
    except HostError as error:
        outcome.status = str(error)
        outcome.output = (result.report + result.output)[-SAID_OF_A_FAILURE:]
    return outcome


def _add(row: Row, figures: Row) -> None:
    """Raises UsageError: the program has printed a figure of this name."""
    for name, value in figures.items():
        if name in row:
            raise UsageError(f"the program says {name}, which is a figure of the trace")
        row[name] = value


def rows_of(experiment: Experiment, run: Run, outcome: Outcome) -> list[Row]:
    """The rows of the results: one a line that the program printed, or one for a failure."""
    head = run.row()
    if outcome.status != OK:
        return [head | {"status": outcome.status}]
    rows = []
    for result in outcome.results:
        for name, value in result.items():
            if name in head and head[name] != value:
                return [head | {"status": f"the program says {name}={value}, but it is "
                                f"{head[name]}"}]
        row = head | {"status": OK} | result
        try:
            if outcome.measured is not None:
                _add(row, outcome.measured.figures(experiment.program))
                for name, formula in experiment.states.items():
                    _add(row, outcome.measured.condition(experiment.program, name, formula))
            for name, formula in experiment.derive.items():
                value = formula(row)
                row[name] = round(value, 6) if isinstance(value, float) else value
        except UsageError as error:
            return [head | {"status": str(error)}]
        if experiment.figure not in row:
            return [head | {"status": f"the program printed no {experiment.figure}"}]
        rows.append(row)
    return rows


# A run to be made: a name for it, of the caller's choice, and what reads its output.
Work = Sequence[tuple[Hashable, Run, Sequence[str]]]
# A function that makes runs of its own, and a name for it.
Modules = Sequence[tuple[Hashable, Callable[[], Any]]]
Ended = tuple[Hashable, Any]  # the name, and the run's Outcome or what the function returned
Begun = Callable[[Run], object]  # is told of each run that begins
# A function of weft and its arguments, which pickle can take.
Call = tuple[Callable[..., Any], tuple[Any, ...]]


class Local:
    """This host: one guest a core."""

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or len(cores.usable())
        self._lock = threading.Lock()
        self._guests: set[Guest] = set()
        self._stopped = False
        # Of the runs that nothing has interrupted, yielded or not.
        self.finished: dict[Hashable, Outcome] = {}

    def started(self, guest: Guest) -> None:
        """Told of each guest, so that none outlives an interruption."""
        with self._lock:
            self._guests.add(guest)
            if self._stopped:
                guest.qemu.kill()

    def _stop(self) -> None:
        with self._lock:
            self._stopped = True
            for guest in self._guests:
                guest.qemu.kill()

    def _one(self, key: Hashable, run: Run, patterns: Sequence[str], begun: Begun) -> Outcome:
        if self._stopped:
            return Outcome("interrupted")
        begun(run)
        outcome = execute(run, patterns, self.started)
        if not self._stopped:
            self.finished[key] = outcome
        return outcome

    def __call__(self, work: Work, modules: Modules, begun: Begun) -> Iterator[Ended]:
        """Yields (key, outcome) as runs end.  work: (key, run, patterns); modules: (key, function
        without arguments), which make runs of their own."""
        exact = [one for one in work if one[1].settings["timing"] == "exact"]
        fast = [one for one in work if one[1].settings["timing"] != "exact"]
        yield from self._batch(self.jobs, exact, modules, begun)
        yield from self._batch(1, fast, [], begun)

    def _batch(self, jobs: int, work: Work, modules: Modules, begun: Begun) -> Iterator[Ended]:
        pool = ThreadPoolExecutor(jobs)
        done = False
        try:
            futures: dict[Future[Any], Hashable] = {pool.submit(function): key for key, function in modules}
            futures |= {pool.submit(self._one, key, run, patterns, begun): key
                        for key, run, patterns in work}
            for future in as_completed(futures):
                yield futures[future], future.result()
            done = True
        finally:
            if not done:
                self._stop()
            pool.shutdown(cancel_futures=True)


def build_digest() -> str:
    """What tells one build from another: kernel and initial RAM disk."""
    digest = hashlib.sha256()
    for name in ("weft.elf", "initrd.cpio"):
        digest.update((build_dir(False) / name).read_bytes())
    return digest.hexdigest()


class Cluster:
    """A Dask cluster.  Its workers need QEMU, and this directory, built, under the same path, as on
    a file system that they share: each run checks that the build is the one meant."""

    def __init__(self, address: str, client: Any = None) -> None:
        if client is None:
            try:
                from distributed import Client
            except ModuleNotFoundError as error:
                raise UsageError("--scheduler needs the Python package distributed: install it "
                                 "with `tools/weft setup cluster`") from error
            try:
                client = Client(address, timeout=10, set_as_default=False)
            except (OSError, ValueError) as error:
                raise HostError(f"--scheduler: {address}: {error}") from error
        self._client = client
        self.jobs = sum(client.nthreads().values())

    def __call__(self, work: Work, modules: Modules, begun: Begun) -> Iterator[Ended]:
        """As of Local.  Modules run here: they decide by one result what to measure next."""
        calls = [(execute, (run, patterns)) for _, run, patterns in work]
        with self.calling(calls, lambda number: begun(work[number][1])) as ended:
            yield from Local()([], modules, begun)
            for number, found in ended:
                yield work[number][0], Outcome(found.why) if isinstance(found, Lost) else found

    @contextlib.contextmanager
    def calling(self, calls: Sequence[Call], begun: Callable[[int], object]) -> Iterator[Iterator[tuple[int, Any]]]:
        """Has the calls made by the workers; what has not ended at the end of the block is cancelled.  Gives an
        iterator over each call's number and what it returned, or Lost, as calls end.  begun is told the number of
        each call that begins, in a thread of Dask."""
        topic = f"weft-{self._client.id}"
        times = [0] * len(calls)  # each has begun

        def begins(event: tuple[float, int]) -> None:
            _, number = event
            times[number] += 1
            if times[number] == 1:
                begun(number)

        remote = _remote(str(TOP), build_digest(), topic)
        futures = {}
        try:
            self._client.subscribe_topic(topic, begins)
            for number, call in enumerate(calls):
                futures[self._client.submit(remote, number, pickle.dumps(call), pure=False, retries=0)] = number
            yield self._ended(futures, times)
        finally:
            self._client.unsubscribe_topic(topic)
            self._client.cancel(list(futures))

    def _ended(self, futures: dict[Any, int], times: list[int]) -> Iterator[tuple[int, Any]]:
        from distributed import as_completed as completed

        for future in completed(list(futures), loop=self._client.loop):
            number, error = futures[future], future.exception()
            if error is not None:
                yield number, Lost(f"the worker failed: {error}")
            elif times[number] > 1:  # Dask gives what a worker had when it died to another
                yield number, Lost("its worker died")
            else:
                yield number, pickle.loads(future.result())


@dataclass
class Lost:
    """A call on a cluster that has given nothing."""

    why: str


def _remote(top: str, digest: str, topic: str) -> Callable[[int, bytes], bytes]:
    """What a worker does with a call.  Local to this function, it goes to the worker by value.  There it finds the
    package itself, which scheduler and worker do not have: so what goes to and fro is bytes to them."""
    def remote(number: int, packed: bytes) -> bytes:
        import pickle
        import sys

        import distributed

        sys.path.insert(0, f"{top}/tools")  # the worker runs in an environment of its own
        from weft_host import runner

        if runner.build_digest() != digest:
            return pickle.dumps(runner.Lost(f"this worker has another build in {top}"))
        # Not Worker.log_event, which only queues: the scheduler knows of the call before it can kill the worker.
        worker = distributed.get_worker()
        distributed.utils.sync(worker.loop, worker.scheduler.log_event, topic=topic, msg=number)
        function, arguments = pickle.loads(packed)
        return pickle.dumps(function(*arguments))

    return remote
