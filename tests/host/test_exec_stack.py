"""The first stack of a process, compiled for the host and read as a program reads it."""

import pytest
from hostcc import compile_c, run


@pytest.fixture(scope="module")
def stack_test(tmp_path_factory):
    return compile_c(tmp_path_factory.mktemp("stack") / "stack_test",
                     "tests/host/exec_stack_test.c", "kernel/proc/exec_stack.c")


@pytest.mark.parametrize("argv, env", [
    ([], []),
    (["prog"], []),
    (["prog", "", "a b", "x" * 5000], ["PATH=/bin"]),
    ([str(i) for i in range(100)], ["A=" + "y" * n for n in range(70)]),
    ([], ["A="]),
])
def test_layout(stack_test, argv, env):
    run(stack_test, len(env), *argv, *env)
