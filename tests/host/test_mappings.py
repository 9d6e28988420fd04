"""The mappings of an address space, compiled for the host and compared with an array of pages."""

import pytest
from hostcc import compile_c, run


@pytest.fixture(scope="module")
def mappings_test(tmp_path_factory):
    return compile_c(tmp_path_factory.mktemp("mappings") / "mappings_test",
                     "tests/host/mappings_test.c", "kernel/mm/mappings.c", "kernel/lib/tree.c")


@pytest.mark.parametrize("seed", range(1, 5))
def test_random_changes(mappings_test, seed):
    assert run(mappings_test, seed) == b"ok\n"
