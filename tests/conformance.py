"""What is asked of each function of libthread's headers, beside the errors that its comment lists
(interface_errors.py), and which check shows it: tests/conformance/*.toml.

    [pthread_rwlock_wrlock]
    "excludes readers and other writers" = "thr_rwlock: readers and writers keep apart"
    "is no cancellation point" = ["thr_points: rwlock", "test_x.py: test_y"]
    "(mxn) keeps no LWP" = "thr_pool: ..."

A requirement is a sentence whose subject is the function.  Its proof, one or more, is a check that
a program of tests/guest prints (`ok NAME`), or a test of pytest.  It holds in every model in which
there is the function, unless it begins with those that it is of.
"""

import re
from dataclasses import dataclass

from conftest import MODELS, TOP

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

LISTS = sorted((TOP / "tests/conformance").glob("*.toml"))


@dataclass
class Requirement:
    where: str  # list, function
    text: str
    models: tuple
    checks: list  # pairs: guest program, check
    tests: list  # pairs: file, test


def _requirement(path, function, text, proofs):
    models = tuple(match[1].split(", ")) if (match := re.match(r"\(([\w, ]+)\) ", text)) else \
        ("lwp", "mxn", "sa") if path.stem == "winthread" else MODELS
    pairs = [proof.split(": ", 1) for proof in ([proofs] if isinstance(proofs, str) else proofs)]
    return Requirement(f"{path.name}, {function}", text, models,
                       [pair for pair in pairs if not pair[0].endswith(".py")],
                       [pair for pair in pairs if pair[0].endswith(".py")])


def requirements():
    return [_requirement(path, function, text, proofs)
            for path in LISTS
            for function, section in tomllib.loads(path.read_text()).items()
            for text, proofs in section.items()]


def functions():
    """The functions that have a section."""
    return {function for path in LISTS for function in tomllib.loads(path.read_text())}


REQUIREMENTS = requirements()


def promised(program, model):
    """The checks of a program that prove something of a model."""
    return {check for requirement in REQUIREMENTS if model in requirement.models
            for name, check in requirement.checks if name == program}


def missing(program, model, output):
    """Those that are not in its output."""
    return sorted(promised(program, model) - set(re.findall(r"^ok (.*)$", output, re.MULTILINE)))
