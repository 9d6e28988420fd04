"""weft trace: it changes no byte of what a run prints in exact timing, and its records tell what happened."""

import collections

import pytest
from traces import MOST, guest, same_bytes
from weft_host.guest import STATUS_PANIC, run
from weft_host.machine import Machine
from weft_host.paths import BUILD
from weft_trace import events, ring
from weft_trace.cost import cost
from weft_trace.disassembly import instructions
from weft_trace.patch import NOP, patched, patches
from weft_trace.points import Image

KERNEL = BUILD / "weft.elf"


def test_all_points_can_be_patched():
    image, found = patches(KERNEL)
    assert len(found) == len(image.points)
    names = {point.name for point in image.points}
    assert names >= {"on_cpu", "off_cpu", "wake", "queue", "syscall", "syscall_end", "trap", "trap_end",
                     "trap_address", "interrupt", "interrupt_end", "kfault", "kfault_end", "timer", "age",
                     "lwp_new", "lwp_exit", "process_new", "process_exit", "exec", "upcall", "sigwaiting",
                     "priority", "preempt", "preempt_deferred"}


def test_a_record_costs_little():
    found = cost(Image(KERNEL), instructions(KERNEL))
    assert 20 < found.kernel < found.program <= MOST


RUNS = [
    (1, "", "pp -v -i 500"),
    (2, "--seed 3", "pp -v -i 500"),
    (3, "--mips 77 --seed 8", "pp -v -i 300 -n 2"),
    (4, "--quantum 200 --seed 7 --model mxn", "pp -v -i 300 -n 4"),
    (4, "--quantum 53 --seed 5 --engine processors", "pp -v -i 100 -n 3"),
    (16, "--seed 2 --model mxn", "pp -v -i 100 -n 16"),
    (2, "--model n1 --seed 6", "pp -v -i 300"),
    (4, "", "thr_mutex"),
    (2, "--seed 4 --model mxn", "moments"),
    (2, "--engine processors", "proc_fork"),
    (4, "--quantum 500 --seed 1", "disp_stress"),
    (2, "--seed 9 --model mxn", "thr_fork"),
    (1, "--quantum 50", "sched_calls"),
]


@pytest.mark.parametrize("smp, options, command", RUNS)
def test_a_trace_changes_no_byte(smp, options, command, tmp_path):
    found = collections.Counter(record.name for record in same_bytes(smp, options, command, tmp_path / "raw"))
    assert found["on_cpu"] > 2 and found["selftest"] > 100 * smp


def test_the_self_test_finds_one_instruction_too_many(tmp_path):
    """Behind the point of the self-test a copy executes a NOP that the kernel does not have."""
    kernel = tmp_path / "weft.elf"
    image = patched(KERNEL, kernel)
    patch, = [patch for patch in patches(KERNEL)[1] if patch.point.name == "selftest"]
    data = bytearray(kernel.read_bytes())
    offset = image.offset(patch.point.slot)
    code = NOP + patch.code(patch.point.slot + 1, settles=False)
    data[offset:offset + len(code)] = code
    kernel.write_bytes(data)
    records = 1024
    result = run(Machine(argv=["true"], timing="exact", kernel=kernel, rings=(records, ring.memory(records, 1)),
                         timeout=60))
    assert result.status == STATUS_PANIC and "exact timing does not hold" in result.panic


@pytest.mark.parametrize("timing", ["exact", "fast"])
def test_records_tell_what_runs(timing, tmp_path):
    raw = tmp_path / "raw"
    done = guest("trace", "--raw", str(raw), "--timing", timing, "--smp", "2",
                 "--file", str(BUILD / "tests/bin/thr_life"), "--", "thr_life")
    assert done.returncode == 0, done.stdout + done.stderr
    runs, last, made, gone, queued = {}, {}, set(), set(), 0
    woken = {}
    for record in events.read(raw):
        cpu, values = record.cpu, record.values
        assert record.time >= last.get(cpu, 0)
        last[cpu] = record.time
        match record.name:
            case "lwp_new":
                made.add(values["lwp"].partition("/")[2])
            case "wake":
                assert cpu not in woken
                woken[cpu] = values["lwp"]
            case "queue":
                queued += 1
                woken.pop(cpu, None)
            case "off_cpu":
                assert values["lwp"] == runs.pop(cpu, values["lwp"])
            case "on_cpu":
                assert cpu not in runs
                assert (values["pri"] == "-1") == (values["lwp"] == "idle")
                runs[cpu] = values["lwp"]
            case "lwp_exit":
                gone.add(values["lwp"])
    assert not woken and queued > len(made) > 5 and len(gone) > 5
    assert {"idle", "1/1", "2/1", "2/2"} >= set(runs.values())
    text = raw.read_text()
    assert "process_name process=2 name=thr_life" in text and "process_exit process=2 status=0" in text


def test_what_is_lost_is_counted(tmp_path):
    raw = tmp_path / "raw"
    done = guest("trace", "--raw", str(raw), "--records", "16", "--smp", "2", "--", "pp", "-i", "2000")
    assert done.returncode == 0
    records = list(events.read(raw))
    lost = [int(record.values["count"]) for record in records if record.name == "lost"]
    assert lost and min(lost) > 0 and len(records) - len(lost) > 16


def test_only_the_events_that_are_wanted(tmp_path):
    raw = tmp_path / "raw"
    done = guest("trace", "--raw", str(raw), "--events", "wake,on_cpu", "--", "pp", "-i", "20")
    assert done.returncode == 0
    assert {record.name for record in events.read(raw)} == {"wake", "on_cpu"}


@pytest.mark.parametrize("words, said", [
    (["--events", "wake,sleep"], "there is no event sleep"),
    (["--records", "100"], "--records: a power of two"),
])
def test_what_cannot_be(words, said, tmp_path):
    done = guest("trace", "--raw", str(tmp_path / "raw"), *words, "--", "true")
    assert done.returncode == 2 and said in done.stderr
