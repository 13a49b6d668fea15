"""Random terms of given types, and a slow, obvious reduction to compare with."""

from hypothesis import strategies as st

from composita.grammar.terms import App, Const, Lam, Var
from composita.grammar.types import Arrow, Basic

N = Basic("N")
TYPES = [N, Arrow(N, N), Arrow(N, Arrow(N, N)), Arrow(Arrow(N, N), N)]
CONSTANTS = {
    "dog-n": N, "cat-n": N, "old-a": Arrow(N, N), "chase-v": Arrow(N, Arrow(N, N)), "let-v": Arrow(Arrow(N, N), N)
}  # fmt: skip


@st.composite
def terms(draw, kind=N, bound=(), depth=4):
    """Draw a closed term of a type; ``bound`` are the variables around it, with their types."""
    ways = ["constant"] + ["variable"] * 2 * any(k == kind for _, k in bound)
    if depth > 0:
        ways += ["application", "application", "abstraction"]
    way = draw(st.sampled_from(ways))
    if way == "variable":
        # Of several variables of a name only the innermost can be meant.
        names = dict(bound)
        fitting = sorted(name for name, k in names.items() if k == kind)
        if fitting:
            return Var(draw(st.sampled_from(fitting)))
    if way == "application":
        argument = draw(st.sampled_from(TYPES[:2]))
        function = draw(terms(Arrow(argument, kind), bound, depth - 1))
        return App(function, draw(terms(argument, bound, depth - 1)))
    if isinstance(kind, Arrow):
        fitting = [name for name, k in CONSTANTS.items() if k == kind]
        if fitting and way != "abstraction":
            return Const(draw(st.sampled_from(fitting)), kind)
        name = draw(st.sampled_from(["x", "y"]))
        body = draw(terms(kind.result, (*bound, (name, kind.argument)), depth - 1))
        return Lam(name, body)
    return Const(draw(st.sampled_from([name for name, k in CONSTANTS.items() if k == kind])), kind)


# ---------------------------------------------------------------- de Bruijn's terms: no names, no renaming


def nameless(term, bound=()):
    """Write bound variables as how many abstractions lie between."""
    if isinstance(term, Var):
        return ("bound", bound.index(term.name)) if term.name in bound else ("free", term.name)
    if isinstance(term, Const):
        return ("const", term.name)
    if isinstance(term, Lam):
        return ("lam", nameless(term.body, (term.name, *bound)))
    return ("app", nameless(term.function, bound), nameless(term.argument, bound))


def shifted(term, by, floor=0):
    if term[0] == "bound":
        return ("bound", term[1] + by) if term[1] >= floor else term
    if term[0] == "lam":
        return ("lam", shifted(term[1], by, floor + 1))
    if term[0] == "app":
        return ("app", shifted(term[1], by, floor), shifted(term[2], by, floor))
    return term


def put(term, number, value):
    if term[0] == "bound":
        return value if term[1] == number else term
    if term[0] == "lam":
        return ("lam", put(term[1], number + 1, shifted(value, 1)))
    if term[0] == "app":
        return ("app", put(term[1], number, value), put(term[2], number, value))
    return term


def innermost(term):
    """Reduce arguments first, the other way round than `reduce` does."""
    if term[0] == "lam":
        return ("lam", innermost(term[1]))
    if term[0] != "app":
        return term
    function, argument = innermost(term[1]), innermost(term[2])
    if function[0] == "lam":
        return innermost(shifted(put(function[1], 0, shifted(argument, 1)), -1))
    return ("app", function, argument)
