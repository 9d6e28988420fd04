"""weft monitor: threads, LWPs and CPUs of a running guest, on a page that a browser shows (docs/monitor.md).

A guest's trace becomes a recording (weft_monitor/changes.py) while it runs.  The page is given this recording
as it grows.  A recording that is kept shows the same without a guest.
"""

import argparse
import contextlib
import shlex
import shutil
import sys
import threading
import webbrowser
from pathlib import Path

from rich.console import Console
from weft_monitor import changes, scenes, terminal
from weft_monitor.check import check
from weft_monitor.page import page
from weft_monitor.server import Growing, Server

from . import build, mark
from .machine import HostError, Machine, UsageError
from .runcmd import add_machine_options, machine_from, seeded_words_of, tell_error
from .watched import Watched, output
from .workdir import WorkDirectory

REPLAY = 10.0  # seconds of a replay in a terminal
MOST_SAMPLE = 1000  # milliseconds (libthread/core/options.c)


def add_options(parser):
    add_machine_options(parser)
    parser.add_argument("--record", metavar="FILE", help="keeps the recording")
    parser.add_argument("--open", metavar="FILE", help="shows a recording; no guest runs")
    parser.add_argument("--html", metavar="FILE", help="writes the page with the recording in it, as one file")
    parser.add_argument("--compare", nargs=2, metavar="OPTIONS",
                        help="two guests with these options, as '--model mxn' '--model lwp', beside each other")
    parser.add_argument("--scene", metavar="SCENE", help=f"a run that is worth a look: {', '.join(scenes.names())}")
    parser.add_argument("--sample", type=int, metavar="MS",
                        help="an LWP of the program looks every MS milliseconds; no records of events")
    parser.add_argument("--stacks", action="store_true",
                        help="keeps stacks also in fast timing, where one takes some 500 instructions")
    parser.add_argument("--tui", action="store_true", help="shows it in the terminal, in place of a page")
    parser.add_argument("--batch", action="store_true", help="serves no page, and ends with the guest")
    parser.add_argument("--browser", action="store_true", help="opens the page in the browser")
    parser.add_argument("--port", type=int, default=0, metavar="PORT", help="of the page; any free one by default")


def title_of(machine, sample=None, stacks=False):
    """What the page calls a run: the words after `weft monitor` that make it again."""
    own = [*([] if sample is None else ["--sample", str(sample)]), *(["--stacks"] if stacks else [])]
    return shlex.join([*seeded_words_of(machine), *own, "--", *machine.argv])


def _set_scene(args):
    """Takes the scene's command and options.  Raises UsageError."""
    scene = scenes.scene(args.scene)
    if args.argv or args.compare:
        raise UsageError("--scene has a command of its own: no command or --compare goes with it")
    args.argv = list(scene.argv)
    args.compare = list(scene.options)
    return scene


def _machines(args):
    """The guests that are to run.  Raises UsageError."""
    if args.compare is None:
        return [machine_from(args)]
    machines = []
    for words in args.compare:
        parser = argparse.ArgumentParser(prog="weft monitor --compare", exit_on_error=False)
        add_machine_options(parser)
        try:
            more, rest = parser.parse_known_args(shlex.split(words), argparse.Namespace(**vars(args)))
        except (argparse.ArgumentError, ValueError) as error:
            raise UsageError(f"--compare: {words!r}: {error}") from None
        if rest:
            raise UsageError(f"--compare: {words!r}: {rest[0]} is no option of a guest")
        machines.append(machine_from(more))
    return machines


def _opened(args):
    """Shows a recording.  Raises HostError, UsageError."""
    if args.argv or args.compare or args.record or args.scene or args.sample is not None:
        raise UsageError("--open shows a recording: no command, --compare, --record, --scene, --sample with it")
    path = Path(args.open)
    title, end = check(path)
    facts = {"runs": [title], "title": title, "opened": True}
    if args.html:
        _write_html(args.html, facts, [path.read_bytes()])
    if args.tui:
        with open(path, "rb") as file:
            terminal.replay(changes.blocks(file, args.open), Console(), REPLAY, end)
    if args.batch or args.tui:
        return 0
    recording = Growing.of(path)
    with _server(args, facts, [recording], _no_guest) as server:
        _tell(server.url, args)
        threading.Event().wait()
    return 0


def _server(args, facts, recordings, ask):
    """Raises HostError: the port cannot be had."""
    try:
        return Server(lambda begin: page(facts | {"server": begin}, served=True), recordings, ask, args.port)
    except (OSError, OverflowError) as error:
        raise HostError(f"--port {args.port}: {getattr(error, 'strerror', None) or error}") from error


def _no_guest(run, thread):
    raise HostError("there is no guest: this is a recording")


def _tell(url, args):
    print(f"weft: {url} shows it; Ctrl-C ends", file=sys.stderr, flush=True)
    if args.browser:
        webbrowser.open(url)


def _write_html(path, facts, recordings):
    text = page(facts, recordings)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def monitor(args):
    """weft monitor: the exit status is the program's; of two, the first that is not 0."""
    if args.open is not None:
        return _opened(args)
    scene = _set_scene(args) if args.scene is not None else None
    machines = _machines(args)
    for machine in machines:
        if not machine.argv:
            raise UsageError("the monitor needs a command, after --")
    if args.record and len(machines) > 1:
        raise UsageError("--record keeps one run: --html keeps both of --compare")
    if args.tui and (len(machines) > 1 or args.batch or args.browser):
        raise UsageError("--tui shows one run, and no page: no --compare, --batch or --browser goes with it")
    if args.sample is not None and not 1 <= args.sample <= MOST_SAMPLE:
        raise UsageError(f"--sample: 1 to {MOST_SAMPLE} milliseconds, not {args.sample}")
    if args.sample is not None and args.stacks:
        raise UsageError("--stacks: a sample has no stacks")
    if args.batch and not (args.record or args.html):
        raise UsageError("--batch has no meaning without --record or --html")
    for path in filter(None, (args.record, args.html)):
        _writable(path)
    if not args.no_build:
        for debug in {machine.debug for machine in machines}:
            build.make(debug=debug)
    mark.warn(machines[0])
    if sys.stdin and not sys.stdin.isatty():
        text = sys.stdin.buffer.read() if any(one.timing == "exact" for one in machines) else b""
        for machine in machines:
            machine.stdin = text
    with contextlib.ExitStack() as stack:
        works = [Path(stack.enter_context(WorkDirectory())) for _ in machines]
        return _monitor(args, machines, works, stack, scene)


def _writable(path):
    """Raises OSError now, and not when the guest has run."""
    with open(path, "ab"):
        pass


def _monitor(args, machines: list[Machine], works: list[Path], stack: contextlib.ExitStack,
             scene: scenes.Scene | None) -> int:
    titles = [title_of(machine, args.sample, args.stacks) for machine in machines]
    recordings = [Growing(work / "recording") for work in works]
    watched = [Watched(machine, work, recording, title, sample=args.sample, stacks=args.stacks)
               for machine, work, recording, title in zip(machines, works, recordings, titles)]
    title = scene.title if scene else shlex.join(machines[0].argv)
    facts: dict[str, object] = {"runs": titles, "title": f"weft monitor: {title}"}
    if scene is not None:
        facts["show"] = scene.show
        facts["caption"] = f"{scene.title} ({scene.figures}). {scene.caption}"
    paged = not (args.batch or args.tui)
    if paged:
        server = stack.enter_context(_server(args, facts, recordings,
                                             lambda run, thread: watched[run].backtrace(thread)))
        _tell(server.url, args)
    try:
        results = _run_in_terminal(watched[0], recordings[0]) if args.tui else _run_all(watched)
    finally:  # also after Ctrl-C: what has been recorded is kept
        _keep(args, facts, [work / "recording" for work in works])
    for result in results:
        tell_error(result)
    status = next((result.status for result in results if result.status != 0), 0)
    if paged:
        print(f"weft: the guest has ended with status {status}; the page stays until Ctrl-C", file=sys.stderr)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
    return status


def _keep(args, facts, recordings):
    if args.record:
        shutil.copyfile(recordings[0], args.record)
    if args.html:
        _write_html(args.html, facts | {"opened": True}, [path.read_bytes() for path in recordings])


def _run_in_terminal(watched, recording):
    """The guest's output goes by above the picture."""
    console = Console()

    def write(text):
        console.out(text.decode(errors="replace").rstrip("\n"), highlight=False)

    blocks = changes.blocks(recording.reader(), "the guest")
    picture = threading.Thread(target=terminal.follow, args=(blocks, console))
    picture.start()
    try:
        return [watched.run(write, None)]
    finally:
        picture.join()


def _run_all(watched):
    """The results.  Several guests run at the same time."""
    results = [None] * len(watched)
    troubles = []
    several = len(watched) > 1

    def run(i):
        machine = watched[i].machine
        source = sys.stdin.fileno() if sys.stdin and machine.timing == "fast" and not several else None
        try:
            results[i] = watched[i].run(output(f"{i + 1}" if several else None), source)
        except BaseException as error:
            troubles.append(error)
            if not several:
                raise

    if not several:
        run(0)
        return results
    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(watched))]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:  # Ctrl-C
        for one in watched:
            one.stop()
        for thread in threads:
            thread.join()
        raise
    if troubles:
        raise troubles[0]
    return results

