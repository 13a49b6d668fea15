"""Work that takes long, done one piece after the other in a thread of its own, so that no question waits for all of it.

>>> background = Background()
>>> background.ask("sum", lambda: 1 + 1, patience=10.0)
2
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import TypeVar

_T = TypeVar("_T")

WAITING = 64
"""So many pieces of work may wait; more are not taken."""


class Background:
    """One thread that works for those who can wait; it ends with the program, whatever it is doing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[Hashable, Future[object]] = {}
        self._waiting: queue.SimpleQueue[tuple[Hashable, Callable[[], object]]] = queue.SimpleQueue()
        self._started = False

    def submit(self, key: Hashable, work: Callable[[], _T]) -> Future[_T] | None:
        """Take work, once for each key while it waits or goes on; None where too much waits already."""
        with self._lock:
            if key not in self._known:
                if len(self._known) >= WAITING:
                    return None
                self._known[key] = Future()
                self._waiting.put((key, work))
            if not self._started:
                threading.Thread(target=self._run, daemon=True, name="background").start()
                self._started = True
            return self._known[key]  # type: ignore[return-value]

    def ask(self, key: Hashable, work: Callable[[], _T], patience: float) -> _T | None:
        """Give what work results in; None if that takes longer than one's patience: it goes on, and can be asked again.

        What is done is not kept here, for what was learned is kept beside the lexicon.
        """
        future = self.submit(key, work)
        try:
            return None if future is None else future.result(patience)
        except TimeoutError:
            return None

    def _run(self) -> None:
        while True:
            key, work = self._waiting.get()
            future = self._known[key]
            try:
                result = work()
            except BaseException as error:
                self._forget(key)
                future.set_exception(error)
            else:
                self._forget(key)
                future.set_result(result)

    def _forget(self, key: Hashable) -> None:
        with self._lock:
            self._known.pop(key, None)
