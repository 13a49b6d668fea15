"""Keys: every item, word or phrase, is two integers, and their order is the order of the rows.

A word's key is its number; a phrase's is its pattern (from 1), head, joint (the particle or preposition joined to the
head) and arguments, each in bits of its own, so that phrases of one head lie together, sorted by their first argument,
then by the next. Numbers of words follow the order of labels, so that sorted keys stay sorted when vocabularies are
united.

>>> upper, lower = pack(np.array([1]), np.array([3]), np.array([0]), np.array([[7, 0, -1, -1]]))
>>> unpack(upper, lower)
Fields(pattern=array([1]), head=array([3]), joint=array([0]), arguments=array([[ 7,  0, -1, -1]]))
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from composita.counting.patterns import MOST_ARGUMENTS

Int64Array = npt.NDArray[np.int64]
IntArray = npt.NDArray[np.integer[Any]]

WORD_BITS = 20
JOINT_BITS = 17
WORD_MASK = (1 << WORD_BITS) - 1
JOINT_MASK = (1 << JOINT_BITS) - 1
JOINT_SHIFT = WORD_BITS
HEAD_SHIFT = WORD_BITS + JOINT_BITS
PATTERN_SHIFT = HEAD_SHIFT + WORD_BITS


class Fields(NamedTuple):
    """What keys are made of; an argument that is absent is -1."""

    pattern: Int64Array  # (rows,) 0 for a word
    head: Int64Array  # (rows,)
    joint: Int64Array  # (rows,) 0 for none
    arguments: Int64Array  # (rows, 4)


def pack(pattern: IntArray, head: IntArray, joint: IntArray, arguments: IntArray) -> tuple[Int64Array, Int64Array]:
    """Put the fields into two integers."""
    places = arguments.astype(np.int64) + 1  # 0 is for an argument that is absent
    upper: Int64Array = (pattern.astype(np.int64) << PATTERN_SHIFT) | (head.astype(np.int64) << HEAD_SHIFT)
    upper |= (joint.astype(np.int64) << JOINT_SHIFT) | places[:, 0]
    lower = np.zeros_like(upper)
    for place in range(1, MOST_ARGUMENTS):
        lower = (lower << WORD_BITS) | places[:, place]
    return upper, lower


def unpack(upper: Int64Array, lower: Int64Array) -> Fields:
    """Take the fields out of the keys."""
    arguments = np.empty((len(upper), MOST_ARGUMENTS), np.int64)
    arguments[:, 0] = upper & WORD_MASK
    for place in range(1, MOST_ARGUMENTS):
        arguments[:, place] = (lower >> (WORD_BITS * (MOST_ARGUMENTS - 1 - place))) & WORD_MASK
    head = (upper >> HEAD_SHIFT) & WORD_MASK
    return Fields(upper >> PATTERN_SHIFT, head, (upper >> JOINT_SHIFT) & JOINT_MASK, arguments - 1)


def groups(upper: Int64Array) -> Int64Array:
    """Give pattern and head of each key as one integer: what is never parted when rows are divided."""
    return upper >> HEAD_SHIFT


def word_keys(numbers: Int64Array) -> Int64Array:
    """Give the upper keys of words; the lower ones are 0."""
    return numbers.astype(np.int64) << HEAD_SHIFT


def column_keys(role: IntArray, inverse: int, joint: IntArray, word: IntArray) -> Int64Array:
    """Give the keys of dependency contexts: role, direction, preposition, word."""
    roles: Int64Array = (role.astype(np.int64) << 1) | inverse
    keys: Int64Array = (roles << HEAD_SHIFT) | (joint.astype(np.int64) << JOINT_SHIFT) | word
    return keys


def renumber_joints(keys: Int64Array, numbers: Int64Array) -> Int64Array:
    """Replace the joints in keys of rows or columns; ``numbers`` says the new number of each old one."""
    if np.array_equal(numbers, np.arange(len(numbers))):
        return keys
    joints = numbers[(keys >> JOINT_SHIFT) & JOINT_MASK]
    renumbered: Int64Array = (keys & ~(JOINT_MASK << JOINT_SHIFT)) | (joints << JOINT_SHIFT)
    return renumbered
