"""The loops over cells: sums, weights, products with dense matrices, and non-negative least squares."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from composita.store.kernels import inlined_kernel, kernel

Array = npt.NDArray[Any]

ROUNDING = 1e-12
"""Information below this is what rounding leaves of none: ln(n / E) where n is just what chance gives."""

# The numbers of the weightings: those of `plain_score`, and those of `association`.
NONE, LOG, LOG1P, EPMI, DICE, TFIDF = range(6)
TSCORE, ZSCORE, CHI_SQUARED, SIMPLE_LL, LL = range(10, 15)


# ---------------------------------------------------------------- sums


@kernel
def add_columns(indptr: Array, indices: Array, data: Array, rows: Array, sums: Array, found: Array) -> None:
    """Add the cells of some rows to the sums of their columns, and count them."""
    for row in rows:
        for cell in range(indptr[row], indptr[row + 1]):
            sums[indices[cell]] += data[cell]
            found[indices[cell]] += 1


@kernel
def row_sums(indptr: Array, data: Array, sums: Array) -> None:
    """Add up each row."""
    for row in range(len(sums)):
        total = 0.0
        for cell in range(indptr[row], indptr[row + 1]):
            total += data[cell]
        sums[row] = total


# ---------------------------------------------------------------- weights


@inlined_kernel
def amount(data: Array, begin: int, end: int) -> Any:  # noqa: ANN401 - a sum and two cells
    """Give the sum of some cells, and the least and the largest of them."""
    total = 0
    least = most = data[begin] if begin < end else data.dtype.type(0)
    for cell in range(np.uintp(begin), np.uintp(end)):
        total += data[cell]
        least, most = min(least, data[cell]), max(most, data[cell])
    return total, least, most


@inlined_kernel
def information(
    count: int, column: int, unit: float, log_column: Array, logs: Array, less: float, lowest: float, local: bool
) -> Any:  # noqa: ANN401 - NumPy's logarithm is of any kind
    """Compute the information of a cell whose count is in the table of logarithms; 0 if it is not above ``lowest``."""
    value = logs[np.uint32(count)] + log_column[np.uint32(column)] - less
    value = value if value > lowest else 0.0
    return value * (count / unit) if local else value


@inlined_kernel
def inform(
    indices: Array,
    data: Array,
    begin: int,
    end: int,
    unit: float,
    log_column: Array,
    logs: Array,
    less: float,
    lowest: float,
    local: bool,
    used: int,
    out_indices: Array,
    out_data: Array,
) -> Any:  # noqa: ANN401 - a number with the size of a pointer
    """Write the information above ``lowest`` of a row of whole counts from 0 to below ``len(logs)``.

    Every cell is written, and the next one over it if it is not kept: a branch that goes either way costs more. Numbers
    without a sign are no negative indices, which would have to be looked for; so the caller must know that there are
    none. Four cells at a time do not wait for each other.
    """
    about = unit, log_column, logs, less, lowest, local
    one, two, three, four = np.uintp(1), np.uintp(2), np.uintp(3), np.uintp(4)
    cell, last, place = np.uintp(begin), np.uintp(end), np.uintp(used)
    while cell + four <= last:
        p, q, r, s = indices[cell], indices[cell + one], indices[cell + two], indices[cell + three]
        a, b = information(data[cell], p, *about), information(data[cell + one], q, *about)
        c, d = information(data[cell + two], r, *about), information(data[cell + three], s, *about)
        out_indices[place], out_data[place] = p, a
        place += np.uintp(a != 0.0)
        out_indices[place], out_data[place] = q, b
        place += np.uintp(b != 0.0)
        out_indices[place], out_data[place] = r, c
        place += np.uintp(c != 0.0)
        out_indices[place], out_data[place] = s, d
        place += np.uintp(d != 0.0)
        cell += four
    while cell < last:
        a = information(data[cell], indices[cell], *about)
        out_indices[place], out_data[place] = indices[cell], a
        place += np.uintp(a != 0.0)
        cell += one
    return np.intp(place)


@kernel
def weigh_by_information(
    indptr: Array,
    indices: Array,
    data: Array,
    rows: Array,
    unit: float,
    log_column: Array,
    logs: Array,
    shift: float,
    clip: bool,
    local: bool,
    ends: Array,
    out_indices: Array,
    out_data: Array,
) -> int:
    """Write the (positive, local) pointwise mutual information of some rows, without the cells that become 0.

    ``log_column`` is ln(N / n_c), or -inf for a column that the core does not have; ``logs`` holds ln(n / unit) of
    small whole numbers n, so that hardly a logarithm is taken, and is empty where counts are not whole. Give -1 where a
    number is negative.
    """
    used = 0
    lowest = ROUNDING if clip else -np.inf  # which a column gives that the core lacks, and an empty cell
    for place in range(len(rows)):
        begin, end = indptr[rows[place]], indptr[rows[place] + 1]
        total, least, most = amount(data, begin, end)
        if least < 0:
            return -1
        less = np.log(total / unit) + shift
        if most < len(logs):
            row = indices, data, begin, end, unit, log_column, logs, less, lowest
            if local:  # the compiler makes two loops of these, neither of which asks
                used = inform(*row, True, used, out_indices, out_data)
            else:
                used = inform(*row, False, used, out_indices, out_data)
            ends[place] = used
            continue
        for cell in range(begin, end):
            count = data[cell]
            number = int(count)
            column = indices[cell]
            value = (logs[number] if number < len(logs) else np.log(count / unit)) + log_column[column] - less
            if value > lowest and value != 0.0:
                out_indices[used] = column
                out_data[used] = value * (count / unit) if local else value
                used += 1
        ends[place] = used
    return used


@inlined_kernel
def term(observed: float, expected: float) -> Any:  # noqa: ANN401 - NumPy's logarithm is of any kind
    """Compute o ln(o / e), which is 0 where nothing was observed."""
    return observed * np.log(observed / expected) if observed > 0.0 and expected > 0.0 else 0.0


@inlined_kernel
def plain_score(kind: int, n: float, r: float, c: float, total: float, documents: float) -> Any:  # noqa: ANN401
    """Compute a weight that does not ask how sure it is; ``documents`` is D / d."""
    if kind == NONE:
        return n
    if kind == LOG:
        return max(0.0, np.log(n)) if n > 0.0 else 0.0
    if kind == LOG1P:
        return np.log1p(n)
    if c <= 0.0:
        return 0.0
    if kind == EPMI:
        return n * total / (r * c)
    if kind == DICE:
        return 2.0 * n / (r + c)
    return n * np.log(documents)


@inlined_kernel
def association(kind: int, n: float, r: float, c: float, total: float) -> Any:  # noqa: ANN401
    """Compute how surely row and column attract each other; 0 where they do not."""
    expected = r * c / total
    if n <= expected or c <= 0.0:
        return 0.0
    if kind == TSCORE:
        return (n - expected) / np.sqrt(n)
    if kind == ZSCORE:
        return (n - expected) / np.sqrt(expected)
    if kind == SIMPLE_LL:
        return 2.0 * (n * np.log(n / expected) - (n - expected))
    # The table of two by two; a projected row is not of the core, so that the rest may be less than nothing.
    o12, o21, o22 = max(0.0, r - n), max(0.0, c - n), max(0.0, total - r - c + n)
    if kind == LL:
        e12, e21, e22 = r - expected, (total - r) * c / total, (total - r) * (total - c) / total
        return 2.0 * (term(n, expected) + term(o12, e12) + term(o21, e21) + term(o22, e22))
    below = r * c * (total - r) * (total - c)
    return total * (n * o22 - o12 * o21) ** 2 / below if below > 0.0 else 0.0


@kernel
def weigh_by_score(
    indptr: Array,
    indices: Array,
    data: Array,
    rows: Array,
    unit: float,
    kind: int,
    columns: Array,
    found: Array,
    total: float,
    size: float,
    ends: Array,
    out_indices: Array,
    out_data: Array,
) -> int:
    """Write the scores of some rows, without the cells that become 0; give -1 where a number is negative."""
    used = 0
    for place in range(len(rows)):
        begin, end = indptr[rows[place]], indptr[rows[place] + 1]
        whole, least, _ = amount(data, begin, end)
        if least < 0:
            return -1
        for cell in range(begin, end):
            column = indices[cell]
            n, r, c = data[cell] / unit, whole / unit, columns[column]
            if kind < TSCORE:
                value = plain_score(kind, n, r, c, total, size / max(1.0, found[column]))
            else:
                value = association(kind, n, r, c, total)
            if value != 0.0:
                out_indices[used] = column
                out_data[used] = value
                used += 1
        ends[place] = used
    return used


@kernel
def keep_columns(
    indptr: Array, indices: Array, data: Array, number: Array, ends: Array, out_indices: Array, out_data: Array
) -> int:
    """Keep the cells whose column has a new number."""
    used = 0
    for row in range(len(indptr) - 1):
        for cell in range(indptr[row], indptr[row + 1]):
            if number[indices[cell]] >= 0:
                out_indices[used] = number[indices[cell]]
                out_data[used] = data[cell]
                used += 1
        ends[row] = used
    return used


@kernel
def row_lengths(indptr: Array, data: Array, squared: bool, lengths: Array) -> None:
    """Compute the sum of the amounts of each row, or the root of the sum of their squares."""
    for row in range(len(lengths)):
        total = 0.0
        for cell in range(indptr[row], indptr[row + 1]):
            value = float(data[cell])
            total += value * value if squared else abs(value)
        lengths[row] = np.sqrt(total) if squared else total


@kernel
def divide_rows(indptr: Array, data: Array, lengths: Array, out: Array) -> None:
    """Divide each row by its length; a row of zeros stays as it is."""
    for row in range(len(lengths)):
        factor = 1.0 / lengths[row] if lengths[row] > 0.0 else 0.0
        for cell in range(indptr[row], indptr[row + 1]):
            out[cell] = data[cell] * factor


# ---------------------------------------------------------------- products


@kernel
def times(indptr: Array, indices: Array, data: Array, dense: Array, out: Array, first: int, last: int) -> None:
    """Multiply the rows ``first`` to ``last`` by a dense matrix, four cells at a time."""
    size = dense.shape[1]
    for row in range(first, last):
        for j in range(size):
            out[row, j] = 0.0
        cell, end = indptr[row], indptr[row + 1]
        while cell + 4 <= end:
            a, b, c, d = data[cell], data[cell + 1], data[cell + 2], data[cell + 3]
            p, q, r, s = indices[cell], indices[cell + 1], indices[cell + 2], indices[cell + 3]
            for j in range(size):
                out[row, j] += a * dense[p, j] + b * dense[q, j] + c * dense[r, j] + d * dense[s, j]
            cell += 4
        while cell < end:
            a, p = data[cell], indices[cell]
            for j in range(size):
                out[row, j] += a * dense[p, j]
            cell += 1


# ---------------------------------------------------------------- non-negative least squares


@kernel
def descend(
    weights: Array, gradient: Array, gram: Array, sweeps: int, tolerance: float, enough: float, first: int, last: int
) -> int:
    """Lower |x - wH|^2 for each row w of ``weights`` by coordinate descent, never below 0; give the sweeps of all rows.

    ``gram`` is H H^T, ``gradient`` holds w H H^T - x H^T of each row and is kept up to date, which costs nothing for
    coordinates that stay at 0. A row is done when a sweep has lowered it by less than ``enough`` times what the first
    sweep did, or has changed no coordinate by more than ``tolerance`` times the largest.
    """
    size = gram.shape[0]
    total = 0
    for row in range(first, last):
        w, g = weights[row], gradient[row]
        before = 0.0
        for sweep in range(sweeps):
            total += 1
            gain, change, most = 0.0, 0.0, 0.0
            for j in range(size):
                old = w[j]
                if (old == 0.0 and g[j] >= 0.0) or gram[j, j] <= 0.0:
                    continue
                new = max(old - g[j] / gram[j, j], np.float32(0.0))
                step = new - old
                most = max(most, new)
                if step != 0.0:
                    w[j] = new
                    gain += step * step * gram[j, j]
                    change = max(change, abs(step))
                    line = gram[j]
                    for i in range(size):
                        g[i] += step * line[i]
            if sweep == 0:
                before = gain
            if change <= tolerance * most or gain <= enough * before:
                break
    return total
