"""Where the data of others lies, which is not part of the repository."""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("COMPOSITA_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")


def shared(name):
    """The path of a data file; the test is skipped, saying so, where it is absent."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{name} is not in {DATA.name!r} beside the checkout (set COMPOSITA_DATA)")
    return path
