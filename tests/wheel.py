"""Build the packages, install each into an environment that has nothing else, and run the demo from there.

    python -m tests.wheel --folder FOLDER [PYTHON...]

For each Python that is named, by default the one that runs this: the wheel is installed with the pinned versions of
what it needs, as wheels only; the demo is run with one thread of linear algebra and with two, and has to show the same
table. With the Python that runs this the source package is tried, too. ``--test`` also runs tests in each environment.
"""

import argparse
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PIP = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
PINNED = [*PIP, "--constraint", ROOT / "constraints.txt", "--only-binary", ":all:"]
NEEDED_BY_TESTS = ["pytest", "hypothesis", "scikit-learn", "safetensors", "distributed"]


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], check=False, capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def build(folder):
    """Build both packages, and look whether the wheel has every file of the package."""
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("composita/")}
    listed = run("git", "ls-files", "src/composita", cwd=ROOT).split()
    wanted = {path.removeprefix("src/") for path in listed if (ROOT / path).exists()}
    if wanted - held:
        sys.exit(f"the wheel lacks {sorted(wanted - held)}")
    return wheel, source


def environment(folder, python):
    """Make an environment without packages, and give its Python."""
    run(python, "-m", "venv", folder)
    return folder / "bin" / "python"


def demo(python, folder):
    """Run the demo with one thread and with two; give its table."""
    tables = []
    for threads in ("1", "2"):
        env = {**os.environ, "OPENBLAS_NUM_THREADS": threads}
        env.pop("PYTHONPATH", None)
        out = folder / f"demo-{threads}"
        said = run(python.parent / "composita", "demo", "--out", out, cwd=folder, env=env)
        assert "regression" in said
        tables.append((out / "run" / "table.txt").read_bytes())
    if tables[0] != tables[1]:
        sys.exit(f"{python}: the tables differ between one thread of linear algebra and two")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pythons", nargs="*", default=[sys.executable])
    parser.add_argument("--folder", type=Path, required=True, help="where to work; it must not exist yet")
    parser.add_argument("--test", nargs="*", default=[], help="tests to run, such as tests/store")
    asked = parser.parse_args()
    folder = asked.folder.absolute()
    folder.mkdir(parents=True)
    wheel, source = build(folder)
    for number, name in enumerate(asked.pythons):
        place = folder / f"try-{number}"
        python = environment(place, name)
        run(python, *PINNED, wheel)
        version = run(python, "-c", "import platform; print(platform.python_version())").strip()
        demo(python, place)
        print(f"Python {version}: wheel installed, demo the same with 1 and 2 threads", flush=True)  # noqa: T201
        if asked.test:
            run(python, *PINNED, *NEEDED_BY_TESTS)
            done = subprocess.run(
                [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *asked.test],
                cwd=ROOT, check=False, capture_output=True, text=True,
            )  # fmt: skip
            last = (done.stdout.strip().splitlines() or [done.stderr])[-1]
            print(f"Python {version}: {' '.join(asked.test)}: {re.sub('=+', '', last).strip()}", flush=True)  # noqa: T201
            if done.returncode:
                sys.exit(done.stdout[-6000:])
    place = folder / "try-source"
    python = environment(place, sys.executable)
    run(python, *PIP, "--constraint", ROOT / "constraints.txt", source)
    run(python.parent / "composita", "--version", cwd=folder)
    print("source package installed", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
