"""weft bench: runs experiments, prints their tables, writes build/results/NAME.csv and .json.

An experiment is a file experiments/NAME.toml (experiment.py; docs/experiments.md tells how to write
one).  Where data cannot say what to measure, because one result decides what comes next, it names a
module of the package `experiments`, with

    run(ctx) -> rows        measures; a row is a dict with the same keys in each
    table(rows)             what to print: a rich renderable, or a text
    parts(rows)             if documents show some of its tables: {name: a renderable}
    store_baseline(rows)    if it has a baseline of its own: stores it; returns its path

ctx is a Context: it runs guest commands and shows how far the experiment has come.
"""

import collections
import contextlib
import importlib
import shlex
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from . import (
    baseline,
    beforehand,
    build,
    claimlist,
    claims,
    documents,
    experiment,
    experiments,
    progress,
    results,
    runner,
    tables,
)
from .counts import counted
from .guest import run as run_guest
from .machine import ENGINES, HostError, Machine, UsageError
from .paths import RESULTS


class Context:
    """What a module works with."""

    def __init__(self, name, display, timing, accel, started=None, full=True, engine=None):
        self._name = name
        self._engine = engine  # None: the first, and the other where guest() is to compare
        self.engines = ENGINES if engine is None else (engine,)
        self.compared = 0  # commands that have printed the same on both engines
        self._display = display
        self._begun = False
        self.timing = timing
        self.full = full
        self._accel = accel
        self._started = started

    def steps(self, total):
        """The number of calls of step() to come."""
        self._display.more(total)

    def step(self, text):
        """One more step begins; text says which."""
        if self._begun:
            self._display.ended()
        self._begun = True
        self._display.begins(self._name, text)

    def guest(self, argv, *, smp=1, model=None, options=None, mem="512M", env=None, files=(),
              timeout=experiment.PRESET["timeout"], quantum=None, seed=None, mips=None, append="",
              engine=None, compare=False):
        """Boots a guest that runs argv, and returns its Result (guest.py).  A guest that
        panics or runs out of time raises HostError.

        compare: in exact timing the other engine too has to print the same bytes, or HostError says
        what it prints; unless weft bench is called with an engine."""
        machine = Machine(argv=[str(a) for a in argv], smp=smp, mem=mem, model=model,
                          options=options, env=dict(env or {}), files=list(files),
                          timing=self.timing, quantum=quantum, seed=seed, mips=mips,
                          engine=engine or self._engine or ENGINES[0], accel=self._accel, timeout=timeout,
                          append=append, background=self.timing == "exact")
        result = self._result(machine)
        if compare and self.timing == "exact" and self._engine is None:
            for engine in ENGINES[1:]:
                other = self._result(replace(machine, engine=engine))
                if (other.status, other.output) != (result.status, result.output):
                    raise HostError(f"{shlex.join(machine.argv)}: engine {engine} prints other bytes:\n"
                                    f"{other.output}--- than engine {machine.engine}:\n{result.output}")
            self.compared += 1
        return result

    def _result(self, machine):
        result = run_guest(machine, started=self._started)
        if result.error:
            raise HostError(f"{' '.join(machine.argv)}: {result.error}\n{result.report}{result.output}")
        return result


def add_options(parser):
    parser.add_argument("names", nargs="*", metavar="EXPERIMENT",
                        help="a name of --list, or a file .toml; default: all")
    parser.add_argument("--list", action="store_true", help="lists the experiments")
    parser.add_argument("--list-claims", action="store_true",
                        help="lists their claims: what the paper says, what is checked, what the paper's own "
                             "figures give, and by how much a figure would have to change for another verdict; "
                             "of --results, or else of the quick set in tests/baseline")
    parser.add_argument("--full", action="store_true",
                        help="the full sets, not the quick ones")
    parser.add_argument("--timing", choices=("fast", "exact"), default="exact",
                        help="kind of time; exact: the same figures on every host")
    parser.add_argument("--engine", choices=ENGINES,
                        help="of exact timing, for all runs; both give the same figures. Without it "
                             "the first, and pingpong and checks compare the two")
    parser.add_argument("--accel", choices=("tcg", "kvm"), default="tcg")
    parser.add_argument("--jobs", type=int, metavar="N",
                        help="guests side by side; default: one a core")
    parser.add_argument("--scheduler", metavar="tcp://HOST:PORT",
                        help="runs the guests on the workers of a Dask cluster")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR",
                        help="where to write; default: build/results")
    parser.add_argument("--resume", action="store_true",
                        help="leaves out what --results has already: experiments of this set, timing and "
                             "revision of which no run failed. Their claims are judged with the others'")
    parser.add_argument("--no-build", action="store_true", help="do not call make first")
    parser.add_argument("--update-baseline", action="store_true",
                        help="stores the figures as those that the tests compare with, and makes "
                             "those in the documents again; with --full: stores the verdicts, which those of the "
                             "quick set are to agree with; nothing if a run fails")
    parser.add_argument("--update-docs", action="store_true",
                        help="measures nothing: makes the figures in the documents again, out of "
                             "tests/baseline, and the table of how long experiments take, out of "
                             "--results; with --full: first stores the verdicts of the full set's results there")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("OLD", "NEW"),
                        help="measures nothing: tells what differs between two sets of results, "
                             "directories or files; exit status 1 if a figure got worse")
    parser.add_argument("--tolerance", type=float, default=2.0, metavar="PERCENT",
                        help="of --compare: how much worse is as good (2)")


def _chosen(names):
    """The experiments of these names, or all."""
    known = experiment.known()
    chosen = []
    for name in names:
        if name.endswith(".toml") or name in known:
            chosen.append(experiment.load(known.get(name, name)))
        else:
            raise UsageError(f"no experiment {name!r}; there are: {', '.join(known)}")
    for one in chosen:
        if [other.name for other in chosen].count(one.name) > 1:
            raise UsageError(f"two experiments with the name {one.name!r}")
    return chosen or list(experiment.all_experiments().values())


def _module(one):
    return importlib.import_module(f"{experiments.__name__}.{one.module}")


def _compare(args):
    old, new = (results.load_set(path) for path in args.compare)
    changes = results.compare(old, new, args.tolerance)
    Console().print(tables.changes(changes, args.tolerance))
    return 1 if any(change["worse"] for change in changes) else 0


class _Bench:
    """All experiments of one call."""

    def __init__(self, args, chosen, display, executor):
        self.args = args
        self.display = display
        self.executor = executor
        self.left = {}  # {experiment's name: runs that have not ended}
        self.outcomes = {}  # {experiment's name: [Outcome or rows] in the order of the runs}
        self.compared = collections.Counter()  # commands on both engines, {experiment's name: how many}
        self.seconds = collections.Counter()  # of all guests, {experiment's name: seconds}
        self.chosen = {one.name: one for one in chosen}
        self.work, self.modules, self.runs = [], [], {}
        for one in chosen:
            if one.module:
                self.modules.append(((one.name, 0), lambda one=one: self._measure(one)))
                self.runs[one.name] = [None]
            else:
                self.runs[one.name] = self._runs(one)
                self.work += [((one.name, number), run, one.patterns)
                              for number, run in enumerate(self.runs[one.name])]
            self.left[one.name] = len(self.runs[one.name])
            self.outcomes[one.name] = [None] * self.left[one.name]
        display.more(len(self.work))

    def _runs(self, one):
        runs = one.runs(self.args.full)
        for run in runs:
            if self.args.timing == "fast":
                run.settings["timing"] = "fast"
                for name in ("quantum", "engine", "mips"):
                    run.settings.pop(name, None)
            elif self.args.engine is not None and run.settings["timing"] == "exact":
                run.settings["engine"] = self.args.engine
        return runs

    def _measure(self, one):
        """Of a module: its rows, or the Outcome that says why there are none."""
        self.display.begins(one.name, None, (one.name, None))
        context = Context(one.name, self.display, self.args.timing, self.args.accel,
                          getattr(self.executor, "started", None), self.args.full,
                          self.args.engine)
        began = time.monotonic()
        try:
            return _module(one).run(context)
        except HostError as error:
            return runner.Outcome(str(error).splitlines()[0], output=str(error))
        finally:
            self.seconds[one.name] = time.monotonic() - began
            self.compared[one.name] = context.compared

    def _begun(self, run):
        self.display.begins(run.experiment, f"{run.configuration} " + " ".join(
            f"{name}={value}" for name, value in run.parameters.items())
            + (f" seed={run.seed}" if run.seed is not None else ""), (run.experiment, id(run)))

    def run(self):
        """Yields a Complete for each experiment, as they are."""
        for (name, number), outcome in self.executor(self.work, self.modules, self._begun):
            self.outcomes[name][number] = outcome
            self.seconds[name] += getattr(outcome, "seconds", 0)
            self.left[name] -= 1
            run = self.runs[name][number]
            self.display.left((name, run and id(run)), name)
            if not self.chosen[name].module:
                self.display.ended()
            if self.left[name] == 0:
                yield self._complete(self.chosen[name])

    def rest(self, told):
        """After an interruption: a Complete for each experiment that is not told yet, and of which
        something has been measured, perhaps all."""
        for (name, number), outcome in getattr(self.executor, "finished", {}).items():
            if self.outcomes[name][number] is None:
                self.outcomes[name][number] = outcome
                self.seconds[name] += outcome.seconds
        for one in self.chosen.values():
            if one.name not in told:
                done = self._complete(one)
                if done.measured:
                    yield done

    def _complete(self, one):
        rows, failures, measured = [], [], 0
        for run, outcome in zip(self.runs[one.name], self.outcomes[one.name]):
            if isinstance(outcome, list):
                rows += outcome
                measured += 1
                continue
            if outcome is None:
                rows += runner.rows_of(one, run, runner.Outcome("interrupted")) if run else []
                continue
            if run is not None:
                rows += runner.rows_of(one, run, outcome)
                status = rows[-1]["status"]
            else:
                status = outcome.status
            if status == runner.OK:
                measured += 1
            else:
                failures.append({"command": run.command() if run else f"weft bench {one.name}",
                                 "status": status, "output": outcome.output})
        return Complete(one, rows, failures, measured, len(self.runs[one.name]),
                        self.seconds[one.name], self.compared[one.name])


@dataclass
class Complete:
    """What an experiment has given."""

    experiment: experiment.Experiment
    rows: list
    failures: list  # of runs, in their order: command, status (the reason), output
    measured: int  # runs that were good
    runs: int
    seconds: float  # that they took on this host, one after the other
    compared: int = 0  # commands that printed the same bytes on both engines of exact timing

    @property
    def whole(self):
        return self.measured + len(self.failures) == self.runs


def _there(args, one, revision):
    """What --results has of an experiment, if it need not be measured again: a Complete, or None."""
    try:
        facts = results.load(args.results / f"{one.name}.json")
    except UsageError:
        return None
    same = {"set": "full" if args.full else "quick", "timing": args.timing, "revision": revision, "failures": []}
    if any(facts.get(key) != value for key, value in same.items()):
        return None
    rows = [{name: value for name, value in row.items() if name != "revision"} for row in facts["rows"]]
    return Complete(one, rows, [], facts["runs"], facts["runs"], facts["seconds"])


def _resumed(args, chosen):
    """[Complete] of what need not be measured again."""
    revision = results.revision()
    if revision == "unknown" or revision.endswith("-dirty"):
        raise UsageError("--resume: the results may be of other sources, because some files have changed since "
                         f"the revision {revision}")
    return [done for done in (_there(args, one, revision) for one in chosen) if done]


def _again(args, chosen):
    """The command that measures these, in the same way and to the same place."""
    own = experiment.EXPERIMENTS
    options = ["--full"] if args.full else []
    for name, preset in (("timing", "exact"), ("engine", None), ("accel", "tcg"), ("scheduler", None),
                         ("results", RESULTS)):
        if getattr(args, name) != preset:
            options += [f"--{name}", str(getattr(args, name))]
    return shlex.join(["tools/weft", "bench", *options,
                       *(one.name if one.path.parent == own else str(one.path) for one in chosen)])


class _Account:
    """Saves and prints what is complete, and sums up."""

    def __init__(self, args, chosen, out, err):
        self._args, self._chosen, self._out, self._err = args, chosen, out, err
        self._made_from = results.revision()
        self._began = time.monotonic()
        self._done = {}  # {name: Complete}
        self._waiting = []  # (experiment, claim): about another one's rows too, which are to come
        # In exact timing alone are the figures those of the other set's host, too.
        which = "full" if args.full else "quick"
        self._sets = claims.Sets({one.name: which for one in chosen} if args.timing == "exact" else {})
        self.verdicts = {}  # {claim's id: verdict}
        self.own = {}  # the same, of this set alone

    @property
    def done(self):
        return list(self._done.values())

    @property
    def failed(self):
        return any(done.failures for done in self._done.values())

    def say(self, text):
        """A line on standard error, however long: it may be a command to copy."""
        self._err.print(text, highlight=False, soft_wrap=True, markup=False)

    def _save(self, done, directory):
        fast = self._args.timing == "fast" or any(row.get("timing") == "fast" for row in done.rows)
        results.save(done.experiment, done.rows, full=self._args.full,
                     timing="fast" if fast else "exact", failures=done.failures,
                     directory=directory, made_from=self._made_from, seconds=done.seconds,
                     runs=done.runs)

    def complete(self, done):
        self._save(done, self._args.results)
        self.take(done)
        self.say(f"weft: {self._args.results / done.experiment.name}.csv and .json, after {done.seconds:.0f} s "
                 "of guests")

    def take(self, done):
        """Prints and judges what is in a file already."""
        one = done.experiment
        self._done[one.name] = done
        self._out.print(one.title, style="bold", highlight=False)
        if done.rows:
            self._out.print(_module(one).table(done.rows) if one.module else
                            tables.plain(one, done.rows))
        if done.compared:
            self._out.print(f"Both engines of exact timing print the same bytes: "
                            f"{counted(done.compared, 'command')}.\n", highlight=False)
        self._judge(one)
        for failure in done.failures:
            self.say(f"FAILED: {failure['command']}\n  {failure['status']}\n{failure['output']}")

    def _judge(self, one):
        """Its claims, and those of others that have waited for it."""
        to_come = {other.name for other in self._chosen} - self._done.keys()
        self._waiting += [(one, claim) for claim in one.claims]
        ready = [pair for pair in self._waiting if not claims.others(pair[1]) & to_come]
        self._waiting = [pair for pair in self._waiting if pair not in ready]
        judge = claims.Judge({name: (done.experiment, done.rows) for name, done in self._done.items()},
                             self._sets)
        judged = []
        for about, claim in ready:
            try:
                judged.append((claim, judge.judge(about, claim)))
            except UsageError as error:
                judged.append((claim, claims.Verdict(claims.NOT_MEASURED, [str(error)])))
        self.verdicts |= {claim["id"]: found.verdict for claim, found in judged}
        self.own |= {claim["id"]: found.sets.get("full", found.verdict) for claim, found in judged}
        if judged:
            self._out.print(tables.verdicts(judged))

    def sum_up(self):
        """The last lines: what failed, why, and what to do."""
        wrong = [done for done in self._done.values() if done.failures]
        where = self._args.results
        counts = collections.Counter(self.verdicts.values())
        verdicts = ", ".join(f"{one}: {counts[one]}" for one in claims.VERDICTS if counts[one])
        self.say(f"weft: {'full' if self._args.full else 'quick'} set of "
                 f"{counted(len(self._done), 'experiment')}, revision {self._made_from}, "
                 f"{progress.lasted(time.monotonic() - self._began)}; results in {where}")
        if verdicts:
            self.say(f"weft: verdicts on claims: {verdicts}")
        if not wrong:
            self.say("weft: no run failed; `tools/weft report` makes web pages of the results")
            return
        self.say(f"weft: {len(wrong)} of {counted(len(self._done), 'experiment')} FAILED, each "
                 "with its first reason:")
        for done in wrong:
            self.say(f"  {done.experiment.name}: {len(done.failures)} of {done.runs} runs: "
                     f"{done.failures[0]['status']}")
        self.say(f"The other runs are in {where}. Of each that failed, NAME.json has the command "
                 "and its output under \"failures\".\n"
                 "What to do: `tools/weft doctor` says whether this host is the cause. If not, repeat "
                 f"the first:\n  {wrong[0].failures[0]['command']}\n"
                 "and measure again what failed:\n"
                 f"  {_again(self._args, [done.experiment for done in wrong])}")

    def interrupted(self, whole):
        """whole: the _Bench that was."""
        partly = []
        for done in list(whole.rest(self._done.keys())):
            if done.whole:
                self.complete(done)
            else:
                partly.append(done)
        left = [one for one in self._chosen if one.name not in self._done]
        self.say(f"weft: interrupted. {len(self._done)} of {counted(len(self._chosen), 'experiment')} "
                 f"complete, in {self._args.results}")
        beside = self._args.results / results.INTERRUPTED
        for done in partly:
            self._save(done, beside)
            self.say(f"weft: {done.measured} of {done.runs} runs of {done.experiment.name} are in "
                     f"{beside / done.experiment.name}.csv and .json")
        if left:
            self.say("weft: for the rest earlier results stay as they are; to measure it:\n"
                     f"  {_again(self._args, left)}")


def _check_baseline(args, chosen):
    """The baseline is that of weft's own experiments in their quick form; of the full set it holds the verdicts."""
    if args.timing != "exact":
        raise UsageError("--update-baseline: of exact timing")
    for one in chosen:
        if one.path.parent != experiment.EXPERIMENTS:
            raise UsageError(f"--update-baseline: {one.path} is not one of weft's experiments")
        if args.names and not args.full and one.skipped(False):
            raise UsageError(f"--update-baseline: {one.name} has no quick form")


def _update_baseline(args, done, verdicts):
    """Stores what the tests compare with, and makes of it what the documents say; yields the paths
    of what has changed.  done: [Complete]; verdicts: {claim's id: verdict} of this set alone."""
    if args.full:
        yield baseline.store_full(verdicts, whole=not args.names)
        yield from documents.update()
        return
    yield from baseline.store(args.results, [one.experiment.name for one in done],
                              whole=not args.names)
    for one in done:
        if one.experiment.module and hasattr(_module(one.experiment), "store_baseline"):
            yield _module(one.experiment).store_baseline(one.rows)
    yield from documents.update()
    yield progress.store_costs(args.results)


def main(args):
    """Runs the experiments that args names; the exit status: 1 if any run failed."""
    if args.compare:
        return _compare(args)
    if args.update_docs:
        if args.full:
            print(f"weft: {baseline.store_full(claimlist.full_verdicts(args.results), whole=False)}",
                  file=sys.stderr)
        for path in [*documents.update(), progress.store_costs(args.results)]:
            print(f"weft: {path}", file=sys.stderr)
        return 0
    chosen = _chosen(args.names)
    if args.list:
        for one in chosen:
            print(f"{one.name:20} {one.title}")
        return 0
    if args.list_claims:
        claimlist.show(Console(), chosen, args.results)
        return 0
    if args.engine is not None and args.timing != "exact":
        raise UsageError("--engine has no meaning without --timing exact")
    if args.jobs is not None and args.jobs < 1:
        raise UsageError("--jobs: a number above 0")
    if args.update_baseline:
        _check_baseline(args, chosen)
    if not args.names:
        chosen = [one for one in chosen if not one.skipped(args.full)]
    if not args.no_build:
        build.make()
    there = _resumed(args, chosen) if args.resume else []
    left = [one for one in chosen if one.name not in {done.experiment.name for done in there}]
    beforehand.look(left, args.full, args.results)
    executor = runner.Cluster(args.scheduler) if args.scheduler else runner.Local(args.jobs)
    out, err = Console(), Console(stderr=True)
    account = _Account(args, chosen, out, err)
    with progress.Display(err) as display:
        whole = _Bench(args, left, display, executor)
        runs = {name: len(found) for name, found in whole.runs.items()}
        time_left = progress.TimeLeft(
            runs, progress.costs(args.results, "full" if args.full else "quick"), executor.jobs)
        display.expects(time_left)
        account.say(f"weft: {counted(len(runs), 'experiment')}, {counted(sum(runs.values()), 'run')}: "
                    f"{progress.about(time_left.seconds())}")
        for done in there:
            account.take(done)
        interruption = None
        try:
            with contextlib.closing(whole.run()) as complete:
                for done in complete:
                    account.complete(done)
        except BaseException as one:  # Ctrl-C, SIGTERM; or an error, which is raised below
            interruption = one
    if interruption is not None:
        account.interrupted(whole)
        raise interruption
    if args.update_baseline and not account.failed:
        for path in _update_baseline(args, account.done, account.own):
            account.say(f"weft: {path}")
    account.sum_up()
    return 1 if account.failed else 0
