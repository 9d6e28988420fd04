"""Scenes: runs that are worth a look, each a file of scenes/ with its command and what to look at."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from weft_host.machine import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent / "scenes"


@dataclass(frozen=True)
class Scene:
    """options: of the host command; two of them are two runs beside each other."""

    name: str
    title: str
    figures: str  # of which paper it shows
    caption: str
    options: tuple[str, ...]
    argv: tuple[str, ...]
    show: tuple[float, float] | None  # the part of the run that is shown first: 0 its begin, 1 its end


def names() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.toml"))


def scene(name: str) -> Scene:
    """Raises UsageError."""
    if name not in names():
        raise UsageError(f"--scene: there is no {name!r}; there are {', '.join(names())}")
    with open(HERE / f"{name}.toml", "rb") as file:
        data = tomllib.load(file)
    options = data["compare"] if "compare" in data else [data["options"]]
    return Scene(name, data["title"], data["figures"], " ".join(data["caption"].split()), tuple(options),
                 tuple(shlex.split(data["command"])), tuple(data["show"]) if "show" in data else None)
