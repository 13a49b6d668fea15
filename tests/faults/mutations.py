"""Damage of every kind to bytes, as hypothesis draws it."""

from hypothesis import strategies as st

AWKWARD = [
    b"\x00", b"\xff", b"\n", b"\r\n", b"\n\n", b"\t", b" ", b'"', b"'", b"#", b"(", b")", b"[", b"]", b"{", b"}", b"=",
    b",", b":", b"->", b"-", b".", b"0", b"-1", b"1e309", b"nan", b"inf", b"9" * 30, b"2147483648", b"true", b"null",
    b"\xef\xbb\xbf", b"\xc3", b"\xe2\x80\xa8", "é".encode(), b"a" * 300, b"((((" * 100, b"[[[[" * 100,
]  # fmt: skip


@st.composite
def damaged(draw, seeds):
    """Draw one of the seeds after some changes: cuts, doubled and lost pieces, flipped bits, awkward bytes."""
    data = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 5))):
        place = draw(st.integers(0, len(data)))
        length = draw(st.sampled_from([1, 1, 2, 5, 20, 200]))
        what = draw(st.sampled_from(["cut", "lose", "double", "flip", "insert", "replace", "move", "noise"]))
        if what == "cut":
            del data[place:]
        elif what == "lose":
            del data[place : place + length]
        elif what == "double":
            data[place:place] = data[place : place + length]
        elif what == "flip" and place < len(data):
            data[place] ^= 1 << draw(st.integers(0, 7))
        elif what == "insert":
            data[place:place] = draw(st.sampled_from(AWKWARD))
        elif what == "replace":
            new = draw(st.sampled_from(AWKWARD))
            data[place : place + len(new)] = new
        elif what == "move":
            piece = data[place : place + length]
            del data[place : place + length]
            other = draw(st.integers(0, len(data)))
            data[other:other] = piece
        elif what == "noise":
            data[place:place] = draw(st.binary(max_size=20))
    return bytes(data)
