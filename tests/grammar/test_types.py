"""Types: written and read back, and the tensors that are of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from composita import CompositaError
from composita.grammar.types import Arrow, Basic, arguments_of, arity, arrow, axes_of, parse_type, result_of, shape_of

types = st.recursive(st.sampled_from("NSM").map(Basic), lambda inner: st.builds(Arrow, inner, inner), max_leaves=6)


@given(types)
def test_what_is_written_is_read(kind):
    assert parse_type(str(kind)) == kind
    assert arrow(*arguments_of(kind), result_of(kind)) == kind
    assert len(arguments_of(kind)) == arity(kind)
    assert len(axes_of(kind)) == sum(map(str(kind).count, "NSM"))


@given(types, types)
def test_applying_is_contracting_the_last_axes(argument, result):
    dimensions = {"N": 2, "S": 3, "M": 1}
    whole, inside = shape_of(Arrow(argument, result), dimensions), shape_of(argument, dimensions)
    function, value = np.ones(whole), np.ones(inside)
    assert np.tensordot(function, value, len(inside)).shape == shape_of(result, dimensions)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected a type such as N, found the end"),
        ("N ->", "column 5: expected a type"),
        ("(N -> S", "expected a closing parenthesis"),
        ("N S", "column 3: expected the end of the line, found 'S'"),
        ("N -> 3", "column 6: expected a name, found '3'"),
        ("(" * 200 + "N", "at most 50 levels"),
    ],
)
def test_broken_types_are_refused(text, reason):
    with pytest.raises(CompositaError, match=reason):
        parse_type(text)


def test_a_dimension_that_is_missing():
    with pytest.raises(
        CompositaError, match="no dimension is given for the basic type S of N -> S: expected e.g. S=300"
    ):
        shape_of(parse_type("N -> S"), {"N": 3})
