"""Sentences annotated in three schemes, with the links that all three must give.

One line a word: form, lemma, UPOS, Penn tag, and relation>head in UD, ClearNLP and MaltParser's labels. A
link is written ``predicate ROLE argument [preposition]``, in lemmas. Passive verbs are listed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Annotated:
    """A sentence, its links, and the lemmas of its passive verbs."""

    text: str
    links: frozenset[str]
    passive: frozenset[str]
    words: tuple[tuple[str, ...], ...]

    def tokens(self, scheme: str, tags: str = "penn") -> list[tuple[str, str, str, str, int, str]]:
        """The tokens in one scheme, with Penn's or TreeTagger's tags, or with neither."""
        column = 4 + ("ud", "clear", "malt").index(scheme)
        rows = []
        for form, lemma, upos, penn, *relations in self.words:
            relation, head = relations[column - 4].split(">")
            xpos = {"penn": penn, "treetagger": treetagger(penn, lemma), "none": "_"}[tags]
            rows.append((form, lemma, upos, xpos, int(head), relation))
        return rows


def treetagger(penn: str, lemma: str) -> str:
    """TreeTagger's tag for a word with this tag of Penn's."""
    if penn.startswith("VB"):
        return {"be": "VB", "have": "VH"}.get(lemma, "VV") + penn[2:]
    return {"NNP": "NP", "NNPS": "NPS", "PRP": "PP", "PRP$": "PP$", ".": "SENT"}.get(penn, penn)


TABLE = """
# simple
dogs dog NOUN NNS nsubj>2 nsubj>2 SBJ>2
chase chase VERB VBP root>0 root>0 ROOT>0
cats cat NOUN NNS obj>2 dobj>2 OBJ>2
= chase SUBJECT dog; chase OBJECT cat

# intransitive, with an adverb
dogs dog NOUN NNS nsubj>2 nsubj>2 SBJ>2
bark bark VERB VBP root>0 root>0 ROOT>0
loudly loudly ADV RB advmod>2 advmod>2 ADV>2
= bark SUBJECT dog; bark ADVERBIAL loudly

# adjective and compound
big big ADJ JJ amod>3 amod>3 NMOD>3
guard guard NOUN NN compound>3 compound>3 NMOD>3
dogs dog NOUN NNS nsubj>4 nsubj>4 SBJ>4
bark bark VERB VBP root>0 root>0 ROOT>0
= dog MODIFIER big; dog COMPOUND guard; bark SUBJECT dog

# conjoined adjectives
big big ADJ JJ amod>4 amod>4 NMOD>4
and and CCONJ CC cc>3 cc>1 CC>1
furry furry ADJ JJ conj>1 conj>1 COORD>1
dogs dog NOUN NNS nsubj>5 nsubj>5 SBJ>5
bark bark VERB VBP root>0 root>0 ROOT>0
= dog MODIFIER big; dog MODIFIER furry; bark SUBJECT dog

# possessor
the the DET DT det>2 det>2 NMOD>2
dog dog NOUN NN nmod:poss>4 poss>4 NMOD>4
's 's PART POS case>2 case>2 NMOD>2
tail tail NOUN NN nsubj>5 nsubj>5 SBJ>5
moves move VERB VBZ root>0 root>0 ROOT>0
= tail POSSESSOR dog; move SUBJECT tail

# auxiliaries
dogs dog NOUN NNS nsubj>4 nsubj>4 SBJ>2
have have AUX VBP aux>4 aux>4 ROOT>0
been be AUX VBN aux>4 aux>4 VC>2
chasing chase VERB VBG root>0 root>0 VC>3
cats cat NOUN NNS obj>4 dobj>4 OBJ>4
= chase SUBJECT dog; chase OBJECT cat

# a modal and negation
dogs dog NOUN NNS nsubj>4 nsubj>4 SBJ>2
will will AUX MD aux>4 aux>4 ROOT>0
not not PART RB advmod>4 neg>4 VMOD>2
chase chase VERB VB root>0 root>0 VC>2
cats cat NOUN NNS obj>4 dobj>4 OBJ>4
= chase SUBJECT dog; chase ADVERBIAL not; chase OBJECT cat

# passive with agent
cats cat NOUN NNS nsubj:pass>3 nsubjpass>3 SBJ>2
are be AUX VBP aux:pass>3 auxpass>3 ROOT>0
chased chase VERB VBN root>0 root>0 VC>2
by by ADP IN case>5 agent>3 LGS>3
dogs dog NOUN NNS obl:agent>3 pobj>4 PMOD>4
= chase OBJECT cat; chase SUBJECT dog by
! chase

# passive with agent, in a treebank without obl:agent
cats cat NOUN NNS nsubj:pass>3 nsubjpass>3 SBJ>2
are be AUX VBP aux:pass>3 auxpass>3 ROOT>0
chased chase VERB VBN root>0 root>0 VC>2
by by ADP IN case>5 agent>3 LGS>3
dogs dog NOUN NNS obl>3 pobj>4 PMOD>4
= chase OBJECT cat; chase SUBJECT dog by
! chase

# passive without agent, behind a chain of auxiliaries
cats cat NOUN NNS nsubj:pass>5 nsubjpass>5 SBJ>2
may may AUX MD aux>5 aux>5 ROOT>0
have have AUX VB aux>5 aux>5 VC>2
been be AUX VBN aux:pass>5 auxpass>5 VC>3
chased chase VERB VBN root>0 root>0 VC>4
= chase OBJECT cat
! chase

# perfect, not passive
dogs dog NOUN NNS nsubj>3 nsubj>3 SBJ>2
have have AUX VBP aux>3 aux>3 ROOT>0
chased chase VERB VBN root>0 root>0 VC>2
cats cat NOUN NNS obj>3 dobj>3 OBJ>3
= chase SUBJECT dog; chase OBJECT cat

# reduced passive with agent
cats cat NOUN NNS nsubj>5 nsubj>5 SBJ>5
chased chase VERB VBN acl>1 acl>1 NMOD>1
by by ADP IN case>4 agent>2 LGS>2
dogs dog NOUN NNS obl:agent>2 pobj>3 PMOD>3
run run VERB VBP root>0 root>0 ROOT>0
= chase OBJECT cat; chase SUBJECT dog by; cat RELATIVE chase; run SUBJECT cat
! chase

# reduced passive without agent
cats cat NOUN NNS nsubj>5 nsubj>5 SBJ>5
chased chase VERB VBN acl>1 acl>1 NMOD>1
in in ADP IN case>4 prep>2 ADV>2
gardens garden NOUN NNS obl>2 pobj>3 PMOD>3
run run VERB VBP root>0 root>0 ROOT>0
= chase OBJECT cat; chase OBLIQUE garden in; cat RELATIVE chase; run SUBJECT cat
! chase

# reduced active
dogs dog NOUN NNS nsubj>4 nsubj>4 SBJ>4
chasing chase VERB VBG acl>1 acl>1 NMOD>1
cats cat NOUN NNS obj>2 dobj>2 OBJ>2
bark bark VERB VBP root>0 root>0 ROOT>0
= chase SUBJECT dog; chase OBJECT cat; dog RELATIVE chase; bark SUBJECT dog

# an infinitive leaves no trace
dogs dog NOUN NNS nsubj>4 nsubj>4 SBJ>4
to to PART TO mark>3 aux>3 VMOD>3
admire admire VERB VB acl>1 acl>1 NMOD>1
bark bark VERB VBP root>0 root>0 ROOT>0
= dog RELATIVE admire; bark SUBJECT dog

# ditransitive with two objects
boys boy NOUN NNS nsubj>2 nsubj>2 SBJ>2
gave give VERB VBD root>0 root>0 ROOT>0
girls girl NOUN NNS iobj>2 dative>2 OBJ>2
books book NOUN NNS obj>2 dobj>2 OBJ>2
= give SUBJECT boy; give RECIPIENT girl; give OBJECT book

# ditransitive with to
boys boy NOUN NNS nsubj>2 nsubj>2 SBJ>2
gave give VERB VBD root>0 root>0 ROOT>0
books book NOUN NNS obj>2 dobj>2 OBJ>2
to to ADP IN case>5 dative>2 ADV>2
girls girl NOUN NNS obl>2 pobj>4 PMOD>4
= give SUBJECT boy; give RECIPIENT girl to; give OBJECT book

# the recipient as passive subject
girls girl NOUN NNS nsubj:pass>3 nsubjpass>3 SBJ>2
were be AUX VBD aux:pass>3 auxpass>3 ROOT>0
given give VERB VBN root>0 root>0 VC>2
books book NOUN NNS obj>3 dobj>3 OBJ>3
= give RECIPIENT girl; give OBJECT book
! give

# the object as passive subject, with its recipient
books book NOUN NNS nsubj:pass>3 nsubjpass>3 SBJ>2
were be AUX VBD aux:pass>3 auxpass>3 ROOT>0
given give VERB VBN root>0 root>0 VC>2
to to ADP IN case>5 dative>3 ADV>3
girls girl NOUN NNS obl>3 pobj>4 PMOD>4
by by ADP IN case>7 agent>3 LGS>3
boys boy NOUN NNS obl:agent>3 pobj>6 PMOD>6
= give RECIPIENT girl to; give OBJECT book; give SUBJECT boy by
! give

# prepositional object, and a preposition of a noun
dogs dog NOUN NNS nsubj>2 nsubj>2 SBJ>2
live live VERB VBP root>0 root>0 ROOT>0
in in ADP IN case>4 prep>2 LOC>2
houses house NOUN NNS obl>2 pobj>3 PMOD>3
of of ADP IN case>6 prep>4 NMOD>4
wood wood NOUN NN nmod>4 pobj>5 PMOD>5
= live SUBJECT dog; live OBLIQUE house in; house OBLIQUE wood of

# to without giving is no recipient
boys boy NOUN NNS nsubj>2 nsubj>2 SBJ>2
took take VERB VBD root>0 root>0 ROOT>0
dogs dog NOUN NNS obj>2 dobj>2 OBJ>2
to to ADP IN case>5 prep>2 DIR>2
schools school NOUN NNS obl>2 pobj>4 PMOD>4
= take SUBJECT boy; take OBJECT dog; take OBLIQUE school to

# relative clause, subject
dogs dog NOUN NNS nsubj>5 nsubj>5 SBJ>5
that that PRON WDT nsubj>3 nsubj>3 SBJ>3
chase chase VERB VBP acl:relcl>1 relcl>1 NMOD>1
cats cat NOUN NNS obj>3 dobj>3 OBJ>3
bark bark VERB VBP root>0 root>0 ROOT>0
= chase SUBJECT dog; chase OBJECT cat; dog RELATIVE chase; bark SUBJECT dog

# relative clause, object, behind an auxiliary
cats cat NOUN NNS nsubj>6 nsubj>6 SBJ>6
that that PRON WDT obj>5 dobj>5 OBJ>5
dogs dog NOUN NNS nsubj>5 nsubj>5 SBJ>4
have have AUX VBP aux>5 aux>5 NMOD>1
chased chase VERB VBN acl:relcl>1 relcl>1 VC>4
run run VERB VBP root>0 root>0 ROOT>0
= chase OBJECT cat; chase SUBJECT dog; cat RELATIVE chase; run SUBJECT cat

# relative clause, object, no relative word
cats cat NOUN NNS nsubj>4 nsubj>4 SBJ>4
dogs dog NOUN NNS nsubj>3 nsubj>3 SBJ>3
chase chase VERB VBP acl:relcl>1 relcl>1 NMOD>1
run run VERB VBP root>0 root>0 ROOT>0
= chase OBJECT cat; chase SUBJECT dog; cat RELATIVE chase; run SUBJECT cat

# relative clause, object, beside a recipient
books book NOUN NNS nsubj>6 nsubj>6 SBJ>6
boys boy NOUN NNS nsubj>3 nsubj>3 SBJ>3
gave give VERB VBD acl:relcl>1 relcl>1 NMOD>1
to to ADP IN case>5 prep>3 ADV>3
girls girl NOUN NNS obl>3 pobj>4 PMOD>4
burn burn VERB VBP root>0 root>0 ROOT>0
= give OBJECT book; give SUBJECT boy; give RECIPIENT girl to; book RELATIVE give; burn SUBJECT book

# relative clause, passive
cats cat NOUN NNS nsubj>5 nsubj>5 SBJ>5
which which PRON WDT nsubj:pass>4 nsubjpass>4 SBJ>3
were be AUX VBD aux:pass>4 auxpass>4 NMOD>1
chased chase VERB VBN acl:relcl>1 relcl>1 VC>3
run run VERB VBP root>0 root>0 ROOT>0
= chase OBJECT cat; cat RELATIVE chase; run SUBJECT cat
! chase

# relative clause, oblique
houses house NOUN NNS nsubj>6 nsubj>6 SBJ>6
in in ADP IN case>3 prep>5 LOC>5
which which PRON WDT obl>5 pobj>2 PMOD>2
dogs dog NOUN NNS nsubj>5 nsubj>5 SBJ>5
live live VERB VBP acl:relcl>1 relcl>1 NMOD>1
burn burn VERB VBP root>0 root>0 ROOT>0
= live OBLIQUE house in; live SUBJECT dog; house RELATIVE live; burn SUBJECT house

# relative clause, stranded preposition
houses house NOUN NNS nsubj>5 nsubj>5 SBJ>5
dogs dog NOUN NNS nsubj>3 nsubj>3 SBJ>3
live live VERB VBP acl:relcl>1 relcl>1 NMOD>1
in in ADP IN obl>3 prep>3 LOC>3
burn burn VERB VBP root>0 root>0 ROOT>0
= live OBLIQUE house in; live SUBJECT dog; house RELATIVE live; burn SUBJECT house

# the way he came is not an object
way way NOUN NN nsubj>4 nsubj>4 SBJ>4
boys boy NOUN NNS nsubj>3 nsubj>3 SBJ>3
came come VERB VBD acl:relcl>1 relcl>1 NMOD>1
matters matter VERB VBZ root>0 root>0 ROOT>0
= come SUBJECT boy; way RELATIVE come; matter SUBJECT way

# a clause that is the content of a noun
fact fact NOUN NN nsubj>5 nsubj>5 SBJ>5
that that SCONJ IN mark>4 mark>4 VMOD>4
dogs dog NOUN NNS nsubj>4 nsubj>4 SBJ>4
bark bark VERB VBP acl>1 acl>1 NMOD>1
matters matter VERB VBZ root>0 root>0 ROOT>0
= bark SUBJECT dog; fact RELATIVE bark; matter SUBJECT fact

# conjoined subjects and objects
dogs dog NOUN NNS nsubj>4 nsubj>4 SBJ>4
and and CCONJ CC cc>3 cc>1 CC>1
wolves wolf NOUN NNS conj>1 conj>1 COORD>1
chase chase VERB VBP root>0 root>0 ROOT>0
cats cat NOUN NNS obj>4 dobj>4 OBJ>4
, , PUNCT , punct>7 punct>5 P>5
mice mouse NOUN NNS conj>5 conj>5 COORD>5
and and CCONJ CC cc>9 cc>7 CC>5
birds bird NOUN NNS conj>5 conj>7 COORD>5
= chase SUBJECT dog; chase SUBJECT wolf; chase OBJECT cat; chase OBJECT mouse; chase OBJECT bird

# conjoined verbs share the subject; its role is each verb's own
cats cat NOUN NNS nsubj>2 nsubj>2 SBJ>2
run run VERB VBP root>0 root>0 ROOT>0
and and CCONJ CC cc>5 cc>2 CC>2
are be AUX VBP aux:pass>5 auxpass>5 COORD>2
chased chase VERB VBN conj>2 conj>2 VC>4
= run SUBJECT cat; chase OBJECT cat
! chase

# conjoined participles
cats cat NOUN NNS nsubj:pass>3 nsubjpass>3 SBJ>2
are be AUX VBP aux:pass>3 auxpass>3 ROOT>0
chased chase VERB VBN root>0 root>0 VC>2
and and CCONJ CC cc>5 cc>3 CC>3
eaten eat VERB VBN conj>3 conj>3 COORD>3
by by ADP IN case>7 agent>5 LGS>5
dogs dog NOUN NNS obl:agent>5 pobj>6 PMOD>6
= chase OBJECT cat; eat OBJECT cat; eat SUBJECT dog by
! chase eat

# particle
dogs dog NOUN NNS nsubj>2 nsubj>2 SBJ>2
wake wake VERB VBP root>0 root>0 ROOT>0
up up ADP RP compound:prt>2 prt>2 PRT>2
cats cat NOUN NNS obj>2 dobj>2 OBJ>2
= wake SUBJECT dog; wake PARTICLE up; wake OBJECT cat

# infinitive complement
dogs dog NOUN NNS nsubj>2 nsubj>2 SBJ>2
want want VERB VBP root>0 root>0 ROOT>0
to to PART TO mark>4 aux>4 VMOD>4
chase chase VERB VB xcomp>2 xcomp>2 OBJ>2
cats cat NOUN NNS obj>4 dobj>4 OBJ>4
= want SUBJECT dog; want COMPLEMENT chase; chase OBJECT cat

# finite complement, with auxiliaries
boys boy NOUN NNS nsubj>2 nsubj>2 SBJ>2
say say VERB VBP root>0 root>0 ROOT>0
that that SCONJ IN mark>6 mark>6 VMOD>5
dogs dog NOUN NNS nsubj>6 nsubj>6 SBJ>5
have have AUX VBP aux>6 aux>6 OBJ>2
barked bark VERB VBN ccomp>2 ccomp>2 VC>5
= say SUBJECT boy; say COMPLEMENT bark; bark SUBJECT dog

# the predicative of be is the predicate
dogs dog NOUN NNS nsubj>3 nsubj>2 SBJ>2
are be AUX VBP cop>3 root>0 ROOT>0
furry furry ADJ JJ root>0 acomp>2 PRD>2
= furry SUBJECT dog

# and stays a predicative with other verbs
dogs dog NOUN NNS nsubj>2 nsubj>2 SBJ>2
seem seem VERB VBP root>0 root>0 ROOT>0
furry furry ADJ JJ xcomp>2 acomp>2 PRD>2
= seem SUBJECT dog; seem PREDICATIVE furry

# a relative clause with a copula
dogs dog NOUN NNS nsubj>5 nsubj>5 SBJ>5
that that PRON WDT nsubj>4 nsubj>3 SBJ>3
are be AUX VBP cop>4 relcl>1 NMOD>1
furry furry ADJ JJ acl:relcl>1 acomp>3 PRD>3
bark bark VERB VBP root>0 root>0 ROOT>0
= furry SUBJECT dog; dog RELATIVE furry; bark SUBJECT dog

# a clause that a participle opens
chased chase VERB VBN advcl>5 advcl>5 ADV>5
by by ADP IN case>3 agent>1 LGS>1
dogs dog NOUN NNS obl:agent>1 pobj>2 PMOD>2
cats cat NOUN NNS nsubj>5 nsubj>5 SBJ>5
run run VERB VBP root>0 root>0 ROOT>0
= chase SUBJECT dog by; run ADVERBIAL chase; run SUBJECT cat
! chase
"""


def read(table: str) -> list[Annotated]:
    """Read the table."""
    sentences = []
    for block in table.strip().split("\n\n"):
        lines = block.split("\n")
        links = next(line for line in lines if line.startswith("= "))[2:].split("; ")
        passive = next((line for line in lines if line.startswith("! ")), "! ")[2:].split()
        words = tuple(tuple(line.split()) for line in lines if line[0] not in "#=!")
        sentences.append(Annotated(lines[0][2:], frozenset(links), frozenset(passive), words))
    return sentences


SENTENCES = read(TABLE)
