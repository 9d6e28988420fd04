"""Commands whose bytes the two engines of exact timing must agree on (test_engines.py).

They follow from what the suite has: every program of tests/guest, every planted race, every quick
experiment.  So a new program joins by itself.  What a command runs with (CPUs, seed, length of a round) is
drawn from a hash of its name, and never changes.
"""

import random
import shlex
import zlib
from dataclasses import replace

import test_races
import test_races_kernel
from conftest import GUEST_PROGRAMS, MODELS, brought
from test_guest import settings
from test_interface import PROGRAMS as INTERFACES
from weft_host import experiment, torture
from weft_host.machine import ENGINES, Machine
from weft_host.runcmd import words_of

CPU_COUNTS = (1, 2, 2, 3, 4, 4, 4, 5, 8, 8, 16)  # more of those that differ cheaply
QUANTA = (50, 200, 200, 1000, 1000, 3000)


def hash_of(name):
    return zlib.crc32(name.encode())


def drawn(name, **given):
    """A machine's options, of the hash of a name, except for what is given."""
    chance = random.Random(hash_of(name))
    seed = chance.choice((None, chance.randrange(1, 1000)))
    return {"smp": chance.choice(CPU_COUNTS), "quantum": chance.choice(QUANTA), "seed": seed} | given


def machine(argv, **options):
    """One that runs argv."""
    argv = [str(word) for word in argv]
    return Machine(argv=argv, timing="exact", files=brought(*argv), **options)


def command(one):
    """What to type to see it, except for --engine."""
    seed = [] if one.seed is None else ["--seed", str(one.seed)]
    return shlex.join(["tools/weft", "run", *words_of(one), *seed, "--", *one.argv])


def shorter(argv, factor):
    """Rounds are few: what engines do differently, they do in each."""
    return [max(1, int(word) // factor) if str(word).isdigit() else word for word in argv]


def programs():
    """Those that test_guest.py runs, in all their models."""
    for name in sorted(GUEST_PROGRAMS):
        how = settings(name)
        if how["tool"]:
            continue
        args = shorter(how["args"], 10) if how["racing"] else how["args"]
        for model in how["models"]:
            label = f"{name}-{model}"
            yield label, machine([name, *args], model=model, mips=how["mips"], mem=how["mem"],
                                    **drawn(label))


def interfaces():
    """Each function and each error of it; each error of a system call."""
    for name in INTERFACES:
        for model in MODELS:
            yield f"{name}-{model}", machine([name], model=model, **drawn(f"{name}-{model}"))
    for name in sorted(GUEST_PROGRAMS):
        if name.startswith("err_"):
            yield name, machine([name], **drawn(name))


def races():
    """What finds the planted bugs: many CPUs in one short stretch of code."""
    known = set()
    for module in (test_races, test_races_kernel):
        for race in module.RACES:
            label = f"{race.bug} {race.program}"
            # Without what a TLB for each CPU shows: that is what the engines differ in.
            more = {"model": "lwp", **{key: value for key, value in race.machine.items()
                                       if key not in ("engine", "append")}}
            if label in known:  # a bug that is shown in two models
                label += f" {more['model']}"
            known.add(label)
            yield label, machine(shorter(race.argv, 4), **drawn(label, **more))


def experiments():
    """One run of the quick set of each configuration."""
    for name, one in experiment.all_experiments().items():
        if one.module:
            continue
        by_configuration = {}
        for run in one.runs(False):
            by_configuration.setdefault(run.configuration, []).append(run)
        for configuration, runs in by_configuration.items():
            label = f"{name} {configuration}"
            run = runs[hash_of(label) % len(runs)]
            if run.settings["timing"] == "exact":
                yield label, replace(run.machine(), timeout=None)


def tortures(count=20):
    for seed in range(1, count + 1):
        one = torture.setting(seed, timing="exact", engine=ENGINES[0])
        yield f"torture {one}", replace(one.machine(), timeout=None)


SHELL = {
    "pipes": "seq 3000 | sort -r | head -50 | tr 0-9 a-j | wc; find /bin | grep -c s",
    "jobs": "for i in 1 2 3 4 5 6; do (seq $i 200 | sort | wc -l) & done; wait; jobs; echo $?",
    "exec": "for i in 1 2 3 4; do sh -c 'exec ls /' | wc -c; (exec true); done; exec ls /bin",
    "files": "mkdir /tmp/d; for i in 1 2 3; do cp /bin/ls /tmp/d/$i & done; wait; ls -l /tmp/d; rm -r /tmp/d",
    "stops": "yes >/dev/null & kill -STOP $!; kill -CONT $!; kill $!; wait $!; echo $?",
    "threads": "ptime pp -v -i 300 -n 4 & ptime pp -v -i 300 & wait; lwps; ps",
}
FAULTS = ("null-write", "null-call", "text-write", "kernel-read", "ud2", "divide", "lwp", "abort")


def commands():
    """What goes through the shell, and ends by a fault."""
    for name, script in SHELL.items():
        for cpus in (1, 2, 4, 16):
            label = f"shell {name} {cpus}cpu"
            yield label, machine(["sh", "-c", script], **drawn(label, smp=cpus))
    for fault in FAULTS:
        yield f"fault {fault}", machine(["faults", fault], **drawn(f"fault {fault}"))
    for name in ("moments", "fuzz -n 4000 -s 5", "copy_files", "spin_for 100000", "lock_load free",
                 "micro", "scale split 200000", "scale faults 400", "scale wakeups 400"):
        for cpus in (1, 3, 4, 8):
            label = f"{name} {cpus}cpu"
            yield label, machine(shlex.split(name), **drawn(label, smp=cpus))
    for model in ("lwp", "mxn", "sa"):
        for argv, more in ((["thr_nospare"], {}), (["thr_no_memory", 2], {"mem": "48M"}),
                           (["thr_turns", "rr", 5], {"mips": 20}), (["thr_phase", 500], {"mips": 5})):
            label = f"{argv[0]}-{model}"
            yield label, machine(argv, model=model, **drawn(label, **more))


def cases():
    """{label: Machine}.  The kernel tells of its boot and, to the nanosecond, when it ends: so engines are
    found that agree on all else, and count one instruction differently."""
    found = {}
    for made in (programs, interfaces, races, experiments, tortures, commands):
        for label, one in made():
            assert label not in found, label
            found[label] = replace(one, verbose=True)
    return found
