"""Patterns: which words of a dependency tree are a phrase, declared as a head with its arguments.

>>> svo = load_patterns("svo")[0]
>>> [argument.name for argument in svo.arguments], svo.display
(['object', 'subject'], ('subject', 'head', 'object'))
>>> load_patterns("svx")
Traceback (most recent call last):
composita.store.errors.UsageError: unknown pattern 'svx': choose sv, svo, vo, an, nn, svoo, svpo, or a TOML file ...
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from composita.corpus.labels import Role
from composita.corpus.rulefiles import check_keys, string, strings
from composita.corpus.tags import LETTERS as CLASS_LETTERS
from composita.corpus.tags import Class
from composita.store.errors import UsageError

MOST_ARGUMENTS = 4
MOST_PATTERNS = 60
OF = 16
"""What is added to a role where the argument is the governor: ``modifier-of`` is the noun of an adjective."""

_NOT_ROLES = (Role.NONE, Role.CONJUNCT, Role.AUXILIARY)
ROLES = {role.name.lower(): int(role) for role in Role if role not in _NOT_ROLES}
ROLES |= {f"{name}-of": number + OF for name, number in ROLES.items()}
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,19}")
_RESERVED = ("word", "head")


@dataclass(frozen=True)
class Argument:
    """One place of a pattern.

    Parameters
    ----------
    roles
        What the word is to the head; names of roles, with ``-of`` where the head is that to the word.
    pos
        Letters of the classes that it may have; ``n`` stands for nouns and names, ``p`` for pronouns.
    prepositions
        For obliques and recipients: the prepositions that may introduce it, in lower case; none for any.
    optional
        Whether the phrase also counts without it.
    join
        Whether its preposition is joined to the head: ``live_in-v``.

    """

    roles: tuple[str, ...]
    pos: tuple[str, ...] = ("n", "p")
    prepositions: tuple[str, ...] = ()
    optional: bool = False
    join: bool = False

    @property
    def name(self) -> str:
        """How ``display`` calls it."""
        return self.roles[0]

    @property
    def role_mask(self) -> int:
        """A bit for each role; those from `OF` on are of the governor."""
        return sum(1 << ROLES[role] for role in self.roles)

    @property
    def class_mask(self) -> int:
        """A bit for each class."""
        return sum(1 << kind for kind in Class if CLASS_LETTERS[kind] and CLASS_LETTERS[kind] in self.pos)


@dataclass(frozen=True)
class Pattern:
    """A head and its arguments, in the order of application."""

    name: str
    head: str
    arguments: tuple[Argument, ...]
    without: tuple[str, ...] = ()
    display: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [argument.name for argument in self.arguments]
        if not _NAME.fullmatch(self.name) or self.name in _RESERVED:
            raise UsageError(f"{self.name!r} cannot name a pattern: expected a few letters a-z and digits, not 'word'")
        if not 1 <= len(self.arguments) <= MOST_ARGUMENTS:
            raise UsageError(
                f"pattern {self.name}: expected 1 to {MOST_ARGUMENTS} arguments, got {len(self.arguments)}"
            )
        if len(set(names)) < len(names):
            raise UsageError(f"pattern {self.name}: two arguments begin with the role {max(names, key=names.count)!r}")
        if all(argument.optional for argument in self.arguments):
            raise UsageError(f"pattern {self.name}: expected an argument that is not optional")
        if sum(argument.join for argument in self.arguments) > 1:
            raise UsageError(f"pattern {self.name}: only one preposition can be joined to the head")
        if not self.display:
            object.__setattr__(self, "display", (*reversed(names[1:]), "head", names[0]))
        if sorted(self.display) != sorted(["head", *names]):
            raise UsageError(
                f"pattern {self.name}: 'display' is {list(self.display)}, expected head, {', '.join(names)}"
            )

    @property
    def without_mask(self) -> int:
        """A bit for each role that the head must not have."""
        return sum(1 << ROLES[role] for role in self.without)

    def to_table(self) -> dict[str, Any]:
        """Give the pattern as TOML and JSON have it.

        >>> svpo = load_patterns("svpo")[0]
        >>> Pattern.from_table("svpo", svpo.to_table()) == svpo
        True
        """
        places: list[dict[str, Any]] = []
        for argument in self.arguments:
            place: dict[str, Any] = {"roles": list(argument.roles), "pos": list(argument.pos)}
            place |= {"prepositions": list(argument.prepositions)} if argument.prepositions else {}
            place |= {key: True for key in ("optional", "join") if getattr(argument, key)}
            places.append(place)
        table: dict[str, Any] = {"head": self.head, "arguments": places, "display": list(self.display)}
        return table | ({"without": list(self.without)} if self.without else {})

    @classmethod
    def from_table(cls, name: str, table: object, source: str = "pattern") -> Pattern:
        """Check a table, as read from TOML or made by `to_table`."""
        where = f"{source}: [{name}]"
        if not isinstance(table, dict):
            raise UsageError(f"{where} is {table!r}, expected a table with a head and arguments")
        check_keys(table, ("head", "arguments", "without", "display"), where)
        places = table.get("arguments")
        if not isinstance(places, list) or not all(isinstance(place, dict) for place in places):
            raise UsageError(
                f"{where}: 'arguments' is {places!r}, expected a list of tables such as {{role = \"object\"}}"
            )
        return cls(
            name,
            string(table, "head", where, ("n", "v", "a", "r")),
            tuple(_argument(place, where) for place in places),
            _roles(strings(table, "without", where), where),
            strings(table, "display", where),
        )


def _argument(place: Mapping[str, Any], where: str) -> Argument:
    check_keys(place, ("role", "roles", "pos", "prepositions", "optional", "join"), where, "arguments.")
    roles = strings(place, "roles", where) or ((string(place, "role", where),) if "role" in place else ())
    if not roles:
        raise UsageError(f'{where}: an argument has no role; expected role = "object" or another of {", ".join(ROLES)}')
    pos = strings(place, "pos", where) or ("n", "p")
    if bad := [letter for letter in pos if letter not in ("n", "v", "a", "r", "p")]:
        raise UsageError(f"{where}: unknown part of speech {bad[0]!r}: choose n, v, a, r or p")
    flags = {key: place.get(key, False) for key in ("optional", "join")}
    for key, value in flags.items():
        if not isinstance(value, bool):
            raise UsageError(f"{where}: '{key}' is {value!r}, expected true or false")
    prepositions = tuple(word.lower() for word in strings(place, "prepositions", where))
    return Argument(_roles(roles, where), pos, prepositions, **flags)


def _roles(names: Iterable[str], where: str) -> tuple[str, ...]:
    names = tuple(names)
    for name in names:
        if name not in ROLES:
            raise UsageError(f"{where}: unknown role {name!r}: choose {', '.join(ROLES)}")
    return names


@cache
def built_in() -> dict[str, Pattern]:
    """Read the patterns that ship with the package."""
    text = files(__package__).joinpath("patterns.toml").read_text(encoding="utf-8")
    return {name: Pattern.from_table(name, table, "patterns.toml") for name, table in tomllib.loads(text).items()}


def load_patterns(names: str | Iterable[str], *, sv_without_object: bool = False) -> tuple[Pattern, ...]:
    """Find patterns by name, and read all those in TOML files; in the order of their names.

    Parameters
    ----------
    names
        Names of built-in patterns or paths of TOML files, as a list or joined by commas.
    sv_without_object
        Whether ``sv`` is to mean a verb with a subject and no object; otherwise the object does not matter.

    """
    found: dict[str, Pattern] = {}
    for name in (part.strip() for part in (names.split(",") if isinstance(names, str) else names)):
        if not name:
            continue
        for pattern in [built_in()[name]] if name in built_in() else _read(name):
            if found.setdefault(pattern.name, pattern) != pattern:
                raise UsageError(f"{name}: the pattern {pattern.name!r} is given twice: rename one")
    if sv_without_object and "sv" in found:
        found["sv"] = replace(found["sv"], without=("object",))
    if len(found) > MOST_PATTERNS:
        raise UsageError(f"expected at most {MOST_PATTERNS} patterns, got {len(found)}")
    return tuple(found[name] for name in sorted(found))


def _read(path: str) -> list[Pattern]:
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(
            f"unknown pattern {path!r}: choose {', '.join(built_in())}, or a TOML file that is there"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the patterns in {path}: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not a TOML file: {error}") from None
    if not table:
        raise UsageError(f"{path}: expected patterns such as [svo], found none")
    return [Pattern.from_table(name, value, path) for name, value in table.items()]
