"""The engine: work goes out as tasks and comes back as receipts.

A task is a function with small arguments, such as paths and parameters; it writes what it makes to a file
and returns a small receipt. Tasks run here, in threads (for kernels that release the interpreter lock), in
processes (where Python code dominates), or in any `concurrent.futures.Executor`, such as a Dask client's.

>>> from operator import mul
>>> receipts = run_tasks([Task(f"{n} squared", mul, (n, n)) for n in (2, 3)], engine=Engine(workers=2))
>>> sorted((task.key, receipt) for task, receipt in receipts)
[('2 squared', 4), ('3 squared', 9)]

Inside tasks the linear algebra library uses one thread, so that sums have the same order, and the same bits,
with any number of workers. That holds for libraries that are loaded when the first task starts: a module of
tasks that uses another one than NumPy's must import it at its top.
"""

from __future__ import annotations

import copy
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import ContextDecorator, closing, contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from composita.store.errors import CompositaError, UsageError, WorkerError
from composita.store.progress import Cancellation, Progress, ProgressCallback, check, silent

R = TypeVar("R")

ATTEMPTS = 3
_PATIENCE = 0.1  # seconds between two looks at the cancellation


@dataclass(frozen=True)
class Task(Generic[R]):
    """One piece of work: ``function(*arguments)``, called ``key`` in messages, worth ``weight`` of progress.

    For processes the function must be importable, and arguments and receipt must travel.
    """

    key: str
    function: Callable[..., R]
    arguments: tuple[Any, ...] = ()
    weight: float = 1


@dataclass(frozen=True)
class Engine:
    """Where tasks run: with one worker here, otherwise in threads or processes; or in an executor given.

    Of an executor given, ``workers`` says how many tasks it can run at once.

    >>> Engine(workers=0)
    Traceback (most recent call last):
        ...
    composita.store.errors.UsageError: expected at least 1 worker, got 0
    """

    workers: int = 1
    kind: Literal["threads", "processes"] = "threads"
    executor: Executor | None = None

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise UsageError(f"expected at least 1 worker, got {self.workers}")
        if self.kind not in ("threads", "processes"):
            raise UsageError(f"expected threads or processes, got {self.kind!r}")


HERE = Engine()


def available_cores() -> int:
    """Count the cores that this process may use, which can be fewer than the machine has."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_tasks(
    tasks: Iterable[Task[R]],
    *,
    engine: Engine = HERE,
    progress: ProgressCallback = silent,
    stage: str = "working",
    unit: str = "tasks",
    total: float | None = None,
    cancel: Cancellation | None = None,
) -> Generator[tuple[Task[R], R], None, None]:
    """Run tasks and give each with its receipt as soon as it is done, in any order.

    Tasks are taken from the iterable as they are needed, at most two for each worker at a time. ``total`` is
    the sum of their weights, and counted where ``tasks`` is a sequence. The first task that fails ends the
    run: what has not started is dropped, what runs is waited for, and then the error is raised, one of
    composita as it is, any other as the cause of a `WorkerError`. Cancellation, Ctrl-C and a caller who stops
    asking end it in the same way.

    When a worker process dies, all tasks in flight are lost with it and repeated in a new pool, the last time
    each by itself, so that only the task that kills its worker fails.
    """
    if total is None and isinstance(tasks, Sequence):
        total = sum(task.weight for task in tasks)
    done = 0.0
    here = engine.workers == 1 and engine.executor is None
    run = _run_here(iter(tasks), cancel) if here else _Run(engine).receipts(iter(tasks), cancel)
    with one_blas_thread, closing(run) as receipts:
        progress(Progress(stage, done, total, unit))
        for task, receipt in receipts:
            done += task.weight
            progress(Progress(stage, done, total, unit))
            yield task, receipt


# ---------------------------------------------------------------- one thread, here


def _run_here(tasks: Iterator[Task[R]], cancel: Cancellation | None) -> Generator[tuple[Task[R], R], None, None]:
    """Run the tasks one after the other in the calling thread, with plain tracebacks."""
    for task in tasks:
        check(cancel)
        with _named(task):
            receipt = task.function(*task.arguments)
        yield task, receipt


@contextmanager
def _named(task: Task[Any]) -> Iterator[None]:
    """Say which task an error comes from."""
    try:
        yield
    except CompositaError:
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise WorkerError(f"{task.key}: {reason}") from error


# ---------------------------------------------------------------- many workers


class _Run:
    """One run in an executor: what is in flight, and what is to be repeated because its worker died."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._executor = engine.executor or _new_pool(engine)
        self._in_flight: dict[Future[Any], tuple[Task[Any], int]] = {}
        self._lost: deque[tuple[Task[Any], int]] = deque()
        self._broken = False

    def receipts(
        self, tasks: Iterator[Task[R]], cancel: Cancellation | None
    ) -> Generator[tuple[Task[R], R], None, None]:
        """Keep the workers busy and give the receipts as they come."""
        try:
            while True:
                check(cancel)
                self._fill(tasks)
                if not self._in_flight:
                    return
                for future in wait(self._in_flight, _PATIENCE, FIRST_COMPLETED).done:
                    task, attempt = self._in_flight.pop(future)
                    try:
                        with _named(task):
                            receipt = future.result()
                    except WorkerError as error:
                        if not isinstance(error.__cause__, BrokenExecutor):
                            raise
                        self._lose(task, attempt, error.__cause__)
                    else:
                        yield task, receipt
        finally:
            self._stop()

    def _fill(self, tasks: Iterator[Task[Any]]) -> None:
        """Submit tasks, lost ones first, as many as may be in flight."""
        while len(self._in_flight) < 2 * self._engine.workers and not self._is_draining():
            if self._broken:
                self._executor.shutdown()
                self._executor, self._broken = _new_pool(self._engine), False
            if self._lost:
                task, attempt = self._lost.popleft()
            else:
                fresh = next(tasks, None)
                if fresh is None:
                    return
                task, attempt = fresh, 0
            try:
                with _holding_interrupts():
                    future = self._executor.submit(_call, task.function, task.arguments)
            except BrokenExecutor as error:  # a worker died since we looked
                self._lose(task, attempt + 1, error)
            else:
                self._in_flight[future] = task, attempt + 1

    def _is_draining(self) -> bool:
        """Whether nothing may be added now: the pool is to be rebuilt, or a task is to run alone."""
        if not self._in_flight:
            return False
        alone = any(attempt == ATTEMPTS for _, attempt in self._in_flight.values())
        return self._broken or alone or bool(self._lost and self._lost[0][1] == ATTEMPTS - 1)

    def _lose(self, task: Task[Any], attempt: int, error: BrokenExecutor) -> None:
        """Note that a task is to be repeated, or that it was its last attempt."""
        if self._engine.executor is not None:
            raise WorkerError(f"{task.key}: the executor that was given broke: {error}") from error
        if attempt == ATTEMPTS:
            raise WorkerError(
                f"{task.key}: its worker process died {ATTEMPTS} times; it was killed, ran out of memory "
                "(try fewer workers) or could not start (a script needs `if __name__ == '__main__':`)"
            ) from error
        self._lost.append((task, attempt))
        self._broken = True

    def _stop(self) -> None:
        """Drop what has not started and wait for what runs."""
        for future in self._in_flight:
            future.cancel()
        if self._engine.executor is None:
            self._executor.shutdown(cancel_futures=True)
        else:
            wait([future for future in self._in_flight if not future.cancelled()])


@contextmanager
def _holding_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait while a worker process may be starting, which inherits that it does not hear it.

    Otherwise a worker that has not come to `_start_worker` yet dies of it with a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _new_pool(engine: Engine) -> Executor:
    if engine.kind == "threads":
        return ThreadPoolExecutor(engine.workers, thread_name_prefix="composita")
    # Spawn: a forked child of a process with threads may wait for ever for a lock that nobody holds.
    return ProcessPoolExecutor(engine.workers, multiprocessing.get_context("spawn"), _start_worker)


# ---------------------------------------------------------------- inside a worker


def _start_worker() -> None:
    """Leave Ctrl-C to the process that asked for the work, and end with it even when it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _call(function: Callable[..., R], arguments: tuple[Any, ...]) -> R:
    """Run a task in a worker."""
    with one_blas_thread:
        try:
            return function(*arguments)
        except Exception as error:
            raise _travelling(error) from error.__cause__


def _travelling(error: Exception) -> Exception:
    """Give the error itself, or its text where it could not be rebuilt in another process.

    An exception that cannot be rebuilt there would break the whole pool. Copying one takes the same steps.
    """
    try:
        copy.copy(error)
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


class _OneBlasThread(ContextDecorator):
    """Limits linear algebra to one thread while a block, or decorated function, of this process is within it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                import numpy  # noqa: F401, ICN001 - only libraries that are loaded can be limited
                from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

                self._limits = threadpool_limits(1, user_api="blas")
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limits.restore_original_limits()


one_blas_thread = _OneBlasThread()
