"""Phrases: written and read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from composita import CompositaError
from composita.grammar.phrase import Phrase

words = st.from_regex(r"\A[a-zé_'.-]{1,6}-[nvar]\Z")
phrases = st.recursive(
    st.builds(Phrase, words),
    lambda inner: st.builds(Phrase, words, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    max_leaves=6,
)


@given(phrases)
def test_what_is_written_is_read(phrase):
    assert Phrase.parse(str(phrase)) == phrase
    assert str(phrase).count("-") == sum(word.count("-") for word in phrase.words())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("give-v(book-n, girl-n, boy-n)", "boy give girl book"),
        ("give_up-v(hope-n, man-n)", "man give up hope"),
        ("sleep-v(dog-n)", "dog sleep"),
        ("dog-n", "dog"),
        ("chase-v( cat-n ,dog-n )", "dog chase cat"),
    ],
)
def test_said_as_people_say_it(text, said):
    assert Phrase.parse(text).display() == said


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "column 1: expected a word"),
        ("chase-v(", "column 9: expected a word"),
        ("chase-v(cat-n", "column 14: expected a closing"),
        ("chase-v(cat-n))", "column 15: expected the end"),
        ("chase-v()", "column 9: expected a word"),
        ("(" * 5000, "column 1: expected a word"),
        ("a-v(" * 5000, "at most 50 levels"),
        ("a-v(b-n(c-n", "expected a closing"),
    ],
)
def test_broken_text_is_refused(text, reason):
    with pytest.raises(CompositaError, match=reason):
        Phrase.parse(text)
