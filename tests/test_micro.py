"""The micro benchmark holds a line: no figure grows by more than 2 % against the stored ones, or
4 % on several CPUs.  The quick set measures them (test_quick.py)."""

import pytest
from weft_host.experiments import micro


def test_complaints():
    """A figure that grows, comes or goes is complained of; one that shrinks is not."""
    stored = {("mutex", 1, "lwp"): 20.0, ("yield", 1, "mxn"): 100.0, ("gone", 1, "lwp"): 5.0}
    fresh = {("mutex", 1, "lwp"): 21.0, ("yield", 1, "mxn"): 101.0, ("new", 1, "lwp"): 5.0}
    wrong = "\n".join(micro.complaints(fresh, stored))
    assert "mutex, 1 CPUs, lwp: 21 instructions, 5.0 % more" in wrong
    assert "new, 1 CPUs, lwp: is not in the baseline" in wrong
    assert "gone, 1 CPUs, lwp: is no longer measured" in wrong
    assert "yield" not in wrong
    assert micro.complaints(stored, stored) == []


ROUND_TRIPS = ("semaphore_round_trip", "timed_semaphore_round_trip", "condition_round_trip",
               "pingpong_iteration")


@pytest.mark.parametrize("model", micro.MODELS)
def test_what_came_before(guest, model):
    """A round trip needs no more than its target, whatever the process has done before."""
    script = "; ".join(f"micro -p {prelude} {figure}"
                       for prelude in micro.PRELUDES for figure in ROUND_TRIPS)
    result = guest(["sh", "-c", script], timing="exact", model=model, quantum=micro.QUANTUM,
                   seed=micro.SEED)
    figures = dict(micro.parse(result.output, 1))
    assert len(figures) == len(micro.PRELUDES) * len(ROUND_TRIPS)
    for figure, instructions in figures.items():
        target = micro.target_of(micro.without_prelude(figure), model)
        assert instructions <= target, f"{figure}: {instructions} instructions"


@pytest.mark.parametrize("cpus", [1, 2])
def test_one_lwp_measures_what_it_can(guest, cpus):
    """Model n1 leaves out the figures of threads that wait on LWPs of their own, and says so when asked for one."""
    measured = dict(micro.parse(guest(["micro"], timing="exact", smp=cpus, model="n1").output, cpus))
    assert "semaphore_round_trip" in measured and "create_join" in measured
    assert "park_unpark_round_trip" not in measured
    asked = guest(["micro", "kobj_event_round_trip"], timing="exact", smp=cpus, model="n1")
    assert asked.status == 2 and "kobj_event_round_trip: wants two LWPs, and model n1 has one" in asked.output
