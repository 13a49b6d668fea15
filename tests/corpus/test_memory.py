"""The compiled reader touches no memory that is not its own, whatever the bytes."""

import json
import os
import subprocess
import sys

import pytest

from tests.corpus.fuzz_reader import outcomes


def run(count, seed, **environment):
    run = subprocess.run(
        [sys.executable, "-m", "tests.corpus.fuzz_reader", str(count), str(seed)],
        capture_output=True, text=True, check=False, env={**os.environ, **environment},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def compiled(count, seed):
    return json.loads(json.dumps(list(outcomes(count, seed))))


def test_as_plain_python_on_arrays_that_refuse_negative_indices():
    assert run(150, 11, NUMBA_DISABLE_JIT="1") == compiled(150, 11)


@pytest.mark.slow
def test_compiled_with_checks_of_bounds(tmp_path):
    checked = run(3000, 12, NUMBA_BOUNDSCHECK="1", COMPOSITA_CACHE=str(tmp_path))
    assert checked == compiled(3000, 12)
