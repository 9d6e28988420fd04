"""GDB on a guest: breakpoints in the kernel and in a program, steps, and the helpers."""

import re

import pytest
from conftest import AWAIT_REST, MODELS, TOP

# In exact timing GDB sees one processor for all CPUs, or one for each.
ENGINES = ("one", "processors")
EXACT = {engine: ("--timing", "exact", "--engine", engine) for engine in ENGINES}
TIMINGS = {"fast": (), **EXACT}


@pytest.fixture(params=TIMINGS)
def timing(request):
    """The options of a kind of time."""
    return TIMINGS[request.param]


@pytest.fixture
def gdb(weft, tmp_path):
    """gdb(commands, "--smp", "2", ..., argv=[...]) returns what GDB printed."""

    def run(commands, *options, argv=("at_rest",)):
        script = tmp_path / "commands"
        script.write_text("set width 0\n" + commands)
        done = weft("gdb", *options, "--batch-commands", script, "--", *argv, timeout=120)
        output = done.stdout.decode(errors="replace")
        assert done.returncode == 0, output + done.stderr.decode(errors="replace")
        return output

    return run


def cpu_rows(output):
    """What weft-cpus printed: (mark, CPU, LWP, process, priority, mode, place)."""
    return re.findall(r"^([* ])  (\d+) +(\S+) +(\S+) +(-?\d+) +(user|kernel) +(.*)$", output,
                      re.MULTILINE)


def test_kernel_breakpoint_and_steps(gdb, timing):
    output = gdb("""\
break kmain
continue
next
info symbol $rip
break sys_spawn
continue
backtrace
finish
""", "--at", "boot", *timing)
    assert re.search(r"Breakpoint 1, kmain \(\) at kernel/boot/main\.c:\d+", output)
    assert re.search(r"^kmain( \+ \d+)? in section", output, re.MULTILINE)
    assert re.search(r"Breakpoint 2, sys_spawn \(", output)
    assert re.search(r"#0 +sys_spawn .*\n#1 .*syscall_dispatch .*", output)
    assert "Value returned is" in output


def test_a_function_begins_in_its_own_file(gdb, timing):
    """Though an inline function of another file comes first."""
    output = gdb("break sched_switch\nbreak sched_put_back\nbreak lwp_park\ncontinue\nstep\n", *timing)
    for number, name, file in [(1, "sched_switch", "switch"), (2, "sched_put_back", "switch"),
                               (3, "lwp_park", "park")]:
        source = (TOP / f"kernel/sched/{file}.c").read_text().splitlines()
        line, = re.findall(rf"^Breakpoint {number} at 0x[0-9a-f]+: file kernel/sched/{file}\.c, line (\d+)\.$",
                           output, re.MULTILINE)
        assert name in source[int(line) - 2] and source[int(line) - 1] == "{", line
    assert re.search(r"Breakpoint \d, (sched_switch|sched_put_back|lwp_park) \(.*\) at kernel/sched/(switch|park)"
                     r"\.c:\d+\n\d+\t\{\n\d+\t\t", output), output


def test_user_breakpoint_and_steps(gdb, timing):
    output = gdb("""\
break look_here
continue
backtrace
finish
next
next
print round
weft-cpus
continue
print round
""", *timing)
    assert re.search(r"Breakpoint 1(\.\d)?, look_here \(round=.*0\) at tests/guest/at_rest\.c:\d+", output)
    assert re.search(r"#1 .* main \(.*\) at tests/guest/at_rest\.c:\d+", output)
    (mark, cpu, lwp, process, _, mode, place), = cpu_rows(output)
    assert (mark, cpu, process, mode) == ("*", "0", "at_rest", "user") and lwp.endswith("/1"), output
    assert re.match("main|look_here|nanosleep", place), output
    assert re.search(r"Breakpoint 1(\.\d)?, look_here \(round=.*1\)", output)


@pytest.mark.parametrize("cpus", [1, 4])
def test_cpus(gdb, timing, cpus):
    output = gdb("break look_here\ncontinue\nweft-cpus\n", "--smp", str(cpus), *timing)
    rows = cpu_rows(output)
    assert [int(row[1]) for row in rows] == list(range(cpus)), output
    here, = [row for row in rows if row[6].startswith("look_here")]
    assert here[0] == "*" and here[3] == "at_rest" and here[5] == "user"
    assert [row[0] for row in rows].count("*") == 1, output
    assert all(row[5] == "kernel" for row in rows if row[3] == "(idle)")


EACH_CPU = "".join(f"weft-cpu {cpu}\n" for cpu in range(5))

# Goes on until five CPUs are in five places, and shows each.
PLACES = """\
break look_here
continue
python
def all_there(shown):
    return all(any(mode in text and place in text for text in shown)
               for mode, place in (("user mode", "thread_turns"), ("user mode", "child_turns"),
                                   ("kernel mode", "sys_mprotect"), ("kernel mode", "(idle)")))
for _ in range(500):
    if all_there([gdb.execute(f"weft-cpu {cpu}", to_string=True) for cpu in range(5)]):
        break
    gdb.execute("continue", to_string=True)
end
weft-cpus
""" + EACH_CPU


def cpu_blocks(output):
    """What weft-cpu printed: (head, registers by name, functions of the backtrace) of each CPU."""
    for block in re.split(r"^(?=CPU \d+: )", output, flags=re.MULTILINE)[1:]:
        registers = dict(re.findall(r"(\w+) +0x([0-9a-f]{16})\b", block.partition("    #0")[0]))
        yield (block.partition("\n")[0], registers,
               re.findall(r"^    #\d+ +0x[0-9a-f]+ (\w+)", block, re.MULTILINE))


def test_cpus_in_all_places(gdb, timing):
    """In user mode, in the kernel, idle, and in another address space than the CPU that GDB shows."""
    output = gdb(PLACES, "--smp", "5", *timing, argv=("cpu_places",))
    blocks = list(cpu_blocks(output))
    assert [head.partition(":")[0] for head, _, _ in blocks] == [f"CPU {n}" for n in range(5)], output
    rows = cpu_rows(output)
    seen = {}
    for row, (head, registers, functions) in zip(rows, blocks, strict=True):
        _, cpu, lwp, process, _, mode, place = row
        what = process if lwp == "-" else f"LWP {lwp} of {process}"
        waits = bool(timing) and row[0] != "*"
        assert head == f"CPU {cpu}: {what}, {mode} mode, {'waits for its turn' if waits else 'runs'}"
        assert (int(registers["cs"], 16) & 3 == 3) == (mode == "user"), output
        assert (int(registers["rsp"], 16) >> 63 == 0) == (mode == "user"), output
        assert place.startswith(functions[0]), output
        seen[next((f for f in ("look_here", "thread_turns", "child_turns", "caller")
                   if f in functions), process)] = registers, functions
    user = {name: functions for name, (_, functions) in seen.items()}
    assert user["look_here"][:2] == ["look_here", "main"], output
    assert user["thread_turns"][:3] == ["thread_turns", "turner", "__thread_main"], output
    assert user["child_turns"][:4] == ["child_turns"] * 3 + ["main"], output
    at = user["caller"].index("sys_mprotect")
    assert user["caller"][at:at + 6] == ["sys_mprotect", "syscall_dispatch", "syscall_entry",
                                         "mprotect", "caller", "__thread_main"], output
    assert "sched_cpu_main" in user["(idle)"], output
    spaces = {name: registers["cr3"] for name, (registers, _) in seen.items()}
    assert spaces["look_here"] == spaces["thread_turns"] == spaces["caller"] != spaces["child_turns"]
    pointers = {registers["fs_base"] for name, (registers, _) in seen.items() if name != "(idle)"}
    assert len(pointers) == 3, output  # the child's main thread is where its parent's is


def test_both_engines_show_the_same(gdb):
    """Up to GDB's first stop each CPU has executed the same instructions in both."""
    seen = []
    for timing in EXACT.values():
        output = gdb("break look_here\ncontinue\nweft-cpus\nweft-lwps\n" + EACH_CPU, "--smp", "5",
                     *timing, argv=("cpu_places",))
        # Registers in the kernel may hold traces of the machine's own clock, and an idle CPU's stack
        # says how the CPU started.
        blocks = [(head, registers if "user mode" in head else None, functions)
                  for head, registers, functions in cpu_blocks(output) if "(idle)" not in head]
        assert len(blocks) == 4, output
        seen.append((output[output.index("   CPU "):output.index("CPU 0:")], blocks))
    assert seen[0] == seen[1]


def test_cpus_while_they_start(gdb, timing):
    """CPU 0 waits, the others have started or not."""
    output = gdb("break cpu_ap_main\ncontinue\ncontinue\nweft-cpus\nweft-cpu 0\n"
                 "python\nfor cpu in '3', '4', 'x', '':\n    try:\n"
                 "        gdb.execute(f'weft-cpu {cpu}')\n"
                 "    except gdb.error as e:\n        print('error:', e)\nend\n",
                 "--smp", "4", "--at", "boot", *timing)
    rows = cpu_rows(output)
    assert [row[1] for row in rows[:3]] == ["0", "1", "2"], output
    assert [row[0] for row in rows[:3]] == [" ", " ", "*"], output
    assert rows[2][6].startswith("cpu_ap_main"), output
    head, _, functions = next(cpu_blocks(output))
    assert head.startswith("CPU 0: (idle), kernel mode"), output
    assert functions[functions.index("kmain") - 1] in ("cpu_start_others", "lockstep_start_cpus"), output
    assert "error: there is no CPU 4" in output and "error: there is no CPU x" in output
    assert "error: usage: weft-cpu N" in output


@pytest.mark.parametrize("engine", ENGINES)
def test_standstill(gdb, engine):
    """The CPU that finds that nothing can happen any more, and the LWPs that wait for ever."""
    output = gdb("break lockstep_standstill\ncontinue\nbacktrace\nweft-cpus\nweft-lwps\nweft-threads\n",
                 "--smp", "2", *EXACT[engine], argv=("deadlock",))
    assert re.search(r"Breakpoint 1, (0x[0-9a-f]+ in )?lockstep_standstill ", output), output
    rows = cpu_rows(output)
    assert [row[3] for row in rows] == ["(idle)"] * 2, output
    shown, other = sorted(rows, key=lambda row: row[0] != "*")
    assert shown[0] == "*" and shown[6].startswith("lockstep_"), output  # or where it is in line
    assert other[0] == " " and other[6].startswith("exact_idle"), output
    # Through the end of the window to the place where the CPU went idle.
    assert re.search(r"^#\d+ .*<signal handler called>\n#\d+ .*exact_idle .*\n#\d+ .* idle_look .*\n"
                     r"#\d+ .* sched_cpu_main ", output, re.MULTILINE), output
    assert re.search(r"^\d+ +deadlock +1 +SLEEP .* lwp_park ", output, re.MULTILINE), output


def test_lwps(gdb, timing):
    output = gdb(AWAIT_REST + "weft-lwps\n", "--smp", "2", "--model", "lwp", *timing)
    rows = [line.split() for line in output.splitlines() if re.match(r"\d+ +(init|at_rest) ", line)]
    assert [row[1] for row in rows].count("init") == 1
    mine = [row for row in rows if row[1] == "at_rest"]
    assert len(mine) >= 4, output  # a thread each, and the library's own if it has any
    assert [row[3] for row in mine].count("ONPROC") == 1
    asleep = [row for row in mine if row[3] == "SLEEP"]
    assert len(asleep) >= 3
    assert sum(row[7] == "lwp_park" for row in asleep) >= 3, output
    init = next(row for row in rows if row[1] == "init")
    assert init[3] == "SLEEP" and init[7] == "waitpid"
    # The symbols are those of another program.
    assert init[8].startswith("0x")


def test_lwps_of_one_process_or_of_none(gdb):
    output = gdb(AWAIT_REST + "weft-lwps 1\npython\ntry:\n    gdb.execute('weft-lwps 999')\n"
                 "except gdb.error as e:\n    print('error:', e)\nend\n")
    assert re.search(r"^1 +init ", output, re.MULTILINE)
    assert not re.search(r"^\d+ +at_rest ", output, re.MULTILINE)
    assert "error: there is no process 999" in output


@pytest.mark.parametrize("model", MODELS)
def test_threads(gdb, timing, model):
    """Whether its LWP sleeps in the kernel or it has none, a thread shows where it waits."""
    output = gdb(AWAIT_REST + "weft-threads\n", "--smp", "2", "--model", model, *timing)
    blocks = re.split(r"^(?=thread \d+:)", output, flags=re.MULTILINE)[1:]
    assert len(blocks) == 4, output
    by_start = {}
    for block in blocks:
        match = re.search(r"started at (\w+)", block.splitlines()[0])
        by_start[match[1] if match else "main"] = block
    place = "on no LWP" if model != "lwp" else "on LWP "
    for start, waits_for, callers in [
            ("lock_taker", "lock", ["wants_lock", "wants_lock", "wants_lock", "lock_taker"]),
            ("news_reader", "news", ["news_reader"]),
            ("token_taker", "tokens", ["token_taker"])]:
        block = by_start[start]
        assert f": Blocked, {place}" in block, block
        assert f"waits for {waits_for}" in block, block
        rip = re.search(r"rip 0x([0-9a-f]{16})  rsp 0x", block)
        first = re.search(r"^    #0 +0x([0-9a-f]+) ", block, re.MULTILINE)
        assert int(rip[1], 16) == int(first[1], 16), block
        functions = re.findall(r"^    #\d+ +0x[0-9a-f]+ (\w+)", block, re.MULTILINE)
        at = functions.index(callers[0])
        # Inside of the library; a fast path that ended in a switch has left no frame there.
        assert at >= (model == "lwp"), block
        assert functions[at:at + len(callers)] == callers, block
    main = by_start["main"]
    assert ": OnLWP, on LWP " in main
    assert re.search(r"#0 +0x[0-9a-f]+ look_here", main), main


def test_before_the_kernel_runs(gdb):
    """The helpers say that it is too early; nothing breaks."""
    output = gdb("python\nfor c in ('weft-cpus', 'weft-lwps', 'weft-threads'):\n    try:\n"
                 "        gdb.execute(c)\n    except gdb.error as e:\n        print('error:', e)\n"
                 "end\n", "--at", "boot")
    assert output.count("error: ") == 3, output
