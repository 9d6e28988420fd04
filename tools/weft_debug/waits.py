"""What threads wait for."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .guest import Thread


class Wait:
    pass


def wait_of(thread: "Thread") -> Wait | None:
    return None
