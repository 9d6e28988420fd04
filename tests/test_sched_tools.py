"""The commands on scheduling: what they print, and that it is so."""

import re

import pytest

EXACT = {"timing": "exact", "mips": 100}


def sh(guest, script, smp=2, **how):
    return guest(["sh", "-c", script], smp=smp, **(EXACT | how))


def test_processor_sets(guest):
    result = sh(guest, "psrset -c 2 3; psrset; psrset -p 0 2; psrset -e 1 psrset -p 1;"
                       "psrset -r 3; psrset -d 1; psrset -i", smp=4)
    assert result.output.splitlines() == [
        "created processor set 1",
        "processor 2: was not assigned, now 1",
        "processor 3: was not assigned, now 1",
        "user processor set 1: processors 2 3",
        "processor 0: not assigned",
        "processor 2: 1",
        "processor 1: not assigned",
        "processor 3: was 1, now not assigned",
        "removed processor set 1",
    ]
    assert result.status == 0


def test_a_command_runs_in_its_set(guest):
    result = sh(guest, "psrset -c 3; psrset -e 1 lwps; psrset -e 1 ptime true", smp=4)
    line = next(line for line in result.output.splitlines() if line.endswith(" lwps"))
    assert line.split()[5] == "3"  # the CPU that it is on


def test_processors_online_and_offline(guest):
    result = sh(guest, "psradm -f 1; psrinfo; psrinfo -s 1; psradm -n -v 1; psrinfo 1")
    assert result.output.splitlines() == [
        "0\ton-line", "1\toff-line", "0", "processor 1 now on-line.", "1\ton-line"]
    result = sh(guest, "psradm -f 0 1")
    assert result.status == 1
    assert "psradm: processor 1: " in result.output


def test_priocntl(guest):
    result = sh(guest, "priocntl -e -c RT -p 7 -t 40 priocntl -d -i class RT;"
                       "priocntl -e -c NT -b high -p 2 priocntl -d -i class NT;"
                       "priocntl -s -c TS -m 30 -p 12; priocntl -d")
    numbers = [line.split()[1:] for line in result.output.splitlines()
               if re.match(r"[\s\d-]+$", line)]
    assert numbers == [["7", "40"], ["13", "2", "15"], ["30", "12"]]
    assert result.status == 0
    assert sh(guest, "priocntl -s -c XX").status == 1
    assert sh(guest, "priocntl -s -c SYS -p 1").status == 1
    assert sh(guest, "priocntl -e -c TS -t 5 true").status == 2


@pytest.mark.parametrize("name, rows", [("TS", 60), ("RT", 60), ("NT", 1)])
def test_a_table_that_was_printed_can_be_set(guest, name, rows):
    result = sh(guest, f"dispadmin -c {name} -g -r 10000 > /tmp/t && dispadmin -c {name} -s /tmp/t"
                       f" && cat /tmp/t && dispadmin -c {name} -g -r 10000")
    lines = result.output.splitlines()
    half = len(lines) // 2
    assert lines[:half] == lines[half:]
    assert lines[1] == "RES=10000"
    assert sum(bool(re.match(r" +\d", line)) for line in lines[:half]) == rows


@pytest.mark.parametrize("table, complaint", [
    ("200 20 3 1 3000 1", "RES=N comes first"),
    ("RES=1000\n20 3 1", "wants 1 lines of 5 numbers"),
    ("RES=0", "RES is a number"),
    ("RES=1000\n20 9 1 3000 1", "makes no sense"),
    ("RES=1000\n20 3 1 3000 2", "makes no sense"),
    ("RES=1000\n20 3 1 99999999999 1", "out of range"),
    ("RES=1000", "0 lines"),
])
def test_a_table_that_makes_no_sense(guest, table, complaint):
    result = sh(guest, f"echo '{table}' > /tmp/t; dispadmin -c NT -s /tmp/t")
    assert result.status == 1
    assert complaint in result.output


def test_nice(guest):
    result = sh(guest, "nice -n 5 priocntl -d -i all")
    assert [line.split() for line in result.output.splitlines()][-1][1:] == ["-15", "-15"]


def test_prstat(guest):
    """A process that computes has one of two CPUs, and is in user mode."""
    result = sh(guest, "spin_for 1000000000 & prstat -p $! 1 2; prstat -mL -p $! 1 2")
    assert "\x1b" not in result.output  # the host's end of the console is a pipe
    report = [line for line in result.output.splitlines() if "spin_for/1" in line]
    assert report[1].split()[-2] == "50.0%"
    assert report[3].split()[1] == "100"


def test_ptime_microstates(guest):
    result = sh(guest, "ptime -m sleep 1")
    times = dict(re.findall(r"^(\w+) +([\d.]+)$", result.output, re.M))
    assert list(times) == ["real", "user", "sys", "trap", "tflt", "dflt", "kflt", "lock", "slp",
                           "lat", "stop"]
    assert 0.99 < float(times["slp"]) < 1.01
