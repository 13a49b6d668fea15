"""Functions: multilinear maps, held as a sum of rank-one terms or as a dense tensor.

A function of arity n takes its arguments one at a time, in the order of application. As a sum of terms it is

    f(x_1)...(x_n) = sum_t  w_t (a^1_t . x_1) ... (a^n_t . x_n) y_t

with an output vector y_t and one row a^i_t for each argument, to which terms refer by number. Where a term has a
constant beside its row, (a . x + constant), the map is affine in that argument: linear in its homogeneous coordinates.

The laws, by example: application is linear, and to apply one argument after the other is to apply all.

>>> rng = np.random.default_rng(0)
>>> f = Function.from_dense(rng.normal(size=(4, 3, 2)))    # output x second argument x first argument
>>> x, y, z = rng.normal(size=2), rng.normal(size=2), rng.normal(size=3)
>>> np.allclose(f(x + 2 * y)(z), f(x)(z) + 2 * f(y)(z))
True
>>> np.allclose((3 * f + f)(x)(z), 4 * f(x)(z))
True
>>> np.allclose(f.apply_all(x[None], z[None])[0], np.einsum("ijk,k,j->i", f.dense(), x, z))
True
>>> print(f)
Function(N -> N -> S: 4 x 3 x 2, dense)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from composita.functions.examples import Array, names_of
from composita.functions.rows import Rows
from composita.store.errors import UsageError, plural

if TYPE_CHECKING:
    from composita.functions.explanation import Explanation

DENSE_LIMIT = 1 << 31
"""The most bytes that `Function.dense` makes unless told otherwise."""
BLOCK = 1 << 21  # numbers of an intermediate result when a batch is applied


@dataclass(frozen=True)
class Attested:
    """How the terms of a function came from examples, which is what an explanation needs.

    Parameters
    ----------
    count
        How many examples there were.
    penalty
        For one-step ridge lambda, with which the weights of the examples are solved for; 0 where each term is an
        example, and its linear forms give the weight.
    weights
        The weights of the examples in the regression.
    mean
        ``none``, ``centre`` (the mean of the outputs was taken off before, and is the last term) or ``intercept``.

    """

    count: int
    penalty: float = 0.0
    weights: Array | None = None
    mean: str = "none"


MEANS = ("none", "centre", "intercept")


@dataclass(frozen=True, eq=False, repr=False)
class Function:
    """A multilinear map, immutable; called with a vector it applies its first argument.

    Parameters
    ----------
    output
        The output vectors of the terms; None if the function is dense.
    factors
        The rows of the terms for each argument, in the order of application.
    weights
        A number for each term, or None if all are 1.
    tensor
        The dense tensor, (output, last argument, ..., first argument); the axis of an affine argument is one longer.
    sizes
        How many numbers each argument has.
    names
        What the arguments are called.
    types
        The types of the arguments in the order of application, then that of the result.
    labels
        What the examples are called.
    attested
        How the terms came from examples.
    training
        The report of the training, where there was one.
    origin
        The function that it comes from by applying arguments, and these.
    parts
        The functions that it is the sum of, with their strengths, where each is explained by itself.

    >>> chase = Function.from_dense(np.arange(8.0).reshape(2, 2, 2))  # sentence x subject x object
    >>> cat, dog = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    >>> chase(cat), chase(cat)(dog)
    (Function(N -> S: 2 x 2, dense), array([2., 6.]))

    """

    output: Rows | None
    factors: tuple[Rows, ...]
    weights: Array | None = None
    tensor: Array | None = None
    sizes: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    labels: Sequence[str] | None = None
    attested: Attested | None = None
    training: Any = None
    origin: tuple[Function, tuple[Array, ...]] | None = field(default=None)
    parts: tuple[tuple[float, Function], ...] = ()

    def __post_init__(self) -> None:
        if self.tensor is None:
            object.__setattr__(self, "sizes", tuple(factor.size for factor in self.factors))
        if not self.names:
            object.__setattr__(self, "names", names_of(self.arity))
        if not self.types:
            object.__setattr__(self, "types", (*["N"] * self.arity, "S"))
        _check(self)

    # ------------------------------------------------------------ making

    @classmethod
    def from_dense(
        cls,
        tensor: Any,  # noqa: ANN401 - what NumPy takes
        *,
        affine: Sequence[bool] | bool = False,
        names: Sequence[str] = (),
        types: Sequence[str] = (),
    ) -> Function:
        """Make a function of a tensor: output x last argument x ... x first argument.

        ``affine`` says of which arguments (in the order of application) the axis ends with the constant coordinate.
        """
        array = np.asarray(tensor)
        if array.dtype not in (np.float32, np.float64):
            array = array.astype(np.float64)
        if array.ndim < 2:
            raise UsageError(f"expected a tensor of output and arguments, got the shape {array.shape}")
        extended = [affine] * (array.ndim - 1) if isinstance(affine, bool) else list(affine)
        if len(extended) != array.ndim - 1:
            raise UsageError(f"expected {array.ndim - 1} times yes or no for affine, got {len(extended)}")
        sizes = tuple(size - one for size, one in zip(array.shape[:0:-1], extended, strict=True))
        return cls(None, (), tensor=array, sizes=sizes, names=tuple(names), types=tuple(types))

    # ------------------------------------------------------------ looking

    @property
    def arity(self) -> int:
        """How many arguments it takes."""
        return len(self.sizes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its tensor: output, last argument, ..., first argument."""
        return (self.output_size, *reversed(self.sizes))

    @property
    def output_size(self) -> int:
        """How many numbers a result has."""
        if self.tensor is not None:
            return int(self.tensor.shape[0])
        return self._output.size

    @property
    def type(self) -> str:
        """Its type, such as ``N -> N -> S``."""
        return " -> ".join(self.types)

    @property
    def is_dense(self) -> bool:
        """Whether it is held as a tensor."""
        return self.tensor is not None

    @property
    def affine(self) -> tuple[bool, ...]:
        """For each argument whether the function is affine in it, rather than linear."""
        if self.tensor is not None:
            axes = self.tensor.shape[:0:-1]
            return tuple(axis > size for axis, size in zip(axes, self.sizes, strict=True))
        return tuple(factor.constant is not None for factor in self.factors)

    @property
    def terms(self) -> int:
        """How many terms it has; 0 if it is dense."""
        return 0 if self.output is None else self.output.terms

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its numbers, and of its results."""
        return self._output.array.dtype if self.tensor is None else self.tensor.dtype

    @property
    def nbytes(self) -> int:
        """How much memory its numbers take."""
        if self.tensor is not None:
            return self.tensor.nbytes
        weights = 0 if self.weights is None else self.weights.nbytes
        return self._output.nbytes + sum(factor.nbytes for factor in self.factors) + weights

    @property
    def dense_nbytes(self) -> int:
        """How much memory its dense tensor takes or would take."""
        axes = (size + one for size, one in zip(self.sizes, self.affine, strict=True))
        return self.output_size * prod(axes) * self.dtype.itemsize

    @property
    def _output(self) -> Rows:
        assert self.output is not None
        return self.output

    def __repr__(self) -> str:
        sizes = " x ".join(map(str, self.shape))
        held = "dense" if self.is_dense else plural(self.terms, "term")
        affine = ", affine" if any(self.affine) else ""
        return f"Function({self.type}: {sizes}, {held}{affine})"

    # ------------------------------------------------------------ application

    def __call__(self, argument: Any) -> Any:  # noqa: ANN401 - a vector or a batch; a vector, a function or a batch of them
        """Apply the first argument: a vector, or a batch of them (B, d).

        Gives the output if it was the only argument, else a function of the others.
        """
        x = self._argument(argument, 0)
        if self.arity == 1:
            found = self.apply_all(np.atleast_2d(x))
            return found[0] if x.ndim == 1 else found
        if x.ndim == 2:
            return Batch(self, (x,))
        first, applied = self.origin or (self, ())
        rest: dict[str, Any] = {
            "names": self.names[1:], "types": self.types[1:], "labels": self.labels, "training": self.training,
            "origin": (first, (*applied, x)),
        }  # fmt: skip
        if self.tensor is not None:
            extended = np.append(x, self.dtype.type(1)) if self.affine[0] else x
            return Function(None, (), tensor=self.tensor @ extended, sizes=self.sizes[1:], **rest)
        weights = self.factors[0].values(x[None])[0]
        return Function(
            self.output, self.factors[1:], weights if self.weights is None else self.weights * weights, **rest
        )

    def apply_all(self, *arguments: Any) -> Array:  # noqa: ANN401 - what NumPy takes
        """Apply all arguments, each a batch (B, d) or one vector for the whole batch: (B, q)."""
        if len(arguments) != self.arity:
            raise UsageError(f"expected {plural(self.arity, 'argument')}, got {len(arguments)}")
        given = [self._argument(argument, place) for place, argument in enumerate(arguments)]
        lengths = {len(x) for x in given if x.ndim == 2}
        if len(lengths) > 1:
            raise UsageError(f"expected batches of one length, got {' and '.join(map(str, sorted(lengths)))}")
        length = lengths.pop() if lengths else 1
        found = np.empty((length, self.output_size), self.dtype)
        step = self._step()
        for start in range(0, length, step):
            part = [x[None] if x.ndim == 1 else x[start : start + step] for x in given]
            found[start : start + step] = self._apply_terms(part) if self.tensor is None else self._apply_dense(part)
        return found

    def _step(self) -> int:
        """How many of a batch are done at once: bounded memory, and blocks that depend on the function alone."""
        width = self.terms if self.tensor is None else self.tensor[..., 0].size
        return max(BLOCK // max(width, 1), 16)

    def _apply_terms(self, arguments: Sequence[Array]) -> Array:
        product: Array | None = self.weights
        for factor, x in zip(self.factors, arguments, strict=True):
            values = factor.values(x)  # (b, T)
            product = values if product is None else values * product
        assert product is not None
        output = self._output
        if output.index is None:
            return product @ output.array
        return product @ output.rows() if output.terms < 2 * len(output.array) else _gathered(product, output)

    def _apply_dense(self, arguments: Sequence[Array]) -> Array:
        assert self.tensor is not None
        found = self.tensor
        for place, (x, one) in enumerate(zip(arguments, self.affine, strict=True)):
            if one:
                x = np.concatenate([x, np.ones((len(x), 1), x.dtype)], axis=1)
            if place == 0:
                found = (x @ found.reshape(-1, found.shape[-1]).T).reshape(len(x), *found.shape[:-1])
            else:
                column = x.reshape(len(x), *[1] * (found.ndim - 3), x.shape[1], 1)
                found = (found @ column)[..., 0]
        return found

    def _argument(self, argument: Any, place: int) -> Array:  # noqa: ANN401 - what NumPy takes
        """Give a vector or a batch of them, of the right size."""
        x = np.asarray(argument)
        if x.dtype.kind not in "fiub":
            raise UsageError(f"expected the vector of the {self.names[place]}, got {type(argument).__name__}")
        if x.ndim not in (1, 2) or x.shape[-1] != self.sizes[place]:
            found = f"{x.shape[-1]:,}" if x.ndim in (1, 2) else f"an array of shape {x.shape}"
            raise UsageError(f"the {self.names[place]} must have {self.sizes[place]:,} numbers, got {found}")
        return x.astype(self.dtype, copy=False)

    def explain(self, *arguments: Any) -> Explanation:  # noqa: ANN401 - what NumPy takes
        """Give the attested phrases, and their weights, of which the result is the sum."""
        from composita.functions.explanation import explain

        first, applied = (self, ()) if self.parts or self.origin is None else self.origin
        if len(arguments) != self.arity:
            raise UsageError(f"expected {plural(self.arity, 'argument')}, got {len(arguments)}")
        given = [self._argument(argument, place) for place, argument in enumerate(arguments)]
        if any(x.ndim != 1 for x in given):
            raise UsageError("expected one vector for each argument to explain, got a batch")
        return explain(first, (*applied, *given))

    # ------------------------------------------------------------ the tensor

    def dense(self, *, homogeneous: bool = False, limit: int = DENSE_LIMIT) -> Array:
        """Give the tensor: output x last argument x ... x first argument.

        With ``homogeneous`` the axis of an affine argument has its constant as a last coordinate; without it an affine
        function has no tensor that says all.
        """
        if any(self.affine) and not homogeneous:
            raise UsageError("this function is affine: ask for dense(homogeneous=True), whose axes end with a constant")
        if self.tensor is not None:
            return self.tensor
        if self.dense_nbytes > limit:
            raise UsageError(
                f"the tensor of {' x '.join(map(str, self.shape))} would take {self.dense_nbytes / 1e9:,.1f} GB, "
                f"more than the {limit / 1e9:,.1f} GB allowed: apply the function instead, or say dense(limit=...)"
            )
        from composita.functions.tensor import dense_tensor

        return dense_tensor(self)

    def as_dense(self, *, limit: int = DENSE_LIMIT) -> Function:
        """Give the same function held as a tensor."""
        if self.tensor is not None:
            return self
        tensor = self.dense(homogeneous=True, limit=limit)
        about = {"names": self.names, "types": self.types, "training": self.training, "labels": self.labels}
        return Function(None, (), tensor=tensor, sizes=self.sizes, **about)

    def smaller(self) -> Function:
        """Give the same function held as a tensor where that takes less than half of the memory, else as it is.

        Only terms can be explained, so they are kept where they cost little more.
        """
        return self.as_dense() if 2 * self.dense_nbytes < self.nbytes else self

    def compress(self, tolerance: float = 1e-6) -> Function:
        """Give a function of fewer terms, or a dense one, that is as near as asked.

        The distance to this one is at most ``tolerance`` times its norm (Frobenius). Without fewer terms: itself.
        """
        from composita.functions.compression import compress

        return compress(self, tolerance)

    # ------------------------------------------------------------ arithmetic

    def __add__(self, other: Function) -> Function:
        if not isinstance(other, Function):
            return NotImplemented
        if self.sizes != other.sizes or self.output_size != other.output_size or self.types != other.types:
            ours, theirs = (f"{f.type} ({' x '.join(map(str, f.shape))})" for f in (self, other))
            raise UsageError(f"{ours} and {theirs} cannot be added: they differ in type or shape")
        about: dict[str, Any] = {"names": self.names, "types": self.types}
        if self.tensor is None and other.tensor is None:
            weights = None
            if self.weights is not None or other.weights is not None:
                weights = np.concatenate(
                    [f.weights if f.weights is not None else np.ones(f.terms) for f in (self, other)]
                )
                weights = weights.astype(np.result_type(self.dtype, other.dtype))
            factors = tuple(a.joined(b) for a, b in zip(self.factors, other.factors, strict=True))
            return Function(self._output.joined(other._output), factors, weights, **about)
        affine = tuple(a or b for a, b in zip(self.affine, other.affine, strict=True))
        total = _extended(self, affine) + _extended(other, affine)
        return Function(None, (), tensor=total, sizes=self.sizes, **about)

    def __mul__(self, scale: float) -> Function:
        if not np.isscalar(scale):
            return NotImplemented
        factor = self.dtype.type(scale)
        about: dict[str, Any] = {"attested": None, "origin": None, "parts": (), "training": None}
        if self.tensor is not None:
            return replace(self, tensor=self.tensor * factor, **about)
        weights = np.full(self.terms, factor) if self.weights is None else self.weights * factor
        return replace(self, weights=weights, **about)

    __rmul__ = __mul__

    def __neg__(self) -> Function:
        return self * -1.0

    def __sub__(self, other: Function) -> Function:
        return self + -other

    # ------------------------------------------------------------ geometry

    def inner(self, other: Function) -> float:
        """Give the inner product of the two tensors, from Gram matrices; affine ones in homogeneous coordinates."""
        if self.sizes != other.sizes or self.output_size != other.output_size:
            shapes = " and ".join(" x ".join(map(str, f.shape)) for f in (self, other))
            raise UsageError(f"tensors of the shapes {shapes} have no inner product")
        return _inner(self, other)

    @cached_property
    def _norm(self) -> float:
        return float(np.sqrt(max(_inner(self, self), 0.0)))

    def norm(self) -> float:
        """Give the Frobenius norm of the tensor."""
        return self._norm

    def cosine(self, other: Function) -> float:
        """Give the cosine of the angle between the two tensors; 0 if one is 0."""
        both = self.norm() * other.norm()
        return min(max(self.inner(other) / both, -1.0), 1.0) if both else 0.0

    def singular_values(self) -> Array:
        """Give the singular values of the tensor unfolded by its output, in descending order.

        For arity 1 they are those of its matrix; an affine one is taken in homogeneous coordinates.
        """
        if self.tensor is not None:
            return np.linalg.svd(self.tensor.reshape(len(self.tensor), -1).astype(np.float64), compute_uv=False)
        gram = np.zeros((self.output_size, self.output_size))
        for (first, last), (start, end), forms in _form_grams(self, self):
            gram += self._output.rows(first, last).T.astype(np.float64) @ forms @ self._output.rows(start, end)
        values = np.linalg.eigvalsh((gram + gram.T) / 2)[::-1]
        found: Array = np.sqrt(np.clip(values, 0, None))
        return found

    def effective_rank(self) -> float:
        """Give how many directions the outputs really use: the exponential of the entropy of the singular values."""
        values = self.singular_values()
        shares = values[values > 0] / values.sum()
        return float(np.exp(-(shares * np.log(shares)).sum()))

    # ------------------------------------------------------------ storage

    def to_arrays(self, *, shared: bool = False) -> dict[str, Array]:
        """Give all numbers as named arrays, all that `from_arrays` needs.

        With ``shared`` vectors that the function has from its examples (their ``vectors`` and ``outputs``) are given as
        their row numbers there; they must be handed to `from_arrays` again.
        """
        arrays: dict[str, Array] = {"sizes": np.array(self.sizes, np.int32)}
        if self.tensor is not None:
            return arrays | {"tensor": self.tensor}
        arrays |= self._output.to_arrays("output", shared=shared)
        for place, factor in enumerate(self.factors, 1):
            arrays |= factor.to_arrays(f"argument{place}", shared=shared)
        if self.weights is not None:
            arrays["weights"] = self.weights
        if self.attested is not None:
            about = self.attested
            arrays["attested"] = np.array([about.count, about.penalty, MEANS.index(about.mean)], np.float64)
            if about.weights is not None:
                arrays["attested.weights"] = about.weights
        return arrays

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, Array],
        *,
        vectors: Sequence[Array] | None = None,
        outputs: Array | None = None,
        **about: Any,  # noqa: ANN401 - names, types, labels, training
    ) -> Function:
        """Make a function of the arrays of `to_arrays`, which are used in place."""
        sizes = tuple(arrays["sizes"].tolist())
        if "tensor" in arrays:
            return cls(None, (), tensor=arrays["tensor"], sizes=sizes, **about)
        factors = tuple(
            Rows.from_arrays(f"argument{place}", arrays, None if vectors is None else vectors[place - 1])
            for place in range(1, len(sizes) + 1)
        )
        attested = None
        if "attested" in arrays:
            count, penalty, mean = arrays["attested"].tolist()
            attested = Attested(int(count), penalty, arrays.get("attested.weights"), MEANS[int(mean)])
        output = Rows.from_arrays("output", arrays, outputs)
        return cls(output, factors, arrays.get("weights"), attested=attested, **about)


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """A function that was applied to many first arguments at once: a batch of functions of the others.

    >>> f = Function.from_dense(np.ones((4, 3, 2)))
    >>> batch = f(np.ones((5, 2)))
    >>> batch, batch(np.ones(3)).shape, batch[0](np.ones(3))
    (Batch(5 of N -> S), (5, 4), array([6., 6., 6., 6.]))
    """

    function: Function
    applied: tuple[Array, ...]

    @property
    def arity(self) -> int:
        """How many arguments are still to come."""
        return self.function.arity - len(self.applied)

    @property
    def type(self) -> str:
        """The type of each function."""
        return " -> ".join(self.function.types[len(self.applied) :])

    def __len__(self) -> int:
        return len(self.applied[0])

    def __getitem__(self, number: int) -> Function:
        """Give one of the functions."""
        found = self.function
        for x in self.applied:
            found = found(x[number])
        return found

    def __call__(self, argument: Any) -> Any:  # noqa: ANN401 - a batch; an array or a batch of functions
        """Apply the next argument: one vector for all, or as many as there are functions."""
        place = len(self.applied)
        x = self.function._argument(argument, place)  # noqa: SLF001 - a batch is a part of the function
        x = np.broadcast_to(x, (len(self), x.shape[-1])) if x.ndim == 1 else x
        if len(x) != len(self):
            raise UsageError(f"expected {len(self)} vectors of the {self.function.names[place]}, got {len(x)}")
        given = (*self.applied, x)
        return self.function.apply_all(*given) if len(given) == self.function.arity else Batch(self.function, given)

    def __repr__(self) -> str:
        return f"Batch({len(self):,} of {self.type})"


# ---------------------------------------------------------------- checks and calculations


def _check(function: Function) -> None:
    """Refuse parts that do not fit together."""
    if not function.arity:
        raise UsageError("a function takes at least one argument")
    if len(function.names) != function.arity or len(function.types) != function.arity + 1:
        raise UsageError(
            f"a function of {plural(function.arity, 'argument')} needs as many names and one type more, got "
            f"{', '.join(function.names)} and {function.type}"
        )
    if function.tensor is not None:
        axes = function.tensor.shape[:0:-1]
        if len(axes) != function.arity or not all(0 <= a - s <= 1 for a, s in zip(axes, function.sizes, strict=True)):
            raise UsageError(f"a tensor of {function.tensor.shape} does not take arguments of {function.sizes}")
        return
    terms = {factor.terms for factor in function.factors} | {function.terms}
    if function.weights is not None:
        terms.add(len(function.weights))
    if len(terms) > 1:
        raise UsageError(f"the parts of a function have {' and '.join(map(str, sorted(terms)))} terms")


def _gathered(product: Array, output: Rows) -> Array:
    """Add up the values of the terms of each output row, then multiply: (b, T) -> (b, q)."""
    index = output.numbered()
    kept = index >= 0
    order = np.argsort(index[kept], kind="stable")
    used, starts = np.unique(index[kept][order], return_index=True)
    sums = np.add.reduceat(product[:, kept][:, order], starts, axis=1) if len(used) else product[:, :0]
    return sums @ output.array[used]


def _extended(function: Function, affine: Sequence[bool]) -> Array:
    """Give the dense tensor with a constant coordinate on the axes that are to have one."""
    tensor = function.dense(homogeneous=True)
    widths = [(0, int(want and not have)) for want, have in zip(affine, function.affine, strict=True)]
    return np.pad(tensor, [(0, 0), *reversed(widths)])


def _inner(f: Function, g: Function) -> float:
    if f.tensor is not None and g.tensor is not None:
        affine = tuple(a or b for a, b in zip(f.affine, g.affine, strict=True))
        a, b = (_extended(function, affine).reshape(-1).astype(np.float64) for function in (f, g))
        return float(a @ b)
    if f.tensor is not None:
        return _inner(g, f)
    if g.tensor is not None:
        return _inner_with_dense(f, g)
    total = 0.0
    for (first, last), (start, end), forms in _form_grams(f, g):
        outputs = f._output.rows(first, last).astype(np.float64) @ g._output.rows(start, end).T  # noqa: SLF001
        total += float((forms * outputs).sum())
    return total


def _inner_with_dense(f: Function, g: Function) -> float:
    """Apply the tensor to the rows of the terms of the other."""
    assert g.tensor is not None
    plain = replace(g, tensor=g.tensor.astype(np.float64), sizes=tuple(g.tensor.shape[:0:-1]))
    total, step = 0.0, plain._step()  # noqa: SLF001 - the same class
    for start in range(0, f.terms, step):
        last = min(start + step, f.terms)
        rows = [
            factor.rows(start, last, extended=one).astype(np.float64)
            for factor, one in zip(f.factors, g.affine, strict=True)
        ]
        found = plain.apply_all(*rows) * f._output.rows(start, last)  # noqa: SLF001
        found = found.sum(1)
        total += float(found.sum() if f.weights is None else found @ f.weights[start:last])
    return total


def _form_grams(f: Function, g: Function) -> Iterator[tuple[tuple[int, int], tuple[int, int], Array]]:
    """Give, block by block, the products of the Gram matrices of the arguments' rows, in float64, with the weights."""
    step = 2048
    for first in range(0, f.terms, step):
        last = min(first + step, f.terms)
        for start in range(0, g.terms, step):
            end = min(start + step, g.terms)
            block = np.ones((last - first, end - start))
            for ours, theirs in zip(f.factors, g.factors, strict=True):
                one = ours.constant is not None and theirs.constant is not None
                a = ours.rows(first, last, extended=one).astype(np.float64)
                block *= a @ theirs.rows(start, end, extended=one).T.astype(np.float64)
            if f.weights is not None:
                block *= f.weights[first:last, None]
            if g.weights is not None:
                block *= g.weights[start:end]
            yield (first, last), (start, end), block
