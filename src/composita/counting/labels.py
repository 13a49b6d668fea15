"""Labels of items and of columns, made of their keys only where somebody wants to read them.

>>> from composita.counting.patterns import load_patterns
>>> names = Names(("cat-n", "dog-n", "chase-v"), load_patterns("svo"), ())
>>> upper, lower = pack(np.array([0, 1]), np.array([1, 2]), np.array([0, 0]), np.array([[-1] * 4, [0, 1, -1, -1]]))
>>> names.labels(upper, lower)
['dog-n', 'chase-v(cat-n, dog-n)']
>>> names.display(upper, lower)
['dog', 'dog chase cat']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from composita.corpus.labels import Role
from composita.counting.keys import HEAD_SHIFT, JOINT_MASK, JOINT_SHIFT, WORD_MASK, Fields, pack, unpack
from composita.counting.patterns import Pattern
from composita.counting.words import split_label

Int64Array = npt.NDArray[np.int64]
ABSENT = "_"


@dataclass(frozen=True)
class Names:
    """The strings that numbers in keys stand for."""

    words: tuple[str, ...]
    patterns: tuple[Pattern, ...]  # the number in a key is the place, from 1
    joints: tuple[str, ...]  # likewise

    @cached_property
    def ids(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def heads(self, fields: Fields) -> pa.Array:
        """Write the head of each item: ``chase-v``, or ``live_in-v`` where something is joined."""
        pairs, inverse = np.unique(fields.head << 20 | fields.joint, return_inverse=True)
        strings = []
        for head, joint in zip((pairs >> 20).tolist(), (pairs & JOINT_MASK).tolist(), strict=True):
            word = self.words[head]
            strings.append(f"{word[:-2]}_{self.joints[joint - 1]}{word[-2:]}" if joint else word)
        return pa.array(strings, pa.string()).take(pa.array(inverse))

    def labels(self, upper: Int64Array, lower: Int64Array) -> list[str]:
        """Write items as labels."""
        labels: list[str] = self.label_array(upper, lower).to_pylist()
        return labels

    def label_array(self, upper: Int64Array, lower: Int64Array) -> pa.Array:
        """Write items as labels, in an array of strings."""
        fields = unpack(upper, lower)
        heads = self.heads(fields)
        if not fields.pattern.any():
            return heads
        words = pa.array([*self.words, ABSENT], pa.string())
        sizes = np.array([0, *(len(pattern.arguments) for pattern in self.patterns)])[fields.pattern]
        parts, places = [], []
        for size in np.unique(sizes).tolist():
            rows = np.flatnonzero(sizes == size)
            part = heads.take(pa.array(rows))
            if size:
                # Absent is -1, which is the last of the words.
                numbers = np.where(fields.arguments[rows, :size] < 0, len(self.words), fields.arguments[rows, :size])
                arguments = [words.take(pa.array(column)) for column in numbers.T]
                joined = pc.binary_join_element_wise(*arguments, ", ") if size > 1 else arguments[0]
                part = pc.binary_join_element_wise(part, "(", joined, ")", "")
            parts.append(part)
            places.append(rows)
        return pa.concat_arrays(parts).take(pa.array(np.argsort(np.concatenate(places), kind="stable")))

    def display(self, upper: Int64Array, lower: Int64Array) -> list[str]:
        """Write items as people say them: ``dog chase cat``, ``dog live in house``."""
        fields = unpack(upper, lower)
        return [
            self._display(*row)
            for row in zip(
                fields.pattern.tolist(),
                fields.head.tolist(),
                fields.joint.tolist(),
                fields.arguments.tolist(),
                strict=True,
            )
        ]

    def _display(self, pattern: int, head: int, joint: int, arguments: Sequence[int]) -> str:
        spoken = self.words[head][:-2] + (f" {self.joints[joint - 1].replace('_', ' ')}" if joint else "")
        if not pattern:
            return spoken
        places = self.patterns[pattern - 1].arguments
        said = {
            place.name: self.words[a][:-2] if a >= 0 else ABSENT for place, a in zip(places, arguments, strict=False)
        }
        return " ".join(said.get(name, spoken) for name in self.patterns[pattern - 1].display)

    def key(self, label: str) -> list[tuple[int, int]]:
        """Read a label: the keys that it can have, one for each pattern with as many arguments.

        >>> Names(("cat-n",), (), ()).key("dog-n")
        []
        """
        if label in self.ids:
            return [(self.ids[label] << HEAD_SHIFT, 0)]
        opened = [place for place, sign in enumerate(label) if sign == "("] if label.endswith(")") else []
        return [key for place in opened for key in self._phrase_keys(label[:place], label[place + 1 : -1])]

    def _phrase_keys(self, head: str, inside: str) -> list[tuple[int, int]]:
        places = [-1 if word == ABSENT else self.ids.get(word, -2) for word in inside.split(", ")]
        found = []
        if -2 not in places and len(places) <= 4:
            arguments = np.array([[*places, *[-1] * (4 - len(places))]])
            for number, joint in self._head_keys(head):
                for place, pattern in enumerate(self.patterns, 1):
                    if len(pattern.arguments) == len(places):
                        packed = pack(np.array([place]), np.array([number]), np.array([joint]), arguments)
                        found.append((int(packed[0][0]), int(packed[1][0])))
        return found

    def _head_keys(self, head: str) -> list[tuple[int, int]]:
        found = [(self.ids[head], 0)] if head in self.ids else []
        if (parts := split_label(head)) is not None:
            lemma, letter = parts
            for place in (place for place, sign in enumerate(lemma) if sign == "_"):
                word, joint = f"{lemma[:place]}-{letter}", lemma[place + 1 :]
                if word in self.ids and joint in self.joints:
                    found.append((self.ids[word], self.joints.index(joint) + 1))
        return found


def column_labels(keys: Int64Array, contexts: Sequence[str], joints: Sequence[str]) -> list[str]:
    """Write dependency contexts: ``object:cat-n``, ``subject-of:chase-v``, ``oblique_in:house-n``."""
    labels = []
    for key in keys.tolist():
        role, joint, word = key >> HEAD_SHIFT, (key >> JOINT_SHIFT) & JOINT_MASK, contexts[key & WORD_MASK]
        name = Role(role >> 1).name.lower() + (f"_{joints[joint - 1]}" if joint else "")
        labels.append(f"{name}{'-of' if role & 1 else ''}:{word}")
    return labels
