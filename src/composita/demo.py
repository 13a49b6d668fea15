"""What `make demo` shows so far: synthetic text, encoded, looked at and counted.

The text is nonsense in the shape of parsed English, made by `composita synth`; it has sentences and arguments, but no
meaning.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from composita.cli.main import main

FOLDER = Path("demo")
TEXT = FOLDER / "synthetic.conllu.gz"
CORPUS = FOLDER / "corpus"
COUNTS = FOLDER / "counts"


def demo() -> int:
    """Run the commands of the demonstration, showing each before it runs."""
    for made in (CORPUS, COUNTS):
        shutil.rmtree(made, ignore_errors=True)
    FOLDER.mkdir(exist_ok=True)
    say("composita demo: synthetic text (nonsense words, real grammar), encoded, looked at and counted")
    commands = (
        ["synth", "--tokens", "300K", "--out", str(TEXT)],
        ["encode", str(TEXT), "--out", str(CORPUS)],
        ["info", str(CORPUS)],
        ["sentences", str(CORPUS), "--pos", "v", "--relation", "root", "-n", "5"],
        ["count", str(CORPUS), "--out", str(COUNTS), "--adjectives", "1000"],
    )
    for command in commands:
        say(f"\n$ composita {' '.join(command)}")
        if code := main(command):
            return code
    say(f"\nThe corpus is in {CORPUS}, the counts are in {COUNTS}.")
    say("Your own: composita encode FILES --out CORPUS (see README.md)")
    return 0


def say(line: str) -> None:
    """Print a line of the demonstration itself."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(demo())
