"""Read damaged texts and print what came of each: run by `test_memory.py` with the compiler off, or checking bounds.

With the compiler off, arrays refuse negative indices too, which compiled code would take for places from the end.
"""

import json
import random
import sys

import numpy as np

from composita.corpus import reading
from composita.corpus.formats import FORMATS
from tests.corpus.test_reading import damage
from tests.corpus.texts import TEXTS, sentence


class Guarded(np.ndarray):
    def _check(self, index):
        for part in index if isinstance(index, tuple) else (index,):
            if isinstance(part, int | np.integer) and part < 0:
                raise IndexError(f"negative index {part}")

    def __getitem__(self, index):
        self._check(index)
        return super().__getitem__(index)

    def __setitem__(self, index, value):
        self._check(index)
        super().__setitem__(index, value)


class GuardedNumpy:
    def __getattr__(self, name):
        return getattr(np, name)

    def empty(self, *arguments):
        # Whatever is read before it is written shows.
        made = np.empty(*arguments)
        made.view(np.uint8).fill(0x7B)
        return made.view(Guarded)

    def zeros(self, *arguments):
        return np.zeros(*arguments).view(Guarded)

    def ndarray(self, *arguments):
        return np.ndarray(*arguments).view(Guarded)


def texts(count, seed):
    rng = random.Random(seed)
    for number in range(count):
        form = rng.choice(list(TEXTS))
        text = TEXTS[form]
        if number % 5 == 0:
            words = [rng.choice("abé") * rng.choice([1, 7, 8, 9, 15, 16, 17, 40]) + str(i % 7) for i in range(6)]
            form, text = "conllu", sentence(*words) * 2
        yield form, damage(text, rng) if number % 4 else bytes(rng.choices(b"\t\n\r#<s>/01ab\xc3\xa9\xff", k=80))


def outcomes(count, seed):
    for form, text in texts(count, seed):
        reader = reading.Reader(FORMATS[form])
        half = text.find(b"\n\n") + 2
        for piece in (text[:half], text[half:]):
            reader.feed(piece)
        tokens = reader.tokens()
        yield [[list(map(str, token)) for s in tokens for token in s], [(d.line, d.reason) for d in reader.drops]]


def main():
    import numba

    if numba.config.DISABLE_JIT:
        np.seterr(over="ignore")  # hashes overflow on purpose
        reading.np = GuardedNumpy()
        reading.ROOM = 1 << 14
    json.dump(list(outcomes(int(sys.argv[1]), int(sys.argv[2]))), sys.stdout)


if __name__ == "__main__":
    main()
