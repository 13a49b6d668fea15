"""Kill -9 at random moments of every stage: run again, the result is that of a run that nothing disturbed.

``COMPOSITA_KILLS=100`` ends a hundred runs instead of a few.
"""

import os
import random
import sys

import pytest

from composita.store.errors import NotFoundError
from composita.store.folder import Folder
from tests.faults.stages import STAGES, content

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs fork and /proc")
KILLS = int(os.environ.get("COMPOSITA_KILLS", "18"))


@pytest.mark.parametrize("stage", STAGES)
def test_killed_at_random_moments(stage, nursery, expected, seconds, tmp_path):
    rng = random.Random(f"{stage} {KILLS}")
    left = -(-KILLS // len(STAGES))
    round_ = 0
    while left > 0:
        out = tmp_path / f"out-{round_}"
        round_ += 1
        for _ in range(min(left, 4)):  # the same folder again and again, each time a little further
            left -= 1
            nursery.start(stage, out).kill(rng.uniform(0, seconds[stage] * 0.9))
            check_absent_or_whole(out, expected[stage])
        error, message = nursery.start(stage, out).end()
        # A run that was done before it was to be killed is not begun again: encoding would append the same text.
        assert not error or (stage == "encode" and "already in the corpus" in message), message
        assert content(out) == expected[stage]
        assert not list(out.rglob("*.partial")) and not list(out.rglob("pending"))


def check_absent_or_whole(out, expected):
    """A folder that a killed run left says that it is not there, or is the whole result."""
    try:
        folder = Folder.open(out, version=None)
    except NotFoundError:
        return
    if not folder.meta.get("unfinished"):
        assert content(out).items() <= expected.items()
