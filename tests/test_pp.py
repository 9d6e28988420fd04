"""pp, the ping-pong benchmark, in the guest: its options and its output in every model.

pp itself checks that the moves of each game come in strict order, and that each game has its
full number of them, and fails if not; so status 0 says a lot.
"""

import re

import pytest
from conftest import MODELS

every_model = pytest.mark.parametrize("model", MODELS)
every_smp = pytest.mark.parametrize("smp", [1, 2, 4])


@pytest.fixture
def pp(guest):
    """pp(option..., model=, smp=, ...): boots a guest that runs pp; its Result."""

    def run(*options, model="lwp", timeout=120, **machine):
        return guest(["pp", *options], model=model, timeout=timeout, **machine)

    return run


def completed_ms(output):
    return int(re.search(r"games completed in (\d+)ms$", output, re.MULTILINE)[1])


@every_model
def test_verbose_output_is_the_papers(pp, model):
    result = pp("-v", "-i", "500", "-n", "3", "-c", "2", "-S", "65536", model=model)
    assert result.status == 0
    assert re.fullmatch(
        r"""
PING-PONG CONFIGURATION:

target          \(-i\) = 500
ntables         \(-n\) = 3
sleepms         \(-z\) = 0
pthread_scope   \(-s\) = process
pthread_process \(-p\) = private
concurrency     \(-c\) = 2
stacksize       \(-S\) = 65536

6 threads initialised in \d+ms
3 games completed in \d+ms
""", result.output)


def test_silent_without_v(pp):
    result = pp("-i", "10")
    assert (result.status, result.output) == (0, "")


def completed_us(output):
    return int(re.search(r"games completed in (\d+)us$", output, re.MULTILINE)[1])


@pytest.mark.parametrize("seed", [1, 2])
def test_nobody_spins_for_a_thread_that_waits_for_a_cpu(pp, seed):
    """Sixteen LWPs on two CPUs: the owner of the mutex is often Dispatchable, on an LWP that gets no
    CPU while others spin."""
    def us(options):
        result = pp("-vu", "-n", "8", "-c", "16", "-i", "500", model="mxn", smp=2, timing="exact",
                    quantum=200, seed=seed, options=options)
        assert result.status == 0, result.output
        return completed_us(result.output)

    assert us("spin=adaptive") < us("spin=never")


@every_model
@every_smp
def test_fifty_games_with_error_checking_mutexes(pp, model, smp):
    result = pp("-v", "-e", "-n", "50", "-i", "100", model=model, smp=smp)
    assert result.status == 0, result.output
    assert "100 threads initialised in" in result.output
    assert "50 games completed in" in result.output


@every_model
@every_smp
def test_bound_threads(pp, model, smp):
    result = pp("-v", "-s", "system", "-n", "4", "-i", "500", model=model, smp=smp)
    assert result.status == 0, result.output
    assert "pthread_scope   (-s) = system\n" in result.output


@every_smp
def test_concurrency_of_the_pool(pp, smp):
    result = pp("-v", "-c", "8", "-n", "4", "-i", "500", model="mxn", smp=smp)
    assert result.status == 0, result.output


@every_model
def test_sleep_in_every_move(pp, model):
    # 2 players, 10 moves each, one after the other, 5 ms in each.
    result = pp("-v", "-z", "5", "-i", "10", model=model, smp=2)
    assert result.status == 0, result.output
    assert completed_ms(result.output) >= 100


@every_model
@every_smp
def test_global_bottleneck(pp, model, smp):
    result = pp("-v", "-z", "-1", "-n", "8", "-i", "200", model=model, smp=smp)
    assert result.status == 0, result.output
    assert "sleepms         (-z) = -1\n" in result.output


def test_gates_as_the_mutexes(guest):
    """A thread that waits at a shared gate keeps its LWP: so the library makes one for each."""
    made = {}
    for more in ("", "-g"):
        result = guest(["truss", "-c", "pp", "-n", "20", "-i", "2", "-p", "shared", "-c", "4", *more.split()],
                       model="mxn", smp=2, timing="exact")
        made[more] = int(re.search(r"(?m)^lwp_create +\S+ +(\d+)", result.output)[1])
    assert made[""] < 10 and made["-g"] >= 40


@pytest.mark.parametrize("options, said", [
    (["-i", "0"], "-i 0: not a number from 1 to"),
    (["-n", "5x"], "-n 5x: not a number from 1 to"),
    (["-z", "-2"], "-z -2: not a number from -1 to"),
    (["-i", "99999999999999999999"], "not a number from 1 to"),
    (["-p", "public"], "-p public: neither private nor shared"),
    (["-s", ""], "-s : neither process nor system"),
    (["-q"], "usage: pp"),
    (["-i"], "usage: pp"),
    (["100"], "100: not an option"),
])
def test_wrong_usage(pp, options, said):
    result = pp(*options)
    assert result.status == 2
    assert said in result.output and "usage: pp" in result.output


def test_a_stack_that_is_too_small(pp):
    result = pp("-S", "64")
    assert result.status == 1
    assert result.output.startswith("pp: pthread_attr_setstacksize: ")


def test_process_shared_mutexes(pp):
    for model in ("lwp", "mxn", "sa"):
        result = pp("-v", "-p", "shared", "-n", "2", "-c", "4", "-i", "200", model=model)
        assert result.status == 0, result.output
        assert "pthread_process (-p) = shared\n" in result.output


@every_model
def test_a_stack_larger_than_the_address_space(pp, model):
    result = pp("-S", str(1 << 47), model=model)
    assert result.status == 1
    assert result.output.startswith("pp: pthread_create: ")


@pytest.mark.parametrize("model", ["lwp", "mxn", "sa"])
def test_ten_thousand_threads(pp, model):
    result = pp("-v", "-n", "5000", "-i", "100", "-S", "32768", model=model, smp=4, mem="1G",
                timeout=600)
    assert result.status == 0, result.output
    assert "10000 threads initialised in" in result.output
    assert "5000 games completed in" in result.output
