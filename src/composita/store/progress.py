"""Progress and cancellation: one callback for terminals, notebooks and web pages alike.

Long work takes ``progress``, a function that is called with a `Progress` now and then from the thread that
asked for the work, and ``cancel``, a `Cancellation` that any thread may set.

>>> heard = []
>>> def work(progress=silent, cancel=None):
...     for done in range(1, 3):
...         check(cancel)
...         progress(Progress("counting", done, 2, "shards"))
>>> work(progress=lambda step: heard.append(step.fraction))
>>> heard
[0.5, 1.0]
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from composita.store.errors import CancelledError


@dataclass(frozen=True)
class Progress:
    """How far a stage of the work has come, in its own unit; ``total`` is None where it is not known."""

    stage: str
    done: float
    total: float | None = None
    unit: str = ""

    @property
    def fraction(self) -> float | None:
        """The share that is done, from 0 to 1, or None where the total is not known."""
        return None if not self.total else min(1.0, self.done / self.total)


ProgressCallback = Callable[[Progress], None]


def silent(step: Progress) -> None:
    """Show nothing: the default callback."""


class Cancellation:
    """A flag that asks running work to stop at its next safe point.

    >>> stop = Cancellation()
    >>> stop.cancel()
    >>> stop.check()
    Traceback (most recent call last):
        ...
    composita.store.errors.CancelledError: stopped on request
    """

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked to stop."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Ask to stop."""
        self._event.set()

    def check(self) -> None:
        """Raise `CancelledError` if somebody asked to stop."""
        if self.cancelled:
            raise CancelledError("stopped on request")


def check(cancel: Cancellation | None) -> None:
    """Raise `CancelledError` if there is a cancellation and it was set."""
    if cancel is not None:
        cancel.check()
