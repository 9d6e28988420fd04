"""The forms of a trace: text, tables, files that appear whole; and the last records of a run."""

import csv
import re
import subprocess
from types import SimpleNamespace

import pytest
from test_stats import TRACE, trace, trace_of, weft  # noqa: F401
from weft_host.spool import Last, Spool
from weft_trace import ring


def test_text_that_is_read_is_written_the_same(weft, trace, tmp_path):  # noqa: F811
    with open(trace, "a") as file:
        file.write("# lost 7 on CPU 1\n")
    weft("trace", "--from", trace, "--raw", tmp_path / "again")
    assert (tmp_path / "again").read_text() == trace.read_text()


def test_without_a_form_it_is_that_of_the_viewer(weft, trace, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    weft("trace", "--from", trace)
    weft("trace", "--from", trace, "-o", "out")
    assert (tmp_path / "weft.pftrace").read_bytes() == (tmp_path / "out").read_bytes() != b""
    assert {path.name for path in tmp_path.iterdir()} == {"raw", "out", "weft.pftrace"}


def test_tables(weft, trace, tmp_path):  # noqa: F811
    weft("trace", "--from", trace, "--csv", tmp_path / "tables")
    lines = TRACE.splitlines()
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {f"{line.split()[2]}.csv" for line in lines}
    with open(tmp_path / "tables/off_cpu.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[1] == {"time": "1000040000", "cpu": "1", "lwp": "idle", "mstate": "sleep", "wchan": "-"}
    assert len(rows) == sum(" off_cpu " in line for line in lines)


def babeltrace(directory):
    """What the reader of the format's authors says: (its lines, its complaints)."""
    done = subprocess.run(["babeltrace2", "--clock-seconds", directory], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


def test_common_trace_format(weft, trace, tmp_path):  # noqa: F811
    """Each record with its time, CPU and values, in packets of any number."""
    lines = trace.read_text().splitlines()
    more = [f"{2_000_000_000 + i} {i % 2} wake lwp=2/{i} reason=event" for i in range(16_000)]
    with open(trace, "a") as file:
        file.write("".join(f"{line}\n" for line in [*more, "# lost 7 on CPU 1"]))
    weft("trace", "--from", trace, "--ctf", tmp_path / "ctf")
    assert (tmp_path / "ctf/cpu_0").stat().st_size > 2 << 16
    read, complaints = babeltrace(tmp_path / "ctf")
    found = []
    for line in read:
        seconds, nanoseconds, name, cpu, values = re.fullmatch(
            r"\[(\d+)\.(\d{9})\] \(.*?\) (\w+): \{ cpu_id = (\d+) \}, \{(.*)\}", line).groups()
        values = values.replace("\\?", "?")  # babeltrace2 writes C's strings
        values = "".join(f" {key}={value}" for key, value in re.findall(r'(\w+) = "(.*?)"', values))
        found.append(f"{int(seconds + nanoseconds)} {cpu} {name}{values}")
    assert sorted(found) == sorted([*lines, *more])
    assert "discarded 7 events" in complaints and "cpu_1" in complaints
    assert "is not empty" in weft("trace", "--from", trace, "--ctf", tmp_path / "ctf", status=69).err


def test_tables_of_two_traces_do_not_mix(weft, trace, tmp_path):  # noqa: F811
    weft("trace", "--from", trace, "--csv", tmp_path / "tables")
    assert "is not empty" in weft("trace", "--from", trace, "--csv", tmp_path / "tables", status=69).err


@pytest.mark.parametrize("form", ["-o", "--raw"])
def test_a_damaged_trace_replaces_nothing(form, weft, tmp_path):  # noqa: F811
    (tmp_path / "raw").write_text(trace_of(TRACE) + "what is this\n")
    (tmp_path / "out").write_text("old")
    weft("trace", "--from", tmp_path / "raw", form, tmp_path / "out", status=69)
    assert (tmp_path / "out").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"raw", "out"}


@pytest.mark.parametrize("words, said", [
    (["--from", "{}", "--", "true"], "--from runs no command"),
    (["--from", "{}", "-o", "/no/such/file"], "/no/such: no such directory"),
    (["--no-build"], "a trace needs a command, after --"),
])
def test_wrong_usage(words, said, weft, trace, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    assert said in weft("trace", *(word.format(trace) for word in words), status=2).err
    assert {path.name for path in tmp_path.iterdir()} == {"raw"}


class Rings:
    """Gives what it is given, once."""

    def __init__(self, *times):
        self.lost = [0, 5]
        self._left = [ring.Record(time, cpu, point, (0, 0, 0)) for time, cpu, point in times]

    def drain(self):
        while self._left:
            yield self._left.pop(0)

    def close(self):
        pass


# Time, CPU and point; CPU 0 comes first, as from rings.
GIVEN = [(1, 0, 7), (4, 0, 8), (5, 0, 8), (9, 0, 8), (2, 1, 8), (3, 1, 7), (6, 1, 8), (7, 1, 8)]


def told(reader):
    reader.stop()
    found = SimpleNamespace(times=[record.time for record in reader.records()], lost=reader.lost)
    reader.close()
    return found


def test_all_records_are_merged(tmp_path):
    assert told(Spool(tmp_path, 2, Rings(*GIVEN))) == SimpleNamespace(times=[1, 2, 3, 4, 5, 6, 7, 9], lost=[0, 5])


@pytest.mark.parametrize("count, times, lost", [
    (8, [1, 2, 3, 4, 5, 6, 7, 9], [0, 5]),
    (3, [1, 3, 6, 7, 9], [2, 6]),
    (1, [1, 3, 9], [2, 8]),
])
def test_the_last_records_and_those_that_give_names(count, times, lost):
    assert told(Last(2, Rings(*GIVEN), count, {7})) == SimpleNamespace(times=times, lost=lost)
