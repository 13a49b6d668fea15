"""The penalty lambda of ridge regressions, by generalised cross-validation (GCV).

With the eigenvalues s of the kernel of m examples and the energies e of the outputs along its eigenvectors,

    GCV(lambda) = m sum_k e_k / (s_k + lambda)^2  /  ( sum_k 1 / (s_k + lambda) )^2

(Golub, Heath & Wahba 1979: the mean squared residual over the squared mean of 1 - leverage; lambda^2 cancels). It is
exact for fewer and for more examples than dimensions. Eigenvalues that are 0 because there are more examples than
dimensions are not listed, but counted. An intercept takes one of the zero eigenvalues away from the lower sum.

Pooled over regressions both sums run over all of them, and m is the number of all examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from composita.functions.examples import Array, Int64Array
from composita.store.errors import UsageError

LOWEST, HIGHEST, PER_DECADE = -6, 3, 10
"""The grid of lambda, in powers of ten times the largest eigenvalue."""
GCV = "GCV"
FLAT = 1e-3
"""Values of GCV that differ by less than this part of the smaller are the same."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues and energies of a stack of B regressions of m examples each, k eigenvalues listed of each.

    Parameters
    ----------
    values
        The eigenvalues of the kernels, not negative: (B, k).
    energies
        How much of the outputs lies along each eigenvector: (B, k).
    rest
        The energy of the outputs outside the eigenvectors listed: (B,).
    members
        m.
    intercept
        Whether inputs and outputs were centred.

    """

    values: Array
    energies: Array
    rest: Array
    members: int
    intercept: bool = False

    @property
    def zeros(self) -> int:
        """How many eigenvalues are 0 and not listed; less one for the intercept, which may make it -1."""
        return self.members - int(self.values.shape[1]) - int(self.intercept)

    @property
    def total(self) -> Array:
        """The energy of the outputs of each regression: (B,)."""
        total: Array = self.energies.sum(1) + self.rest
        return total

    def sums(self, penalties: Array) -> tuple[Array, Array]:
        """Give the two sums of GCV for each regression at its penalties: (B, L) -> (B, L), (B, L)."""
        above, below = np.empty(penalties.shape), np.empty(penalties.shape)
        count, (_, width) = penalties.shape[1], self.values.shape
        step = max((1 << 21) // max(count * width, 1), 1)
        for first in range(0, len(penalties), step):
            part = slice(first, first + step)
            penalty = penalties[part]
            inverse = 1 / (self.values[part, None, :] + penalty[:, :, None])  # (b, L, k)
            below[part] = inverse.sum(2) + self.zeros / penalty
            np.square(inverse, out=inverse)
            above[part] = (inverse @ self.energies[part, :, None])[..., 0] + self.rest[part, None] / penalty**2
        return above, below


@dataclass(frozen=True, eq=False)
class Choice:
    """The penalties chosen for a number of regressions, and how clear the choices were.

    Parameters
    ----------
    penalties
        One for each regression: (B,).
    gcv
        The criterion there, or pooled over all; at infinite lambda, which predicts nothing (or the mean), it is
        ``without``.
    verdicts
        For each regression ``""``, or what is to be said of it: ``no signal``, ``interpolates`` or ``flat``.
    pooled
        Whether one penalty was chosen for all.
    grid, curve
        The penalties tried, and the criterion at each, pooled over all regressions.
    criterion
        ``GCV``, or ``new arguments``: the mean squared error on examples of which an argument is new.

    """

    penalties: Array
    gcv: Array
    without: Array
    verdicts: Sequence[str]
    pooled: bool
    grid: Array = field(default_factory=lambda: np.empty(0))
    curve: Array = field(default_factory=lambda: np.empty(0))
    criterion: str = GCV

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many regressions there are of each verdict."""
        kinds, counts = np.unique(np.array(self.verdicts, dtype=object).astype(str), return_counts=True)
        return {str(kind): int(count) for kind, count in zip(kinds, counts, strict=True) if kind}


def choice_of(grid: Array, curve: Array, without: float, criterion: str) -> Choice:
    """Choose the lambda of one regression where another criterion than GCV is least."""
    verdict = _verdict(curve, without)
    place = len(grid) - 1 if verdict == "no signal" else _place(curve)
    return Choice(
        grid[place : place + 1], curve[place : place + 1], np.array([without]), [verdict], True, grid, curve, criterion
    )  # fmt: skip


def relative_grid() -> Array:
    """Give the grid of lambda for a largest eigenvalue of 1."""
    return np.logspace(LOWEST, HIGHEST, (HIGHEST - LOWEST) * PER_DECADE + 1)


def choose(spectra: Sequence[Spectrum], *, pooled: bool = False, penalty: float | Array | None = None) -> Choice:
    """Choose lambda for all regressions of some stacks: one for each, or one for all, or those given.

    Where a regression's own curve is flat, lambda is that of the pooled curve.
    """
    count = sum(len(spectrum.values) for spectrum in spectra)
    if penalty is not None:
        return _given(spectra, penalty, count)
    together, grid, curve = _pool(spectra)
    gcv, without = _best(curve), _without(spectra)
    if pooled or count == 1:
        verdict = _verdict(curve, without)
        return Choice(
            np.full(count, together),
            np.full(count, gcv),
            np.full(count, without),
            [verdict] * count,
            pooled,
            grid,
            curve,
        )
    return _apart(spectra, together, grid, curve)


def _apart(spectra: Sequence[Spectrum], together: float, pooled_grid: Array, pooled_curve: Array) -> Choice:
    """Choose for each regression by its own curve."""
    relative = relative_grid()
    penalties, scores, empties, verdicts = [], [], [], []
    for spectrum in spectra:
        largest = spectrum.values.max(1, initial=0.0)
        usable = largest > 0
        grid = np.where(usable, largest, 1.0)[:, None] * relative  # (B, L)
        above, below = spectrum.sums(grid)
        with np.errstate(divide="ignore", invalid="ignore"):
            curves = spectrum.members * above / below**2
        nothing = spectrum.members * spectrum.total / max(spectrum.members - int(spectrum.intercept), 1) ** 2
        names = np.where(usable, _verdicts(curves, nothing), "flat")
        places = _places(curves)
        best = curves[np.arange(len(curves)), places]
        penalties.append(np.where(names == "flat", together, grid[np.arange(len(grid)), places]))
        scores.append(np.where(np.isfinite(best), best, nothing))
        empties.append(nothing)
        verdicts += names.tolist()
    chosen, gcv, without = map(np.concatenate, (penalties, scores, empties))
    return Choice(chosen, gcv, without, verdicts, False, pooled_grid, pooled_curve)


def _given(spectra: Sequence[Spectrum], penalty: float | Array, count: int) -> Choice:
    """Take the penalty that was asked for, and say how it scores."""
    penalties = np.broadcast_to(np.asarray(penalty, np.float64), (count,)).copy()
    if not (np.isfinite(penalties).all() and (penalties > 0).all()):
        raise UsageError(f"expected lambda above 0, got {penalty}")
    scores, empties, first = [], [], 0
    for spectrum in spectra:
        last = first + len(spectrum.values)
        above, below = spectrum.sums(penalties[first:last, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            scores.append((spectrum.members * above / below**2)[:, 0])
        empties.append(spectrum.members * spectrum.total / max(spectrum.members - int(spectrum.intercept), 1) ** 2)
        first = last
    return Choice(penalties, np.concatenate(scores), np.concatenate(empties), [""] * count, False)


def _pool(spectra: Sequence[Spectrum]) -> tuple[float, Array, Array]:
    """Choose one penalty for all regressions; also the grid and the curve."""
    largest = max((float(spectrum.values.max(initial=0.0)) for spectrum in spectra), default=0.0)
    grid = (largest or 1.0) * relative_grid()
    above, below = np.zeros(len(grid)), np.zeros(len(grid))
    for spectrum in spectra:
        a, b = spectrum.sums(np.broadcast_to(grid, (len(spectrum.values), len(grid))))
        above += a.sum(0)
        below += b.sum(0)
    members = sum(spectrum.members * len(spectrum.values) for spectrum in spectra)
    with np.errstate(divide="ignore", invalid="ignore"):
        curve = members * above / below**2
    if not largest or _verdict(curve, _without(spectra)) == "flat":
        return largest or 1.0, grid, curve
    return float(grid[_place(curve)]), grid, curve


def _without(spectra: Sequence[Spectrum]) -> float:
    """Give the pooled GCV at infinite lambda."""
    members = sum(spectrum.members * len(spectrum.values) for spectrum in spectra)
    free = sum((spectrum.members - int(spectrum.intercept)) * len(spectrum.values) for spectrum in spectra)
    return members * sum(float(spectrum.total.sum()) for spectrum in spectra) / max(free, 1) ** 2


def _places(curves: Array) -> Int64Array:
    """Give the places of the minima of curves (B, L); of equal ones the larger lambda."""
    usable = np.where(np.isfinite(curves), curves, np.inf)
    places: Int64Array = usable.shape[1] - 1 - np.argmin(usable[:, ::-1], axis=1)
    return places


def _place(curve: Array) -> int:
    return int(_places(curve[None])[0])


def _best(curve: Array) -> float:
    return float(curve[_place(curve)])


def _verdicts(curves: Array, without: Array) -> Array:
    """Say what is to be said of curves (B, L): flat, no signal or interpolates; or nothing."""
    finite = np.isfinite(curves)
    least = np.where(finite, curves, np.inf).min(1)
    most = np.maximum(np.where(finite, curves, -np.inf).max(1), without)
    flat = ~finite.all(1) | ~(without > 0) | (most <= least * (1 + FLAT))
    names = np.where(_places(curves) == 0, "interpolates", "")
    names = np.where(without <= least * (1 + FLAT), "no signal", names)
    return np.where(flat, "flat", names)


def _verdict(curve: Array, without: float) -> str:
    return str(_verdicts(curve[None], np.array([without]))[0])


def summary(choice: Choice) -> dict[str, Any]:
    """Give the choice as numbers that can be stored: a few quantiles where there are many regressions."""
    about: dict[str, Any] = {
        "regressions": len(choice.penalties), "pooled": choice.pooled, "lambda": _quantiles(choice.penalties),
        "gcv": float(np.mean(choice.gcv)), "gcv_without": float(np.mean(choice.without)), "verdicts": choice.counts,
    }  # fmt: skip
    if choice.criterion != GCV:
        about["criterion"] = choice.criterion
    if len(choice.grid):
        about |= {"grid": [float(x) for x in choice.grid], "curve": [_number(y) for y in choice.curve]}
    return about


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _quantiles(values: Array) -> list[float]:
    """Give the least, the median and the largest; of a single one itself."""
    found = np.unique(values)
    return [float(found[0])] if len(found) == 1 else [float(x) for x in np.quantile(values, [0, 0.5, 1])]
