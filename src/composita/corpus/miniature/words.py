"""The words of the miniature world, and what is planted in them by hand.

Meaning has ten dimensions, the *topics*. Each topic is heard in sixteen words of its own, which the miniature text
uses as context. A noun belongs to a topic and has something of a second one. A verb with two senses takes one or the
other by the topic of its subject or of its object, and for each sense there is a verb that has only this one, its
landmark.
"""

from __future__ import annotations

from typing import NamedTuple

TOPICS: dict[str, str] = {
    "wild": "forest den fur paw tail burrow scent hoof nest claw herd track antler feather thicket howl",
    "light": "flame spark smoke ash candle heat sunlight ray furnace torch coal glare bulb warmth gleam dawn",
    "feeling": "joy tear smile love grief pride shame hope fear delight sorrow blush tenderness envy sigh longing",
    "water": "wave tide shore harbour current foam anchor reef sail mast canal flood mist pebble oar deck",
    "food": "bread salt kitchen oven plate spoon soup butter flour cheese pepper feast honey garlic meal sugar",
    "war": "sword army shield siege trench armour banner cavalry arrow helmet battle spear camp enemy fortress truce",
    "law": "court verdict jury crime oath trial statute guilt prison clause sentence police appeal treaty bail decree",
    "money": "coin price debt loan profit bank tax wage stock rent invoice budget fund credit cash bargain",
    "music": "melody drum rhythm stage flute opera chord tune concert guitar piano hymn trumpet applause ballad harp",
    "illness": "fever bone cough pill clinic pulse bandage virus pain ward blood scar syringe ache pallor cure",
}
"""Each topic with the words in which it is heard."""

NOUNS: dict[str, str] = {
    "wild": "dog:feeling wolf:war horse:war fox:law bear:food hunter:food",
    "light": "fire:food lamp:music star:water ember:wild lantern:water sun:feeling",
    "feeling": "face:illness eye:light heart:illness child:food mother:law lover:music",
    "water": "river:wild ship:war sailor:music fish:food swimmer:light island:money",
    "food": "cook:illness cake:feeling baker:money apple:wild wine:feeling farmer:money",
    "war": "soldier:feeling knight:law castle:light general:law rebel:wild cannon:light",
    "law": "judge:feeling thief:money lawyer:money prisoner:illness witness:light senator:war",
    "money": "merchant:water banker:law company:war market:food firm:law heiress:feeling",
    "music": "singer:feeling song:light choir:light violin:wild dancer:illness bell:war",
    "illness": "doctor:money nurse:feeling wound:war patient:law plague:water surgeon:war",
}
"""The nouns that are arguments, each with the second topic that it has something of."""

ADJECTIVES = ("angry", "bright", "bitter", "royal", "hidden", "broken")

NOISE: dict[str, str] = {
    "NOUN": "day year place side part way case point kind number area end group line name moment",
    "ADV": "often slowly again early suddenly quietly soon once nearly almost later twice",
}
"""Words that mean nothing here and occur anywhere."""


class Verb(NamedTuple):
    """A verb of the miniature world: its past tense and participle, and where it has two senses, what selects them."""

    past: str
    participle: str
    senses: tuple[tuple[str, str], ...] = ()  # (landmark, the topics that select this sense)
    selector: str = "subject"


INTRANSITIVE: dict[str, Verb] = {
    "glow": Verb("glowed", "glowed", (("burn", "light food war"), ("beam", "feeling music illness"))),
    "stray": Verb("strayed", "strayed", (("roam", "wild war water"), ("digress", "law music money"))),
    "sink": Verb("sank", "sunk", (("drown", "water war wild"), ("decline", "money law illness"))),
    "boom": Verb("boomed", "boomed", (("thunder", "water war music"), ("prosper", "money food law"))),
    "flare": Verb("flared", "flared", (("blaze", "light wild food"), ("rage", "feeling war illness"))),
    "burn": Verb("burned", "burned"),
    "beam": Verb("beamed", "beamed"),
    "roam": Verb("roamed", "roamed"),
    "digress": Verb("digressed", "digressed"),
    "drown": Verb("drowned", "drowned"),
    "decline": Verb("declined", "declined"),
    "thunder": Verb("thundered", "thundered"),
    "prosper": Verb("prospered", "prospered"),
    "blaze": Verb("blazed", "blazed"),
    "rage": Verb("raged", "raged"),
}

TRANSITIVE: dict[str, Verb] = {
    "charge": Verb("charged", "charged", (("storm", "war wild water"), ("accuse", "law money feeling")), "object"),
    "draw": Verb("drew", "drawn", (("attract", "feeling money music"), ("drag", "water wild war")), "object"),
    "catch": Verb("caught", "caught", (("trap", "wild law water"), ("contract", "illness feeling light")), "object"),
    "serve": Verb("served", "served", (("feed", "food wild illness"), ("obey", "law war money")), "subject"),
    "beat": Verb("beat", "beaten", (("defeat", "war law money"), ("strike", "music illness food")), "subject"),
    "storm": Verb("stormed", "stormed"),
    "accuse": Verb("accused", "accused"),
    "attract": Verb("attracted", "attracted"),
    "drag": Verb("dragged", "dragged"),
    "trap": Verb("trapped", "trapped"),
    "contract": Verb("contracted", "contracted"),
    "feed": Verb("fed", "fed"),
    "obey": Verb("obeyed", "obeyed"),
    "defeat": Verb("defeated", "defeated"),
    "strike": Verb("struck", "struck"),
}

DITRANSITIVE: dict[str, Verb] = {"give": Verb("gave", "given"), "send": Verb("sent", "sent")}


def topic_numbers(names: str) -> list[int]:
    """Give the numbers of some topics.

    >>> topic_numbers("wild feeling")
    [0, 2]
    """
    places = {name: number for number, name in enumerate(TOPICS)}
    return [places[name] for name in names.split()]
