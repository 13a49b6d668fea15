"""A cluster: a real scheduler and real workers in processes of their own, in other folders than ours."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.experiment.helpers import write_small

from composita import Corpus, Counts
from composita.cli.main import main
from composita.corpus.synthetic import write_synthetic
from composita.store.cluster import cluster
from composita.store.engine import Task, run_tasks
from composita.store.errors import InputError, UsageError, WorkerError

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="needs signals of POSIX"),
    # Distributed leaves the closing of sockets and loops to the end of the process.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def square(n):
    return n * n


def where(_):
    return str(Path.cwd()), os.getpid()


def die_at_first(mark):
    """End the worker the first time, and only then."""
    mark = Path(mark)
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(_):
    raise InputError("bad", source="a.conllu", line=7)


@contextmanager
def started(folder, workers=2, nanny=True, host="127.0.0.1", places=()):
    """Start a scheduler and workers as their commands do; give the scheduler's address and the processes.

    ``places`` gives each worker a network of its own: the words before its command, and its address there.
    """
    folder.mkdir(exist_ok=True)
    file = folder / "scheduler.json"
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path]),
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",  # a worker takes its time to start again
    }
    dask = [sys.executable, "-m", "dask"]

    def start(where, *words, before=()):
        where.mkdir(exist_ok=True)
        with (where / "log").open("wb") as log:
            return subprocess.Popen([*before, *dask, *words], cwd=where, stdout=log, stderr=log, env=environment)

    here = ["--no-dashboard", "--scheduler-file", str(file), "--host"]
    processes = [start(folder / "s", "scheduler", "--port", "0", *here, host)]
    try:
        wait_for(file.exists, folder / "s" / "log")
        for number in range(workers):
            words = ["--nthreads", "1", "--nanny" if nanny else "--no-nanny"]
            words += ["--local-directory", str(folder / f"w{number}" / "local")]
            before, own = places[number] if places else ((), host)
            processes.append(start(folder / f"w{number}", "worker", *here, own, *words, before=before))
        for number in range(workers):
            log = folder / f"w{number}" / "log"
            wait_for(lambda log=log: "Registered to" in log.read_text(), log)
        yield json.loads(file.read_text())["address"], processes
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture(autouse=True)
def no_test_waits_for_ever():
    def stop(*_):
        raise TimeoutError("nothing came of it in a quarter of an hour")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(900)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def wait_for(true, log, seconds=300):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with started(tmp_path_factory.mktemp("cluster")) as (found, _):
        yield found


def test_tasks_are_done_elsewhere(address, tmp_path):
    with cluster(address, [tmp_path]) as engine:
        assert engine.workers == 2
        found = run_tasks([Task(str(n), square, (n,)) for n in range(20)], engine=engine)
        assert sorted(receipt for _, receipt in found) == [n * n for n in range(20)]
        places = [receipt for _, receipt in run_tasks([Task(str(n), where, (n,)) for n in range(8)], engine=engine)]
        assert all(folder != str(Path.cwd()) and number != os.getpid() for folder, number in places)
    assert not list(tmp_path.iterdir())


def test_an_error_is_that_of_the_task(address):
    with cluster(address) as engine, pytest.raises(InputError, match=r"a\.conllu:7: bad"):
        list(run_tasks([Task("first", refuse, (0,))], engine=engine))


def test_a_dead_worker_costs_only_its_task(address, tmp_path):
    tasks = [Task("dies", die_at_first, (str(tmp_path / "mark"),)), *(Task(str(n), square, (n,)) for n in range(20))]
    with cluster(address) as engine:
        found = {task.key: receipt for task, receipt in run_tasks(tasks, engine=engine)}
    assert found.pop("dies") == "done"
    assert found == {str(n): n * n for n in range(20)}


def test_a_task_that_kills_its_workers_is_named(address):
    with (
        cluster(address) as engine,
        pytest.raises(WorkerError, match=r"deadly: KilledWorker: .* all those workers died"),
    ):
        list(run_tasks([Task("deadly", die, (0,))], engine=engine))


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("nonsense", "it is no address of a machine and a port"),
        ("tcp://10.0.0.1", "it is no address"),
        ("{folder}/some.json", "it is no file that a scheduler wrote"),
        ("tcp://127.0.0.1:9", ""),
        ("nowhere.invalid:8786", ""),
    ],
)
def test_nobody_there(address, reason, tmp_path, monkeypatch):
    monkeypatch.setattr("composita.store.cluster.CONNECTING", 1.0)
    (tmp_path / "some.json").write_text("[]")
    address = address.format(folder=tmp_path)
    with pytest.raises(UsageError, match=f"no scheduler of Dask answers at .*{reason}.*: give"), cluster(address):
        pass


def test_no_workers(tmp_path):
    with started(tmp_path, workers=0) as (address, _):  # noqa: SIM117 - a line would be too long
        with pytest.raises(UsageError, match="has no workers"), cluster(address):
            pass


def test_workers_that_do_not_see_the_data(address, tmp_path, monkeypatch):
    monkeypatch.setattr("composita.store.cluster._sees", lambda mark: False)
    with pytest.raises(UsageError, match="must lie on a file system"), cluster(address, [tmp_path]):
        pass


def test_workers_of_another_version(address, monkeypatch):
    monkeypatch.setattr("composita.store.cluster._installed", lambda: ("0.0.1", "3.9"))
    from composita.store import cluster as module

    with pytest.raises(UsageError, match=r"has composita .* but here are composita 0\.0\.1"):
        module._check_versions({"tcp://worker": ("9.9", "3.9")})


def test_corpus_and_counts_are_the_same_as_on_one_machine(address, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for number in range(4):
        write_synthetic(Path(f"text-{number}.conllu.gz"), 20_000, number)
    options = ["--nouns", "300", "--verbs", "100", "--contexts", "500", "--phrases", "sv,svo", "-q"]
    for name, where in (("here", []), ("there", ["--cluster", address])):
        assert main(["encode", "text-*.conllu.gz", "--out", f"{name}-corpus", "-q", *where]) == 0
        assert main(["count", f"{name}-corpus", "--out", f"{name}-counts", *options, *where]) == 0
    capsys.readouterr()
    corpora = [Corpus.open(f"{name}-corpus") for name in ("here", "there")]
    assert corpora[0].fingerprint == corpora[1].fingerprint
    assert Counts.open("here-counts").fingerprint == Counts.open("there-counts").fingerprint
    assert files("here-corpus") == files("there-corpus")
    assert files("here-counts") == files("there-counts")


def files(folder):
    return {
        path.name: path.read_bytes()
        for path in sorted(Path(folder).iterdir())
        if path.suffix in (".parquet", ".safetensors")
    }


def test_a_worker_killed_in_the_middle_of_counting_changes_nothing(tmp_path):
    write_synthetic(tmp_path / "text.conllu", 300_000, 1)
    corpus = tmp_path / "corpus"
    assert main(["encode", str(tmp_path / "text.conllu"), "--out", str(corpus), "-q"]) == 0
    sizes = ["--nouns", "2000", "--verbs", "800", "--contexts", "2000"]
    counting = ["count", str(corpus), *sizes, "--phrases", "svo", "-q"]
    assert main([*counting, "--out", str(tmp_path / "here")]) == 0
    with started(tmp_path / "c", workers=2, nanny=False) as (address, processes):
        command = [sys.executable, "-m", "composita", *counting, "--out", str(tmp_path / "there"), "--cluster", address]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
            wait_for((tmp_path / "there").exists, tmp_path / "c" / "s" / "log")
            processes[1].kill()
            _, said = run.communicate(timeout=120)
        assert run.returncode == 0, said.decode()
    assert files(tmp_path / "here") == files(tmp_path / "there")


# ---------------------------------------------------------------- networks of their own


def ip(*words):
    return subprocess.run(["ip", *words], check=False, capture_output=True, text=True)


@pytest.fixture
def networks():
    """Give two workers a network each, joined to ours by a bridge, as machines are by a switch."""
    if not shutil.which("ip") or os.geteuid():
        pytest.skip("needs root and `ip` of iproute2 to make networks")
    names, bridge = [f"composita-{os.getpid()}-{n}" for n in (2, 3)], f"cmp{os.getpid()}"
    net = f"10.231.{os.getpid() % 250}"  # another one than a run has that was killed and could not tidy up
    commands = [("link", "add", bridge, "type", "bridge"), ("addr", "add", f"{net}.1/24", "dev", bridge),
                ("link", "set", bridge, "up")]  # fmt: skip
    for number, name in enumerate(names, 2):
        end = f"v{number}-{os.getpid()}"
        inside = ("netns", "exec", name, "ip")
        commands += [
            ("netns", "add", name), ("link", "add", end, "type", "veth", "peer", "name", "eth0", "netns", name),
            ("link", "set", end, "master", bridge), ("link", "set", end, "up"),
            (*inside, "link", "set", "lo", "up"), (*inside, "link", "set", "eth0", "up"),
            (*inside, "addr", "add", f"{net}.{number}/24", "dev", "eth0"),
        ]  # fmt: skip
    try:
        for words in commands:
            if (done := ip(*words)).returncode:
                pytest.skip(f"networks cannot be made here: {done.stderr.strip()}")
        yield f"{net}.1", [(("ip", "netns", "exec", name), f"{net}.{number}") for number, name in enumerate(names, 2)]
    finally:
        for name in names:
            ip("netns", "del", name)
        ip("link", "del", bridge)


def test_workers_in_networks_of_their_own_one_of_them_killed(networks, tmp_path):
    """A whole experiment, its scores among it, by workers that only the network joins: the same to the byte."""
    description, (host, places) = write_small(tmp_path), networks
    assert main(["run", str(description), "--out", str(tmp_path / "here"), "-q"]) == 0
    with started(tmp_path / "c", nanny=False, host=host, places=places) as (address, processes):
        command = ["run", str(description), "--out", str(tmp_path / "there"), "--cluster", address]
        with subprocess.Popen(
            [sys.executable, "-m", "composita", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as run:
            wait_for(lambda: list((tmp_path / "there").glob("stages/counts-*")), tmp_path / "c" / "s" / "log")
            processes[1].kill()
            said = run.communicate(timeout=800)[1]
        assert run.returncode == 0, said.decode()
        assert "lost" not in said.decode()
    for name in ("results.json", "predictions.parquet"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()
    stages = [path.name for path in (tmp_path / "here" / "stages").iterdir() if path.is_dir()]
    assert len(stages) > 5
    for name in stages:
        assert files(tmp_path / "here" / "stages" / name) == files(tmp_path / "there" / "stages" / name), name
