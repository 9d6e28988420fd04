"""The pictures of `weft monitor` on a paper's page: docs/pictures, which tests/test_monitor_scenes.py makes."""

import base64
from dataclasses import dataclass

from weft_monitor import scenes

from ..paths import TOP

PICTURES = TOP / "docs/pictures"


@dataclass(frozen=True)
class Picture:
    """data: the image, as an address that loads nothing."""

    scene: scenes.Scene
    data: str


def of(paper):
    """Those of a paper of papers.toml."""
    return [Picture(scenes.scene(name), "data:image/png;base64,"
                    + base64.b64encode((PICTURES / f"{name}.png").read_bytes()).decode())
            for name in paper.get("scenes", [])]
