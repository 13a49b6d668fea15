"""Saying phrases in plain English, for the forms that people rate: in the present tense, with *the* before nouns.

>>> chase = Phrase.parse("chase-v(cat-n, dog-n)")
>>> say(chase), say(chase, passive=True)
('The dog chases the cat.', 'The cat is chased by the dog.')
>>> say(Phrase.parse("give_up-v(furry-a(hat-n), man-n)"))
'The man gives up the furry hat.'
"""

from __future__ import annotations

from collections.abc import Mapping

from composita.grammar.phrase import Phrase
from composita.store.errors import UsageError

_IRREGULAR = """
arise:arisen bear:borne beat:beaten become:become begin:begun bend:bent bet:bet bind:bound bite:bitten bleed:bled
blow:blown break:broken breed:bred bring:brought build:built burst:burst buy:bought cast:cast catch:caught choose:chosen
cling:clung come:come cost:cost creep:crept cut:cut deal:dealt dig:dug do:done draw:drawn drink:drunk drive:driven
eat:eaten fall:fallen feed:fed feel:felt fight:fought find:found flee:fled fling:flung fly:flown forbid:forbidden
forget:forgotten forgive:forgiven freeze:frozen get:got give:given go:gone grind:ground grow:grown hang:hung have:had
hear:heard hide:hidden hit:hit hold:held hurt:hurt keep:kept know:known lay:laid lead:led leave:left lend:lent let:let
lie:lain light:lit lose:lost make:made mean:meant meet:met mistake:mistaken overcome:overcome pay:paid put:put
quit:quit read:read ride:ridden ring:rung rise:risen run:run say:said see:seen seek:sought sell:sold send:sent set:set
shake:shaken shed:shed shine:shone shoot:shot show:shown shrink:shrunk shut:shut sing:sung sink:sunk sit:sat slay:slain
sleep:slept slide:slid speak:spoken spend:spent spin:spun split:split spread:spread stand:stood steal:stolen
stick:stuck sting:stung strike:struck swear:sworn sweep:swept swim:swum swing:swung take:taken teach:taught tear:torn
tell:told think:thought throw:thrown understand:understood undo:undone uphold:upheld wake:woken wear:worn weave:woven
weep:wept win:won wind:wound withdraw:withdrawn write:written
"""
IRREGULAR = dict(pair.split(":") for pair in _IRREGULAR.split())
"""Past participles that no rule makes."""

PLURAL = frozenset(("people-n", "police-n", "cattle-n", "clergy-n"))
"""Nouns that are several without an ending."""

_VOWELS = "aeiou"


def say(phrase: Phrase, *, passive: bool = False, forms: Mapping[str, int] | None = None) -> str:
    """Say a verb with its arguments as a sentence.

    Parameters
    ----------
    phrase
        A verb with a subject, an object and a subject, or what is given, to whom, and by whom.
    passive
        Whether the object comes first: *the cat is chased by the dog*.
    forms
        How often each form was seen in the corpus, to choose among the participles that rules allow.

    """
    if not phrase.head.endswith("-v") or not 1 <= phrase.arity <= 3:
        raise UsageError(f"{phrase}: expected a verb with one to three arguments")
    *objects, subject = map(noun_phrase, phrase.arguments)
    verb, _, particle = phrase.head[:-2].partition("_")
    particle = f" {particle.replace('_', ' ')}" if particle else ""
    if passive:
        if not objects:
            raise UsageError(f"{phrase}: expected an object, which a passive needs")
        recipient = f" to {objects[1]}" if len(objects) == 2 else ""
        be = "are" if phrase.arguments[0].head in PLURAL else "is"
        said = f"{objects[0]} {be} {participle(verb, forms)}{particle}{recipient} by {subject}"
    else:
        several = phrase.arguments[-1].head in PLURAL
        said = " ".join([subject, (verb if several else present(verb)) + particle, *objects[::-1]])
    return said[0].upper() + said[1:] + "."


def noun_phrase(phrase: Phrase) -> str:
    """Say a noun with its adjectives."""
    words = []
    while phrase.arity == 1 and phrase.head[-2:] in ("-a", "-n"):
        words.append(phrase.head[:-2].replace("_", " "))
        phrase = phrase.arguments[0]
    return " ".join(["the", *words, phrase.head[:-2].replace("_", " ")])


def present(verb: str) -> str:
    """Give the form that goes with *she*.

    >>> [present(verb) for verb in ("chase", "watch", "carry", "play", "go", "have", "be")]
    ['chases', 'watches', 'carries', 'plays', 'goes', 'has', 'is']
    """
    if verb in ("have", "be"):
        return {"have": "has", "be": "is"}[verb]
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def participle(verb: str, forms: Mapping[str, int] | None = None) -> str:
    """Give the past participle.

    >>> [participle(verb) for verb in ("chase", "carry", "stop", "draw", "visit", "need")]
    ['chased', 'carried', 'stopped', 'drawn', 'visited', 'needed']
    >>> participle("travel", {"travelled": 5, "traveled": 2})
    'travelled'
    """
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return verb[:-1] + "ied"
    plain, doubled = verb + "ed", verb + verb[-1] + "ed"
    if forms and (forms.get(plain) or forms.get(doubled)):
        return max(plain, doubled, key=lambda form: forms.get(form, 0))
    one_vowel = sum(letter in _VOWELS + "y" for letter in verb) == 1
    closed = len(verb) > 2 and verb[-1] not in _VOWELS + "wxy" and verb[-2] in _VOWELS
    return doubled if one_vowel and closed else plain
