"""Every function of libthread's headers, in every model: called, and each error that its comment
names provoked.

The programs tests/guest/if_*.c do it and print what interface.h says; together they must prove what
the comments list, no less and no more, and of every function a success.
"""

import re

import pytest
from conftest import MODELS, TOP
from interface_errors import Interface
from tap import failures
from weft_host.guest import Result

INTERFACE = Interface()
PROGRAMS = sorted(path.stem for path in (TOP / "tests/guest").glob("if_*.c"))

# Documented, and in no guest's power to provoke at will: memory that ends at the right moment, a
# table of the kernel's that is full.
NO_MEMORY = {
    "EAGAIN": ("pthread_mutex_setprioceiling", "pthread_setconcurrency", "thr_setconcurrency", "mq_notify",
               "pthread_setschedparam", "aio_read", "aio_write", "aio_fsync", "lio_listio"),
    "ENOMEM": ("pthread_atfork", "pthread_mutex_clocklock", "pthread_mutex_timedlock",
               "pthread_cond_clockwait", "pthread_cond_timedwait", "pthread_rwlock_clockrdlock",
               "pthread_rwlock_clockwrlock", "pthread_rwlock_timedrdlock",
               "pthread_rwlock_timedwrlock", "pthread_setspecific", "pthread_timedjoin_np",
               "cond_timedwait", "cond_reltimedwait", "sem_clockwait", "sem_timedwait", "sem_open",
               "thr_setspecific", "thr_suspend", "pthread_setschedparam", "mq_open", "mq_send",
               "mq_timedsend", "mq_receive", "mq_timedreceive", "mq_notify"),
    "thrd_nomem": ("thrd_create",),
    **dict.fromkeys(("EACCES", "EMFILE", "ENFILE", "ENOSPC"), ("sem_open", "mq_open")),
    # A mutex with a ceiling that UNIX International's have not, or that is robust too.
    "EINVAL": ("mutex_lock", "mutex_trylock"),
    # A robust mutex that is given up inconsistent while a thread waits for a condition with it.
    "ENOTRECOVERABLE": ("pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait",
                        "cond_wait", "cond_timedwait", "cond_reltimedwait"),
}
NOT_PROVOKED = {(name, error) for error, names in NO_MEMORY.items() for name in names}

# What only some model gives (libthread/README.md: differences).
BY_MODEL = {
    "lwp": {("pthread_create", "ENOTSUP"), ("pthread_getcpuclockid", "ENOENT"),
            ("pthread_setschedparam", "ENOTSUP"), ("pthread_setschedprio", "ENOTSUP"),
            ("pthread_getaffinity_np", "ENOTSUP")},
    "mxn": {("thr_schedlock_stats", "ENOTSUP")},
    "sa": {("thr_schedlock_stats", "ENOTSUP")},
    "n1": {("thr_schedlock_stats", "ENOTSUP"),
           *((f"mq_{call}", "EINTR") for call in ("send", "timedsend", "receive", "timedreceive"))},
}
NO_SUCCESS = {"n1": {"pthread_getcpuclockid", "pthread_getaffinity_np", "pthread_setaffinity_np"},
              "lwp": {"thr_schedlock_stats"}, "mxn": set(), "sa": set()}


def test_every_function_says_its_errors():
    assert INTERFACE.names == set(INTERFACE.text), "declared, but not found in a source"
    for name in sorted(INTERFACE.names):
        assert not INTERFACE.loose(name), \
            f"{INTERFACE.where[name]}, {name}: write each error as `ENAME: its cause;`"
        INTERFACE.errors(name)


def listed(pairs):
    return [f"  {INTERFACE.where.get(name, 'no such function')}: {name} {error}"
            for name, error in sorted(pairs)]


@pytest.mark.parametrize("model", MODELS)
def test_interface(guest, model):
    script = "; ".join(f"echo {name}; LIBTHREAD={model} {name}" for name in PROGRAMS)
    result = guest(["sh", "-c", script], smp=4, timing="exact")
    reports = re.split(r"^(if_\w+)\n", result.output, flags=re.MULTILINE)[1:]
    assert reports[::2] == PROGRAMS, result.output
    wrong = [f"{name}: {what}" for name, report in zip(reports[::2], reports[1::2])
             for what in failures(Result(0, report))]
    assert not wrong, "\n".join(wrong)

    pairs = set(re.findall(r"^ok (\w+)(?: (E[A-Z0-9]+|thrd_\w+): .*)?$", result.output, re.MULTILINE))
    proven = {pair for pair in pairs if pair[1]}
    expected = {(name, error) for name in INTERFACE.names for error in INTERFACE.errors(name)}
    assert expected >= NOT_PROVOKED, listed(NOT_PROVOKED - expected)
    expected -= NOT_PROVOKED | BY_MODEL[model]
    for found, what in (
        (expected - proven, "documented, but never provoked: add to a tests/guest/if_*.c\n"
         '    GIVES(ERROR, call(...), "cause");\nor take it out of the comment'),
        (proven - expected, "provoked, but not documented (or in BY_MODEL, or NOT_PROVOKED)"),
        ({(name, "") for name in INTERFACE.names - NO_SUCCESS[model]} - pairs,
         "never seen to succeed: add to a tests/guest/if_*.c\n    WORKS(call(...));"),
    ):
        if found:
            wrong += [what, *listed(found)]
    assert not wrong, "\n".join(wrong)
