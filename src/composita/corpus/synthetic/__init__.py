"""Synthetic parsed text of any size, for benchmarks and tests.

>>> from composita.corpus.synthetic import synthetic_blocks
>>> print(b"".join(synthetic_blocks(1, seed=59)).decode())
# newdoc id = synthetic-0
# sent_id = synthetic-0
1	He	he	PRON	PRP	_	2	nsubj	_	_
2	nipluzads	nipluzad	VERB	VBZ	_	0	root	_	_
3	him	he	PRON	PRP	_	2	obj	_	_
4	.	.	PUNCT	.	_	2	punct	_	_
<BLANKLINE>
<BLANKLINE>
"""

from composita.corpus.synthetic.stream import FORMATS, Synthetic, synthetic_blocks, write_synthetic

__all__ = ["FORMATS", "Synthetic", "synthetic_blocks", "write_synthetic"]
