"""The tools that look at processes: ps, pstack, pmap, and the files of /proc under them."""

import re
import struct

import pytest
from conftest import MODELS, TOP

# The shell is process 2, and at_rest, which blocks its threads, process 3.
AT_REST = "at_rest & sleep 0.1; "


def sh(guest, command, status=0, **options):
    result = guest(["sh", "-c", command], smp=2, timing="exact", **options)
    assert result.status == status, result.output
    return result.output


def test_ps(guest):
    output = sh(guest, AT_REST + "ps; ps -f -p 3; ps -L -p 3; ps -o pid,nlwp,args -p 2,3")
    assert re.search(r"^ +3 +2 +4 sleep .* at_rest$", output, re.MULTILINE), output
    assert re.search(r"^ +3 +2 +\d+ +4 sleep +\d+ +\d+ +1\.\d+ +0:00\.\d+ at_rest$", output,
                     re.MULTILINE), output
    lwps = re.findall(r"^ +3 +(\d) sleep +\w+ +\d+ +[01] +0:00\.\d+ (\w+) +\w+ +at_rest$", output,
                      re.MULTILINE)
    assert lwps == [("1", "lwp_sleep"), ("2", "lwp_park"), ("3", "lwp_park"), ("4", "lwp_park")]
    assert re.search(r"^ +2 +1 sh -c at_rest & sleep", output, re.MULTILINE), output


def test_ps_refuses(guest):
    assert "no column nonsense; there are: pid" in sh(guest, "ps -o nonsense", status=2)
    assert sh(guest, "ps -p 77", status=1).count("\n") == 1
    assert sh(guest, "ps 3", status=2).startswith("usage: ps ")


def test_pstack(guest):
    """Every LWP, with the functions that it is in, down to where its thread began."""
    output = sh(guest, AT_REST + "pstack 3")
    # Each LWP runs the thread with its number; the second has a name.
    threads = re.findall(r"lwp# (\d+) / thread# (\d+)(?: (\S.*?))?  ", output)
    assert threads == [(i, i, "reads news" if i == "3" else "") for i in "1234"], output
    stacks = re.split(r"-+  lwp# (\d+) / .*?(?:  in (\w+))?  -+\n", output)
    calls = dict(zip(stacks[1::3], stacks[2::3]))
    functions = {lwp: re.findall(r"^ [0-9a-f]{16} (\w+)\+", text, re.MULTILINE)
                 for lwp, text in zip(stacks[1::3], stacks[3::3])}
    assert [calls[lwp] for lwp in "234"] == ["lwp_park"] * 3, output
    assert "main" in functions["1"], output
    assert functions["2"][0] == "__sys_lwp_park", output
    assert functions["2"].count("wants_lock") == 3 and "lock_taker" in functions["2"], output
    assert "news_reader" in functions["3"] and "token_taker" in functions["4"], output
    assert "????" not in output  # also of a function whose last instruction is a call


def test_lwps_names_threads(guest):
    output = sh(guest, AT_REST + "lwps 3")
    assert re.findall(r" (\S+/.*|at_rest)$", output, re.MULTILINE) == \
        ["at_rest", "at_rest", "at_rest/reads news", "at_rest"], output


def test_pstack_lets_go(guest):
    """A process runs on after pstack; and what cannot be looked at is said."""
    assert "process 99: No such process" in sh(guest, "pstack 99", status=1)
    output = sh(guest, "sleep 0.3 & pstack 3; wait; echo waited")
    assert "in lwp_sleep" in output and "main+0x" in output and output.endswith("waited\n")


def test_pmap(guest):
    output = sh(guest, AT_REST + "pmap -x 3; pmap 3")
    rows = re.findall(r"^([0-9A-F]{16}) +(\d+) +(\d+) (\S+) +(\S+)$", output, re.MULTILINE)
    what = [row[4] for row in rows]
    assert {"/bin/at_rest", "[stack]", "[time]", "[schedctl]"} <= set(what), output
    assert all(int(row[2]) <= int(row[1]) for row in rows)
    total = re.search(r"^ *total Kb +(\d+) +(\d+)$", output, re.MULTILINE)
    assert sum(int(row[1]) for row in rows) == int(total[1])
    assert sum(int(row[2]) for row in rows) == int(total[2])
    code = [row for row in rows if row[4] == "/bin/at_rest" and "x" in row[3]]
    assert len(code) == 1 and "w" not in code[0][3]


def test_proc_files(guest):
    output = sh(guest, AT_REST + "cat /proc/3/status /proc/3/cmdline /proc/3/lwp/2/status; "
                                 "ls /proc/3/lwp; cat /proc/self/cmdline")
    # Its first thread naps and looks in turns.
    assert re.search("Name:\tat_rest\nState:\t(sleep|run|cpu)\nPid:\t3\nPPid:\t2\n", output)
    assert "Lwps:\t4\n" in output
    assert "\nat_rest\nId:\t2\nState:\tsleep\n" in output
    assert "Waits:\tpark\n" in output
    assert output.endswith("1\n2\n3\n4\ncat /proc/self/cmdline\n"), output
    bad = ["99", "03", "x", "3/nothing", "3/lwp/9", "3/lwp/0", "3/lwp/2/x"]
    output = sh(guest, AT_REST + "cat" + "".join(f" /proc/{path}" for path in bad), status=1)
    assert output.count("No such file") == len(bad), output


def test_pstack_of_a_call_without_a_frame(guest):
    """A function that only makes a system call: its caller is not left out."""
    output = sh(guest, "sleep 1 | sort & sleep 0.1; pstack $(pgrep -x sort)")
    assert re.findall(r"^ [0-9a-f]{16} (\w+)\+", output, re.MULTILINE)[:2] == \
        ["__plain_read", "__sread"], output


@pytest.mark.parametrize("model, lwps", [("lwp", 6), ("mxn", 5)])  # the document has no list for sa
def test_the_lwps_that_the_document_shows(guest, model, lwps):
    """docs/own-program.md: the list for each model, without what time and place it was."""
    def rows(text):
        found = re.findall(r"^ +3 +(\d+) \w+ +TS +\d+ +\d +[\d.]+ +[\d.]+ (\S+) +(\S+) +(states\S*)$",
                           text, re.MULTILINE)
        assert len(found) == lwps, text
        return found

    document = (TOP / "docs/own-program.md").read_text()
    shown, = (block for block in document.split("```")
              if "    3     2 sleep" in block and ("states/" in block) == (model == "mxn"))
    result = guest(["sh", "-c", "states 100 & sleep 0.05; lwps"], smp=2, model=model, timing="exact",
                   mips=100)
    assert rows(shown) == rows(result.output)


# --- the threads of every model, and what they wait for ---------------------------------------------

def locks(guest, what, tool="plocks", **options):
    """What a tool says of held_locks, which is process 3, after 0.2 s; without the times of waits."""
    output = sh(guest, f"{options.pop('env', '')} held_locks {what} & sleep 0.2; {tool} 3", **options)
    waits = [line for line in output.splitlines() if re.search(r" waits|[a-z], held by|^ .*Blocked", line)]
    times = [re.search(r", for (\d+\.\d{3}) s\b", line) for line in waits if not line.startswith("deadlock")]
    # The kernel knows it of threads that wait on an LWP.
    if options.get("model") == "lwp" and waits:
        assert any(times) and all(0.15 < float(time[1]) < 0.25 for time in times if time), output
    elif what != "kernel":
        assert not any(times), output
    return re.sub(r", for \d+\.\d{3} s\b", "", output)


@pytest.mark.parametrize("model", ["mxn", "n1", "sa"])
def test_pstack_shows_threads_on_no_lwp(guest, model):
    """With the registers that the library has saved."""
    output = sh(guest, AT_REST + "pstack 3", model=model)
    blocks = re.split(r"^-+  (.*?)  -+\n", output, flags=re.MULTILINE)
    said = dict(zip(blocks[1::2], blocks[2::2]))
    stack = {head: re.findall(r"^ [0-9a-f]{16} (\w+)\+", text, re.MULTILINE) for head, text in said.items()}
    assert "waits for mutex lock, held by thread 1\n" in said["thread# 2"], output
    assert "waits for condition variable news, with mutex news_lock\n" in said["thread# 3 reads news"]
    assert "waits for semaphore tokens\n" in said["thread# 4"]
    assert stack["thread# 2"].count("wants_lock") == 3 and "lock_taker" in stack["thread# 2"], output
    assert "news_reader" in stack["thread# 3 reads news"] and "token_taker" in stack["thread# 4"]
    assert all(re.match(r" Blocked, waits for ", said[head]) for head in said if head.startswith("thread# ")
               and head != "thread# 1"), output
    assert any("main" in functions for functions in stack.values()) and "????" not in output


@pytest.mark.parametrize("model", MODELS)
def test_plocks_finds_a_deadlock(guest, model):
    output = locks(guest, "circle", model=model)
    assert "mutex second, held by thread 3 (right)\n    thread 2 (left) waits\n" in output
    assert "mutex first, held by thread 2 (left)\n    thread 3 (right) waits\n" in output
    assert output.endswith(
        "\ndeadlock: thread 2 (left) waits for mutex second held by thread 3 (right), "
        "which waits for mutex first held by thread 2 (left)\n"), output
    output = locks(guest, "circle", "pstack", model=model)
    assert " waits for mutex second, held by thread 3 (right)\n" in output
    assert " waits for mutex first, held by thread 2 (left)\n" in output


@pytest.mark.parametrize("model", MODELS)
def test_plocks_of_a_thread_that_waits_for_itself(guest, model):
    output = sh(guest, "deadlock & sleep 0.1; plocks 3", model=model)
    assert re.search(r"^deadlock: thread 1 waits for mutex (\S+) held by thread 1$", output, re.MULTILINE)


@pytest.mark.parametrize("model", MODELS)
def test_plocks_finds_other_circles(guest, model):
    """A circle through a join and a reader-writer lock; and one that a deadline will end."""
    assert locks(guest, "join", model=model).endswith(
        "\ndeadlock: thread 1 waits for the end of thread 2, which waits for reader-writer lock written "
        "held by thread 1\n")
    output = locks(guest, "ends", model=model)
    assert "    thread 3 (right) waits, until a deadline\n" in output
    assert "    thread 2 (left) waits\n" in output and output.endswith("\nno deadlock found\n"), output


@pytest.mark.parametrize("model", MODELS)
def test_pthreads(guest, model):
    """A line for each thread, on an LWP or not."""
    output = sh(guest, "held_locks circle & at_rest & sleep 0.2; pthreads 3 4", model=model)
    title, *lines = output.splitlines()
    assert title.split() == ["PID", "THREAD", "STATE", "LWP", "CPU", "PRI", "BOUND", "NAME", "WAITS", "FOR"]
    place = r"(\d) +[01]" if model == "lwp" else "-()   -"
    bound = "yes" if model == "lwp" else "no"
    for_time = r", for 0\.(?:19|20)\d s" if model == "lwp" else ""
    for line, thread, name, waits in [
            (1, 2, "left", "mutex second, held by thread 3 (right)"),
            (2, 3, "right", "mutex first, held by thread 2 (left)"),
            (4, 2, "-", "mutex lock, held by thread 1"),
            (5, 3, "reads news", "condition variable news, with mutex news_lock"),
            (6, 4, "-", "semaphore tokens")]:
        match = re.fullmatch(rf" +{3 + (line > 3)} +{thread} Blocked +{place} +\d+ {bound} +{name} +"
                             rf"{re.escape(waits)}{for_time}", lines[line])
        assert match and match[1] in ("", str(thread)), output
    # The first thread of at_rest naps in turns.
    assert re.fullmatch(r" +4 +1 \w+ .* - +(a time(, for 0\.\d+ s)?|-)", lines[3]), output
    assert len(lines) == 7


def test_what_cannot_be_held_is_said(guest):
    """The first process, the tool itself, and a process of another tracer."""
    for tool in ("pstack", "plocks", "pthreads"):
        output = sh(guest, f"{tool} 1; truss -o /dev/null sleep 0.3 & sleep 0.1; {tool} $(pgrep -x sleep); "
                           f"sh -c 'exec {tool} $$'", status=1)
        assert output.splitlines() == [
            f"{tool}: process 1: it cannot be held: it is the first process",
            f"{tool}: process {output.split('process ')[2].split(':')[0]}: it cannot be held: another process "
            "traces it",
            f"{tool}: process {output.split('process ')[-1].split(':')[0]}: it cannot be held: it is this "
            "command"]


KINDS = {
    "mutex plain, held by thread 1": [("plain", ""), ("after a wait", "")],
    "mutex timed, held by thread 1": [("timed", ", until a deadline")],
    "mutex inherit, held by thread 1": [("inherit", "")],
    "mutex protect, held by thread 1": [("protect", "")],
    "reader-writer lock written, held by thread 1": [("written", " to read")],
    "reader-writer lock read_by_one, held by 1 reader": [("read", " to write")],
    "condition variable news": [("news", ", with mutex guard")],
    "semaphore tokens": [("tokens", ""), ("once", "")],
    "barrier three, 2 of 3 threads have arrived": [("three", ""), ("three too", "")],
    "pthread_once_t once": [("once too", "")],
    "the end of thread 1": [("join", "")],
}
KERNEL = {
    "mutex shared, held by thread 1": [("shared", "")],
    "mutex robust, held by thread 1": [("robust", "")],
    "reader-writer lock kernel_rwlock, held by thread 1": [("kernel_rwlock", " to write")],
    "semaphore kernel_tokens": [("kernel_tokens", "")],
    "barrier kernel_barrier, 1 of 2 threads have arrived": [("kernel_barrier", "")],
}


def rows(output):
    """{object: [(the waiter's name, how it waits)]}"""
    objects = re.split(r"^(?=\S)", output.removeprefix("3:\theld_locks\n"), flags=re.MULTILINE)
    return {text.split("\n")[0]: re.findall(r"^    thread \d+ \((.*)\) waits(.*)$", text, re.MULTILINE)
            for text in objects if text}


@pytest.mark.parametrize("model, what, wanted, env", [
    *((model, "kinds", KINDS, "") for model in MODELS),
    ("lwp", "kinds", KINDS, "LIBTHREAD_OPTIONS=sleep=kernel"),
    *((model, "kernel", KERNEL, "") for model in ("lwp", "mxn", "sa"))])
def test_plocks_knows_each_kind(guest, model, what, wanted, env):
    output = locks(guest, what, model=model, env=env)
    assert rows(output) == {**wanted, "no deadlock found": []}, output


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("how, says, known", [
    ("ring", "the list of threads does not lead back to its first", 3),
    ("wild", "the list of threads leads to memory that is no thread", 3),
    ("image", "it has no threads library", 0)])
def test_damaged_memory(guest, model, how, says, known):
    """The tools end, show what they can, and say what is wrong."""
    output = locks(guest, how, "pstack", model=model, status=1)
    assert f"pstack: process 3: not all threads are shown: {says}" in output or (
        known == 0 and f"pstack: process 3: no threads to show: {says}" in output), output
    output = locks(guest, how, model=model, status=1)
    assert re.search(f"^plocks: process 3: .*: {says}$", output, re.MULTILINE), output
    assert output.count(" waits\n") >= (2 if known else 0)


@pytest.mark.parametrize("model", MODELS)
def test_damaged_locks(guest, model):
    """Owners that are no threads."""
    output = locks(guest, "word", model=model)
    assert output.count("an object of unknown kind, ") == 2 and "no deadlock found" in output, output


@pytest.mark.parametrize("model", MODELS)
def test_a_process_that_forks_and_executes(guest, model):
    """Whatever its children are doing when they are held, they go on, and none is lost."""
    output = sh(guest, "held_locks forks 30 & while kill -0 $! 2>/dev/null; do "
                       "pstack $(pgrep . | tail -n 1) >/dev/null 2>&1; "
                       "plocks $(pgrep . | tail -n 2) >/dev/null 2>&1; pstack 3 >/dev/null 2>&1; done; "
                       "wait $!; echo status $?", model=model)
    assert output == "30 good\nstatus 0\n"


def without_library():
    """An ELF file of one page: it sleeps in lwp_park for ever, and has no library."""
    code = bytes.fromhex("31ff31f6b818000000" "0f05" "ebf3")  # lwp_park(NULL, 0), again
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\177ELF\2\1\1", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1,
                         64, 0, 0)
    size = 0x78 + len(code)
    return header + struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, size, size, 4096) + code


def test_a_process_without_the_library(guest, tmp_path):
    program = tmp_path / "bare"
    program.write_bytes(without_library())
    output = sh(guest, "bare & sleep 0.1; pstack 3; plocks 3", status=1, files=[program])
    assert "lwp# 1  in lwp_park" in output
    assert "pstack: process 3: no threads to show: it has no threads library\n" in output
    assert "plocks: process 3: nothing to show: it has no threads library\n" in output


def test_plocks_lets_go(guest):
    assert "process 99: No such process" in sh(guest, "plocks 99", status=1)
    output = sh(guest, "sleep 0.3 & plocks 3; wait; echo waited")
    assert output.endswith("no deadlock found\nwaited\n"), output
