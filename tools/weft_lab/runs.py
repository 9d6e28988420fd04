"""One run of a lab's test, and what it says of the student's solution.

What a student's code prints is no result.  The host writes a key of its own for each run into the test's
program, and believes a line only with the right code under this key (mac.py).  A run is passed if the program
has told all of its checks, all were well, and it has ended with status 0.
"""

import re
import secrets
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from weft_host.guest import STATUS_PANIC, STATUS_TIMEOUT, Guests, Result
from weft_host.machine import ENGINES, HostError, Machine
from weft_host.workdir import WorkDirectory

from . import mac
from .build import Built
from .lab import Test, Variant

CPU_SECONDS = 120  # of the host's cores for one run, if the guest does not come to its limit of virtual time
MOST_OUTPUT = 1 << 18  # bytes
TOLD = 40  # lines of output in a detail
LINE = re.compile(r"lab (\d+) (\S+) (ok|failed|figure|end) (.*) ([0-9a-f]{16})")  # labs/common/labtest.h
IN_KERNEL = "weft: panic: lab: "  # what a lab's test in the kernel says (labs.mk)
BY_GUEST = re.compile(r"QEMU ended with status \d+")  # without a word of QEMU's: the kernel has written to its port


@dataclass(frozen=True)
class Outcome:
    """What a run says.  reason: "" if it is passed, else what went wrong in the lab's terms.  detail: which threads
    wait for what, and the last lines of output.  figures: counts of instructions that the program told.  result:
    how the machine ended, if the run is not passed."""

    reason: str = ""
    detail: str = ""
    figures: dict[str, int] = field(default_factory=dict)
    result: Result | None = None

    @property
    def passed(self) -> bool:
        return self.reason == ""


@dataclass(frozen=True)
class Told:
    """The results that a program has told under its key."""

    failed: tuple[str, ...]
    figures: dict[str, int]
    complete: bool


def results(output: str, key: bytes) -> Told:
    """What of the output is a result: lines with the right code, in their order, each once."""
    failed: list[str] = []
    figures: dict[str, int] = {}
    complete, number = False, 0
    for line in output.splitlines():
        match = LINE.fullmatch(line)
        if match is None or int(match[1]) != number + 1 or complete:
            continue
        _, name, kind, text, code = match.groups()
        if not mac.right(key, number + 1, f"{name} {kind} {text}", code):
            continue
        number += 1
        if kind == "failed":
            failed.append(text or name)
        elif kind == "figure" and text.isdigit():
            figures[name] = max(figures.get(name, 0), int(text))
        complete = kind == "end"
    return Told(tuple(failed), figures, complete)


def machine(test: Test, variant: Variant, built: Built, program: Path, picture: bool = True) -> Machine:
    """That plays this run.  program: the test's, as a file of the host.  picture: a failed
    run's detail shows what its threads wait for."""
    return Machine(argv=list(variant.argv), smp=variant.smp, mem=test.mem, model=test.model, options=test.options,
                   files=[f"{program}:/host/{test.program}"], timing="exact", engine=test.engine, seed=variant.seed,
                   quantum=variant.quantum, until=test.limit_ms, build=built.folder, append=variant.append,
                   cpu_limit=CPU_SECONDS, most_output=MOST_OUTPUT, picture=picture)


def repeat(test: Test, variant: Variant, folder: Path) -> str:
    """The lines that repeat a run, at once and under GDB from its end backwards.  folder: of the build."""
    said = ["--build", str(folder), "--timing", "exact", "--smp", str(variant.smp), "--mem", test.mem,
            "--model", test.model, *(["--options", test.options] if test.options else []),
            *(["--engine", test.engine] if test.engine != ENGINES[0] else []), "--seed", str(variant.seed),
            "--quantum", str(variant.quantum), "--until", str(test.limit_ms),
            *(["--append", variant.append] if variant.append else []),
            "--file", str(folder / "bin" / test.program), "--", *variant.argv]
    lines = [["tools/weft", "run", *said]]
    if test.engine == ENGINES[0]:  # QEMU records machines of one processor
        lines.append(["tools/weft", "gdb", "--reverse", *said])
    return "\n".join(map(shlex.join, lines))


def play(guests: Guests, test: Test, variant: Variant, built: Built, picture: bool = True) -> Outcome:
    """Plays one run.  picture: see machine(); it takes several times as long as a run.  Raises HostError if the
    host could not."""
    key = secrets.token_bytes(mac.KEY)
    with WorkDirectory() as work:
        program = Path(work) / test.program
        program.write_bytes(mac.with_key(built.program(test.program).read_bytes(), key))
        result = guests.run(machine(test, variant, built, program, picture))
    return judge(test, result, key)


def judge(test: Test, result: Result, key: bytes) -> Outcome:
    told = results(result.output, key)
    reason = _reason(test, result, told)
    if not reason:
        return Outcome(figures=told.figures)
    return Outcome(reason, _detail(result), told.figures, result)


def _reason(test: Test, result: Result, told: Told) -> str:
    if told.failed:
        return told.failed[0]
    if result.error:
        if result.status == STATUS_PANIC:
            return _panic(result)
        if result.status == STATUS_TIMEOUT:
            return _time_out(test, result)
        if BY_GUEST.fullmatch(result.error) is None:
            raise HostError(result.error)
        return "the machine was switched off in the middle of the test"
    if not told.complete:
        return f"the test's program ended with status {result.status} before it had told all of its checks"
    if result.status != 0:
        return f"the test's program ended with status {result.status}"
    return ""


def _panic(result: Result) -> str:
    lines = [line.strip() for line in result.panic.splitlines() if line.strip()]
    if lines and lines[0].startswith(IN_KERNEL):
        return lines[0].removeprefix(IN_KERNEL)
    return f"the kernel panics: {lines[0]}" if lines else result.error


def _time_out(test: Test, result: Result) -> str:
    if "standstill" in result.panic:
        return "every LWP sleeps, and nothing will wake one of them up: a wake-up was lost, or was never sent"
    if "virtual" in result.error:
        return f"not done after {test.limit_ms} virtual ms, many times what the test takes"
    return result.error


def _detail(result: Result) -> str:
    lines = [line for line in result.output.splitlines() if LINE.fullmatch(line) is None]
    said = "\n".join(lines[-TOLD:])
    said = said and f"the last lines of output:\n{said}"
    return "\n".join(part for part in (result.report.strip(), said) if part)
