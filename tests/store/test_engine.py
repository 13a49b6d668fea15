"""The engine: the same receipts wherever the work is done, and an orderly end whatever happens."""

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from composita.store import engine as engine_module
from composita.store.engine import ATTEMPTS, HERE, Engine, Task, available_cores, run_tasks
from composita.store.errors import CancelledError, InputError, MissingExtraError, UsageError, WorkerError
from composita.store.progress import Cancellation

ENGINES = {
    "here": HERE,
    "threads": Engine(workers=3),
    "processes": Engine(workers=2, kind="processes"),
}
every_engine = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES.keys())
pools = pytest.mark.parametrize("engine", [ENGINES["threads"], ENGINES["processes"]], ids=["threads", "processes"])
posix = pytest.mark.skipif(os.name != "posix", reason="needs signals of POSIX")


# ---------------------------------------------------------------- tasks, importable from a worker


def square(n):
    return n * n


def note(folder, key):
    """Leave a trace of having run."""
    Path(folder, f"{key}.{uuid.uuid4().hex}").touch()
    return key


def runs(folder, key):
    return len(list(Path(folder).glob(f"{key}.*")))


def die_at_first(folder, key, times):
    note(folder, key)
    if runs(folder, key) <= times:
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGKILL)
    return key


def note_slowly(folder, key):
    time.sleep(0.05)
    return note(folder, key)


def fail(kind):
    if kind == "input":
        raise InputError("bad", source="a.conllu", line=7)
    if kind == "extra":
        raise MissingExtraError("parsing", package="x", extra="y")
    if kind == "plain":
        raise ValueError("two\nlines")
    raise UntravelledError(1, detail=2)


class UntravelledError(Exception):
    """Cannot be rebuilt from its arguments, which would break a pool of processes."""

    def __init__(self, number, *, detail):
        super().__init__(f"{number} {detail}")


def blas_threads(_):
    np.ones((2, 2)) @ np.ones((2, 2))
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def wait_for(folder, key, name):
    note(folder, key)
    while not Path(folder, name).exists():
        time.sleep(0.01)


def sums(seed):
    """Floating point whose bits would show a change of the order of summation."""
    x = np.random.default_rng(seed).standard_normal((300, 300)).astype(np.float32)
    return (x @ x).tobytes()[:64]


# ---------------------------------------------------------------- receipts


@every_engine
def test_every_task_comes_back_once_with_its_receipt(engine):
    tasks = [Task(str(n), square, (n,)) for n in range(20)]
    found = list(run_tasks(tasks, engine=engine))
    assert sorted(receipt for _, receipt in found) == [n * n for n in range(20)]
    assert all(receipt == int(task.key) ** 2 for task, receipt in found)
    assert {task.key for task, _ in found} == {task.key for task in tasks}
    assert list(run_tasks([], engine=engine)) == []


def test_given_executors():
    with ThreadPoolExecutor(2) as pool:
        found = run_tasks([Task(str(n), square, (n,)) for n in range(9)], engine=Engine(2, executor=pool))
        assert sorted(receipt for _, receipt in found) == [n * n for n in range(9)]
        assert pool.submit(square, 2).result() == 4  # it is not ours to shut down


@every_engine
def test_the_same_bits_with_any_number_of_workers(engine):
    tasks = [Task(str(seed), sums, (seed,)) for seed in range(4)]
    expected = {task.key: receipt for task, receipt in run_tasks(tasks)}
    assert {task.key: receipt for task, receipt in run_tasks(tasks, engine=engine)} == expected


def test_tasks_are_taken_as_needed():
    taken = 0

    def tasks():
        nonlocal taken
        for n in range(100):
            taken = n + 1
            yield Task(str(n), square, (n,))

    for done, _ in enumerate(run_tasks(tasks(), engine=Engine(workers=2))):
        assert taken <= done + 1 + 4


@every_engine
def test_progress_is_told_from_the_calling_thread_by_weight(engine):
    heard, threads = [], set()

    def hear(step):
        heard.append(step)
        threads.add(threading.get_ident())

    tasks = [Task(str(n), square, (n,), weight=n) for n in (1, 2, 3)]
    list(run_tasks(tasks, engine=engine, progress=hear, stage="squaring", unit="numbers"))
    done = [step.done for step in heard]
    assert len(done) == 4
    assert (done[0], done[-1]) == (0, 6)
    assert done == sorted(done)
    assert {(step.stage, step.total, step.unit) for step in heard} == {("squaring", 6, "numbers")}
    assert threads == {threading.get_ident()}


def test_progress_without_a_known_total():
    heard = []
    list(run_tasks((Task(str(n), square, (n,)) for n in range(3)), progress=heard.append))
    assert [(step.done, step.total) for step in heard] == [(n, None) for n in range(4)]
    list(run_tasks((Task(str(n), square, (n,)) for n in range(3)), progress=heard.append, total=3))
    assert heard[-1].fraction == 1


@every_engine
def test_linear_algebra_runs_on_one_thread_inside_tasks(engine):
    before = blas_threads(None)
    for _, threads in run_tasks([Task(str(n), blas_threads, (n,)) for n in range(4)], engine=engine):
        assert threads
        assert set(threads) == {1}
    assert blas_threads(None) == before


def test_available_cores():
    assert 1 <= available_cores() <= (os.cpu_count() or 1)


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"workers": -1}, {"kind": "fibres"}])
def test_engines_that_cannot_be(wrong):
    with pytest.raises(UsageError, match="expected"):
        Engine(**wrong)


def test_importing_the_engine_is_light():
    heavy = "{'numba', 'scipy', 'pyarrow'}"
    code = f"import sys, composita.store.engine; sys.exit(bool({heavy} & sys.modules.keys()))"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---------------------------------------------------------------- errors


@every_engine
def test_errors_of_ours_pass_and_others_are_named(engine):
    with pytest.raises(InputError, match=r"a.conllu:7: bad") as caught:
        list(run_tasks([Task("part", fail, ("input",))] * 3, engine=engine))
    assert caught.value.line == 7
    with pytest.raises(MissingExtraError, match="pip install"):
        list(run_tasks([Task("part", fail, ("extra",))], engine=engine))
    with pytest.raises(WorkerError, match=r"^part: ValueError: two lines$") as other:
        list(run_tasks([Task("part", fail, ("plain",))], engine=engine))
    assert isinstance(other.value.__cause__, ValueError)
    with pytest.raises(WorkerError, match=r"^part: .*UntravelledError: 1 2$"):
        list(run_tasks([Task("part", fail, ("untravelled",))], engine=engine))


def test_work_that_cannot_travel_is_named():
    with pytest.raises(WorkerError, match=r"^part: "):
        list(run_tasks([Task("part", lambda: 1)], engine=ENGINES["processes"]))


@pools
def test_the_first_error_drops_what_is_queued_and_waits_for_what_runs(engine, tmp_path):
    tasks = [Task("bad", fail, ("plain",))] + [Task(f"n{n}", note_slowly, (str(tmp_path), f"n{n}")) for n in range(40)]
    with pytest.raises(WorkerError, match=r"^bad: "):
        list(run_tasks(tasks, engine=engine))
    after = len(list(tmp_path.iterdir()))
    assert after < 40
    time.sleep(0.2)
    assert len(list(tmp_path.iterdir())) == after
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("composita")]


@every_engine
def test_an_error_of_the_list_of_tasks_passes(engine):
    def tasks():
        yield Task("1", square, (1,))
        raise InputError("no such file")

    with pytest.raises(InputError, match="no such file"):
        list(run_tasks(tasks(), engine=engine))


@every_engine
def test_cancellation(engine, tmp_path):
    stop, seen = Cancellation(), []

    def hear(step):
        seen.append(step.done)
        if step.done:
            stop.cancel()

    tasks = (Task(str(n), note, (str(tmp_path), n)) for n in range(1000))
    with pytest.raises(CancelledError):
        list(run_tasks(tasks, engine=engine, cancel=stop, progress=hear))
    assert len(seen) <= 2 * engine.workers + 2
    assert len(list(tmp_path.iterdir())) < 20


def test_cancellation_while_a_task_runs(tmp_path):
    stop = Cancellation()
    threading.Timer(0.1, stop.cancel).start()
    threading.Timer(0.4, (tmp_path / "go").touch).start()
    tasks = [Task(str(n), wait_for, (str(tmp_path), n, "go")) for n in range(8)]
    with pytest.raises(CancelledError):
        list(run_tasks(tasks, engine=Engine(workers=2), cancel=stop))
    assert len(list(tmp_path.iterdir())) == 3  # the two that ran, and the sign


@pools
def test_a_caller_who_stops_asking_stops_the_work(engine, tmp_path):
    receipts = run_tasks([Task(str(n), note, (str(tmp_path), n)) for n in range(100)], engine=engine)
    next(receipts)
    receipts.close()
    assert len(list(tmp_path.iterdir())) <= 2 * engine.workers + 1


INTERRUPTED = """
import sys, time
from pathlib import Path
from composita.store.engine import Engine, Task, run_tasks
sys.path.insert(0, sys.argv[1])
from test_engine import note_slowly
if __name__ == "__main__":
    tasks = (Task(str(n), note_slowly, (sys.argv[2], str(n))) for n in range(100_000))
    try:
        for task, receipt in run_tasks(tasks, engine=Engine(2, sys.argv[3])):
            print("receipt", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@contextmanager
def run_script(tmp_path, kind):
    """Run the script in a session of its own, and leave nothing of it behind."""
    script, folder = tmp_path / "script.py", tmp_path / "notes"
    script.write_text(INTERRUPTED)
    folder.mkdir()
    command = [sys.executable, script, Path(__file__).parent, folder, kind]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@posix
@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_ctrl_c_ends_the_run(tmp_path, kind):
    with run_script(tmp_path, kind) as process:
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
        out, err = process.communicate(timeout=20)
    assert out.endswith("interrupted\n")
    assert err == ""
    assert process.returncode == 0


@posix
def test_workers_end_with_their_parent(tmp_path):
    with run_script(tmp_path, "processes") as process:
        process.stdout.readline()
        process.kill()
        # The pipes are closed only when the last worker has ended.
        process.communicate(timeout=20)
    before = len(list((tmp_path / "notes").iterdir()))
    time.sleep(0.2)
    assert len(list((tmp_path / "notes").iterdir())) == before


# ---------------------------------------------------------------- workers that die


@posix
def test_a_killed_worker_costs_only_the_tasks_in_flight(tmp_path):
    folder = str(tmp_path)
    tasks = [Task(f"n{n}", note, (folder, f"n{n}")) for n in range(30)]
    tasks[10] = Task("victim", die_at_first, (folder, "victim", 1))
    tasks[20] = Task("again", die_at_first, (folder, "again", 2))
    found = [receipt for _, receipt in run_tasks(tasks, engine=ENGINES["processes"])]
    assert sorted(found) == sorted(task.key for task in tasks)
    assert (runs(folder, "victim"), runs(folder, "again")) == (2, 3)
    repeated = [task.key for task in tasks if task.key.startswith("n") and runs(folder, task.key) > 1]
    assert len(repeated) <= 2 * 3  # three breaks, at most three others in flight, most of them not yet begun


@posix
def test_a_task_that_always_dies_is_the_one_that_is_named(tmp_path):
    folder = str(tmp_path)
    tasks = [Task(f"n{n}", note_slowly, (folder, f"n{n}")) for n in range(6)]
    tasks[2] = Task("poison", die_at_first, (folder, "poison", 99))
    with pytest.raises(WorkerError, match=rf"^poison: its worker process died {ATTEMPTS} times; .*memory"):
        list(run_tasks(tasks, engine=ENGINES["processes"]))
    assert runs(folder, "poison") == ATTEMPTS


@posix
def test_a_last_attempt_is_made_alone(tmp_path):
    """Else the innocent, on its last attempt, would be blamed for the death that the other causes."""
    run, folder = engine_module._Run(ENGINES["processes"]), str(tmp_path)
    poison = Task("poison", die_at_first, (folder, "poison", 99))
    innocent = Task("innocent", time.sleep, (0.5,))
    run._lost.extend([(poison, ATTEMPTS - 2), (innocent, ATTEMPTS - 1)])
    with pytest.raises(WorkerError, match=r"^poison: "):
        list(run.receipts(iter([]), None))


@posix
def test_a_given_executor_that_breaks_cannot_be_rebuilt(tmp_path):
    import multiprocessing

    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        tasks = [Task("victim", die_at_first, (str(tmp_path), "victim", 1))]
        with pytest.raises(WorkerError, match=r"^victim: the executor that was given broke"):
            list(run_tasks(tasks, engine=Engine(executor=pool)))


class Flaky(ThreadPoolExecutor):
    """A pool that is found broken when a task is submitted, each time after a few."""

    made = 0

    def __init__(self):
        super().__init__(2)
        type(self).made += 1
        self.left = 3

    def submit(self, function, /, *arguments):
        self.left -= 1
        if self.left < 0:
            raise BrokenExecutor("found broken")
        return super().submit(function, *arguments)


def test_a_pool_found_broken_at_submission(monkeypatch):
    monkeypatch.setattr(engine_module, "_new_pool", lambda engine: Flaky())
    tasks = [Task(str(n), square, (n,)) for n in range(10)]
    found = list(run_tasks(tasks, engine=ENGINES["threads"]))
    assert sorted(receipt for _, receipt in found) == [n * n for n in range(10)]
    assert Flaky.made > 1


class Slow(ThreadPoolExecutor):
    """An executor of somebody else, whose futures can be cancelled behind our back."""

    def submit(self, function, /, *arguments):
        future = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_a_task_that_somebody_else_cancelled_is_named():
    with Slow(1) as pool, pytest.raises(WorkerError, match=r"^part: CancelledError"):
        list(run_tasks([Task("part", partial(square, 1))], engine=Engine(executor=pool)))
