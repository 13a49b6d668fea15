"""The loops of `composita.corpus.roles`, over integers only.

Each takes and fills arrays with one entry a token; -1 stands for no token. A token's parent is known to lie
in its own sentence (`parents` sees to it), so no index leaves the arrays on any input; every climb has a
bound, so that a cycle ends. All loops are linear in the number of tokens.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from composita.corpus.labels import Function, Role
from composita.corpus.tags import Class
from composita.store.kernels import kernel

Ints = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.uint16]
Bools = npt.NDArray[np.bool_]

CHAIN_LIMIT = 8
"""The most steps down a chain of auxiliaries; *may have been being chased* has 4."""
CLIMB_LIMIT = 16
"""The most steps from a relative word up to the verb of its clause."""

# What a word is by itself.
IS_PARTICIPLE = 1
IS_GERUND = 2
IS_RELATIVE = 4
IS_BE = 8
IS_AGENT = 16
IS_RECIPIENT = 32
IS_GIVE = 64
IS_ADJUNCT = 128
IS_GENITIVE = 256

# What a predicate has.
HAS_SUBJECT = 1
HAS_OBJECT = 2
HAS_TWO_OBJECTS = 4
HAS_AGENT = 8
HAS_AUXILIARY = 16
HAS_PASSIVE = 32
HAS_COMPLEMENT = 64
HAS_SUBORDINATOR = 128
HAS_RELATIVE = 256
HAS_GENITIVE = 512
HAS_CHILD = 1024

# Tree rules that are on, in the order of `composita.corpus.labels.RULES`.
RULE_PASSIVE_CHAIN = 1
RULE_PASSIVE_PARTICIPLE = 2
RULE_COPULA = 4
RULE_TWO_OBJECTS = 8
RULE_AGENT_PHRASE = 16
RULE_ZERO_RELATIVE = 32

# Numba takes plain integers for constants, not the members of an IntEnum.
F_SUBJECT = int(Function.SUBJECT)
F_OBJECT = int(Function.OBJECT)
F_OBLIQUE = int(Function.OBLIQUE)
F_COMPOUND = int(Function.COMPOUND)
F_PREDICATIVE = int(Function.PREDICATIVE)
F_RELATIVE = int(Function.RELATIVE)
F_ADVERBIAL = int(Function.ADVERBIAL)
F_CONJUNCT = int(Function.CONJUNCT)
F_AUXILIARY = int(Function.AUXILIARY)
F_PASSIVE_SUBJECT = int(Function.PASSIVE_SUBJECT)
F_AGENT = int(Function.AGENT)
F_ADNOMINAL = int(Function.ADNOMINAL)
F_CHAIN = int(Function.CHAIN)
F_MARKER = int(Function.MARKER)
F_PREPOSITION = int(Function.PREPOSITION)
SUBJECT = int(Role.SUBJECT)
OBJECT = int(Role.OBJECT)
RECIPIENT = int(Role.RECIPIENT)
OBLIQUE = int(Role.OBLIQUE)
POSSESSOR = int(Role.POSSESSOR)
RELATIVE = int(Role.RELATIVE)
CONJUNCT = int(Role.CONJUNCT)
AUXILIARY = int(Role.AUXILIARY)
OTHER = int(Class.OTHER)
NOUN = int(Class.NOUN)
PROPER = int(Class.PROPER)
VERB = int(Class.VERB)
PRONOUN = int(Class.PRONOUN)

_SIGNS = {
    Function.SUBJECT: HAS_SUBJECT,
    Function.PASSIVE_SUBJECT: HAS_SUBJECT | HAS_PASSIVE,
    Function.AUXILIARY: HAS_AUXILIARY,
    Function.PASSIVE_AUXILIARY: HAS_AUXILIARY | HAS_PASSIVE,
    Function.COMPLEMENT: HAS_COMPLEMENT,
    Function.PREDICATIVE: HAS_COMPLEMENT,
    Function.SUBORDINATOR: HAS_SUBORDINATOR,
}
SIGNS = np.array([_SIGNS.get(function, 0) for function in Function], np.uint16)
"""What a word of each function shows about its governor, whatever else is there."""

_ROLES = {Function.ADNOMINAL: Role.RELATIVE, Function.PASSIVE_AUXILIARY: Role.AUXILIARY}
ROLE_OF = np.array([_ROLES.get(f, f if f <= max(Role) else Role.NONE) for f in Function], np.uint8)
"""The deep role of a word of each function, unless a rule knows better."""

_PREPOSITIONAL = (Function.AGENT, Function.OBLIQUE, Function.RECIPIENT, Function.CONJUNCT)
MAY_HAVE_MARKER = np.array([function in _PREPOSITIONAL for function in Function], np.bool_)
"""Whether a preposition is kept beside a word of this function."""


@kernel
def parents(starts: npt.NDArray[np.int64], head: Ints, parent: Ints) -> None:
    """Give the index of each token's head; -1 for a root and for a head outside of its sentence."""
    for s in range(len(starts) - 1):
        first, last = starts[s], starts[s + 1]
        for t in range(first, last):
            p = t + head[t]
            parent[t] = p if head[t] != 0 and first <= p < last else -1


@kernel
def find_functions(
    parent: Ints, symbol: Ints, kind: Bytes, step: npt.NDArray[np.int16], accept: Bytes, depth: Bytes,
    function: Bytes, governor: Ints, marker: Ints,
) -> None:  # fmt: skip
    """Run the automaton upward from each token; the longest path that ends at a fitting governor counts."""
    for t in range(len(parent)):
        found, above, climb = 0, -1, 0
        state = 0
        node = t
        up = parent[t]
        while up >= 0:
            state = step[state, symbol[node] * 2 + (1 if node > up else 0)]
            if state < 0:
                break
            if accept[state, kind[up]] != 0:
                found, above, climb = accept[state, kind[up]], up, depth[state, kind[up]]
            node = up
            up = parent[up]
        function[t] = found
        governor[t] = above
        node = t
        for _ in range(climb):
            node = parent[node]
        marker[t] = node if climb > 0 else -1


@kernel
def find_chains(function: Bytes, governor: Ints, flags: Flags, rules: int, below: Ints, bottom: Ints) -> None:
    """Join auxiliaries to their verbs (has > been > chased), and a copula to its predicative.

    ``below`` is the next word down, -1 at the end; ``bottom`` is the end of the chain, the token itself where
    it is in none.
    """
    size = len(function)
    below[:] = -1
    for t in range(size):
        if function[t] == F_CHAIN and below[governor[t]] < 0:
            below[governor[t]] = t
    if rules & RULE_COPULA:
        for t in range(size):
            g = governor[t]
            if function[t] == F_PREDICATIVE and flags[g] & IS_BE and below[g] < 0:
                below[g] = t
    for t in range(size):
        b = t
        for _ in range(CHAIN_LIMIT):
            if below[b] < 0:
                break
            b = below[b]
        bottom[t] = b


@kernel
def follow_chains(
    function: Bytes, governor: Ints, marker: Ints, flags: Flags, rules: int, below: Ints, bottom: Ints,
    deep_function: Bytes, deep_governor: Ints, has: Flags,
) -> None:  # fmt: skip
    """Let the last word of a chain stand where the first stood, with the dependents of all."""
    for t in range(len(function)):
        top = t
        for _ in range(CHAIN_LIMIT):
            if governor[top] < 0 or below[governor[top]] != top:
                break
            top = governor[top]
        f = function[top]
        g = governor[top]
        if below[t] >= 0:
            f = F_AUXILIARY
            g = bottom[t]
        elif top != t:
            marker[t] = marker[top]
            has[t] |= HAS_AUXILIARY
            if (
                rules & RULE_PASSIVE_CHAIN
                and flags[t] & IS_PARTICIPLE
                and function[t] == F_CHAIN
                and flags[governor[t]] & IS_BE
            ):
                has[t] |= HAS_PASSIVE
        elif f == F_CHAIN:
            f = 0  # a second verb under one auxiliary: a mistake of the parser
        if f == 0 or g < 0 or bottom[g] == t:
            deep_function[t] = 0
            deep_governor[t] = -1
        else:
            deep_function[t] = f
            deep_governor[t] = bottom[g]


@kernel
def is_predicate(kind: int, flags: int) -> bool:
    """Say whether this is a verb, or a participle that the tagset calls something else."""
    return kind == VERB or (flags & IS_PARTICIPLE) != 0


@kernel
def is_nominal(kind: int) -> bool:
    """Say whether this is a noun, a name or a pronoun."""
    return kind in (NOUN, PROPER, PRONOUN)


@kernel
def is_stranded(function: int, kind: int, has: int) -> bool:
    """Say whether this is a preposition without a noun: *the house dogs live in*."""
    lone = function == F_PREPOSITION or (function == F_OBLIQUE and kind == OTHER)
    return lone and (has & HAS_CHILD) == 0


@kernel
def mark_heads(parent: Ints, flags: Flags, has: Flags) -> None:
    """Note which words have dependents, and which a genitive marker."""
    for t in range(len(parent)):
        if parent[t] >= 0:
            has[parent[t]] |= HAS_CHILD | (HAS_GENITIVE if flags[t] & IS_GENITIVE else 0)


@kernel
def describe_clauses(
    function: Bytes, governor: Ints, kind: Bytes, flags: Flags,
    has: Flags, subject: Ints, next_object: Ints, marker: Ints, stranded: Ints,
) -> None:  # fmt: skip
    """Collect what each governor has: signs, its first subject, the next object, its preposition."""
    subject[:] = -1
    next_object[:] = -1
    stranded[:] = -1
    for t in range(len(function)):
        f = function[t]
        g = governor[t]
        if g < 0:
            continue
        has[g] |= SIGNS[f]
        if SIGNS[f] & HAS_SUBJECT:
            if subject[g] < 0:
                subject[g] = t
        elif f == F_OBJECT:
            has[g] |= HAS_TWO_OBJECTS if has[g] & HAS_OBJECT else HAS_OBJECT
            if next_object[g] < 0 and t > g:
                next_object[g] = t
        elif f == F_AGENT:
            if is_predicate(kind[g], flags[g]):
                has[g] |= HAS_AGENT | HAS_PASSIVE
        elif f == F_MARKER:
            if marker[g] < 0:
                marker[g] = t
        elif is_stranded(f, kind[t], has[t]):
            stranded[g] = t


@kernel
def find_passives(
    function: Bytes, governor: Ints, kind: Bytes, flags: Flags, rules: int, has: Flags, passive: Bools
) -> None:
    """Mark predicates as passive: by a sign in the clause, as a bare participle, or as a conjunct of such.

    A bare participle with an object of its own (*girls given books*) must be a verb of giving: otherwise it
    is a past tense that the tagger took for a participle.
    """
    for t in range(len(function)):
        passive[t] = (has[t] & HAS_PASSIVE) != 0
        if not flags[t] & IS_PARTICIPLE or has[t] & (HAS_SUBJECT | HAS_AUXILIARY):
            continue
        f = function[t]
        g = governor[t]
        modifies = f in (F_RELATIVE, F_ADNOMINAL, F_ADVERBIAL)
        if modifies and rules & RULE_PASSIVE_PARTICIPLE:
            passive[t] = passive[t] or not has[t] & HAS_OBJECT or flags[t] & IS_GIVE
        elif f == F_CONJUNCT and g < t:  # was chased and eaten; is furry and (is) loved
            copular = has[g] & HAS_AUXILIARY and not is_predicate(kind[g], flags[g])
            passive[t] = passive[t] or passive[g] or copular


@kernel
def subject_role(function: int, has: int, passive: bool) -> int:
    """Give the deep role of a subject; in *the girl was given a book* it is the recipient."""
    if function == F_PASSIVE_SUBJECT or passive:
        return RECIPIENT if has & HAS_OBJECT else OBJECT
    return SUBJECT


@kernel
def oblique_role(
    flags: int, nominal: bool, marker: int, verb: int, verb_has: int, relative: bool, passive: bool, rules: int
) -> int:  # fmt: skip
    """Give the deep role of an oblique: perhaps the agent of a passive verb, or the recipient of one of giving.

    ``flags``, ``marker`` and ``verb`` say what the word, its preposition and its governor are (``IS_*``).
    Single numbers are passed, no arrays: that would cost more than the work.
    """
    agentive = rules & RULE_AGENT_PHRASE and marker & IS_AGENT and nominal and not flags & IS_ADJUNCT
    if agentive and passive and not verb_has & HAS_AGENT:
        return SUBJECT
    given = verb_has & HAS_OBJECT or passive or relative  # books boys gave to girls
    if marker & IS_RECIPIENT and verb & IS_GIVE and given:
        return RECIPIENT
    return OBLIQUE


@kernel
def find_roles(
    function: Bytes, governor: Ints, kind: Bytes, flags: Flags, rules: int, has: Flags, next_object: Ints,
    marker: Ints, passive: Bools, role: Bytes,
) -> None:  # fmt: skip
    """Find the deep role of every token; where there is none, there is no governor and no marker either."""
    for t in range(len(function)):
        f = function[t]
        g = governor[t]
        if f == 0:  # nearly half of all tokens
            role[t] = 0
            marker[t] = -1
            continue
        r = ROLE_OF[f]
        if SIGNS[f] & HAS_SUBJECT:
            r = subject_role(f, has[g], passive[g])
        elif f == F_AGENT:
            r = SUBJECT if is_predicate(kind[g], flags[g]) else OBLIQUE
        elif f == F_OBLIQUE:
            if marker[t] < 0:
                r = 0 if is_stranded(f, kind[t], has[t]) else OBLIQUE
            else:
                nominal, relative = is_nominal(kind[t]), function[g] == F_RELATIVE
                preposition = flags[marker[t]]
                r = oblique_role(flags[t], nominal, preposition, flags[g], has[g], relative, passive[g], rules)
                if r == SUBJECT:
                    has[g] |= HAS_AGENT  # there is only one
        elif f == F_OBJECT:
            if rules & RULE_TWO_OBJECTS and has[g] & HAS_TWO_OBJECTS and next_object[g] == t:
                r = RECIPIENT
        elif f == F_COMPOUND and has[t] & HAS_GENITIVE:
            r = POSSESSOR
        role[t] = r
        governor[t] = g if r != 0 else -1
        marker[t] = marker[t] if r != 0 and MAY_HAVE_MARKER[f] else -1


@kernel
def find_antecedents(
    parent: Ints, bottom: Ints, governor: Ints, role: Bytes, flags: Flags, has: Flags, antecedent: Ints
) -> None:
    """Climb from a relative word to the clause that modifies a noun.

    The noun stands before the word and the verb behind it: the second *who* of *a man who asked who came*
    is not one.
    """
    antecedent[:] = -1
    for t in range(len(parent)):
        if not flags[t] & IS_RELATIVE:
            continue
        node = parent[t]
        for _ in range(CLIMB_LIMIT):
            if node < 0:
                break
            verb = bottom[node]
            if role[verb] == RELATIVE:
                if governor[verb] < t < verb:
                    has[verb] |= HAS_RELATIVE
                    if role[t] != 0:
                        antecedent[t] = governor[verb]
                break
            node = parent[node]


@kernel
def find_gaps(
    function: Bytes, governor: Ints, kind: Bytes, role: Bytes, flags: Flags, rules: int, has: Flags,
    passive: Bools, stranded: Ints, gap: Bytes, marker: Ints,
) -> None:  # fmt: skip
    """Tell what the noun is in a clause that modifies it, where no relative word says so."""
    for v in range(len(role)):
        gap[v] = 0
        if role[v] != RELATIVE or has[v] & (HAS_RELATIVE | HAS_SUBORDINATOR):
            continue
        if not has[v] & HAS_SUBJECT:
            if passive[v]:  # cats chased by dogs; girls given books
                gap[v] = RECIPIENT if has[v] & HAS_OBJECT else OBJECT
            elif flags[v] & IS_GERUND:  # dogs chasing cats
                gap[v] = SUBJECT
        elif rules & RULE_ZERO_RELATIVE and function[v] == F_RELATIVE and kind[v] == VERB and not passive[v]:
            if has[v] & (HAS_OBJECT | HAS_COMPLEMENT) or flags[governor[v]] & IS_ADJUNCT:
                continue  # the way he came; the dog he said was dead
            gap[v] = OBLIQUE if stranded[v] >= 0 else OBJECT  # the house dogs live in; the cats dogs chase
            marker[v] = stranded[v]


@kernel
def find_coordinations(
    governor: Ints, role: Bytes, kind: Bytes, has: Flags, subject: Ints, passive: Bools,
    first: Ints, shared: Ints, shared_role: Bytes,
) -> None:  # fmt: skip
    """Find the first conjunct of every further one, and the subject that conjoined verbs share."""
    for t in range(len(role)):
        first[t] = -1
        shared[t] = -1
        shared_role[t] = 0
        if role[t] != CONJUNCT:
            continue
        g = governor[t]
        first[t] = first[g] if g < t and first[g] >= 0 else g
        s = subject[first[t]]
        if kind[t] == VERB and not has[t] & HAS_SUBJECT and 0 <= s < t:
            shared[t] = s
            shared_role[t] = subject_role(F_SUBJECT, has[t], passive[t])


@kernel
def shift(positions: Ints, by: int) -> None:
    """Count positions from the first token of all instead of the first of a block; -1 stays."""
    for t in range(len(positions)):
        if positions[t] >= 0:
            positions[t] += by
