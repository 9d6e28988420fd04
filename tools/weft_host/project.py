"""What pyproject.toml says: the version, and the packages of each group.

tomllib is of Python 3.11; where it is missing, the environment has tomli.  So nothing here may be called
outside of the environment.
"""

import sys
from typing import Any

from .paths import TOP

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = TOP / "pyproject.toml"
BASE = "base"  # the group that every command needs


def read() -> dict[str, Any]:
    """The table [project]."""
    project: dict[str, Any] = tomllib.loads(FILE.read_text())["project"]
    return project


def version() -> str:
    """Of weft, as in pyproject.toml."""
    return str(read()["version"])


def packages(group: str) -> list[str]:
    """The requirements of a group, each NAME==VERSION, perhaps with a condition after a semicolon."""
    project = read()
    found: list[str] = (project["dependencies"] if group == BASE
                        else project["optional-dependencies"][group])
    return found
