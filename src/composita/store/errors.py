"""Everything that composita raises on purpose.

    CompositaError
    ├── UsageError            the call or command is wrong: exit code 2
    │   └── MissingExtraError     an optional package is not installed
    ├── InputError            outside input is bad: names the source and the line
    ├── StoreError            something is wrong with a folder of ours
    │   ├── NotFoundError         nothing there, or not what was expected
    │   ├── CorruptError          a file is missing, cut short or altered
    │   ├── VersionError          written by a newer composita
    │   └── LockedError           another process is writing there
    ├── TooFewError           too few examples for anything to be learned
    ├── WorkerError           a task could not be done, even when repeated
    └── CancelledError        somebody asked to stop

A message is one line and says what was expected, what came and what to do about it.
"""

from __future__ import annotations

from pathlib import Path


class CompositaError(Exception):
    """Base of all errors that composita raises on purpose.

    >>> try:
    ...     raise InputError("the file is empty", source="a.conllu")
    ... except CompositaError as error:
    ...     print(error, error.exit_code)
    a.conllu: the file is empty 1
    """

    exit_code = 1


def plural(count: int, noun: str) -> str:
    """Write a number with its noun.

    >>> plural(1, "shard"), plural(1200, "shard")
    ('1 shard', '1,200 shards')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


class UsageError(CompositaError):
    """The call or command is wrong: an unknown option value, a contradiction, a missing argument."""

    exit_code = 2


class MissingExtraError(UsageError):
    """A package that only some tasks need is not installed.

    >>> print(MissingExtraError("reading raw text with UDPipe", package="ufal.udpipe", extra="parse"))
    reading raw text with UDPipe needs the package ufal.udpipe: pip install 'composita[parse]' ...
    """

    def __init__(self, purpose: str, *, package: str, extra: str) -> None:
        self.purpose, self.package, self.extra = purpose, package, extra
        super().__init__(
            f"{purpose} needs the package {package}: "
            f"pip install 'composita[{extra}]' (in a clone: pip install '.[{extra}]')"
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Travel between processes with the keyword arguments."""
        return _missing_extra_error, (self.purpose, self.package, self.extra)


def _missing_extra_error(purpose: str, package: str, extra: str) -> MissingExtraError:
    return MissingExtraError(purpose, package=package, extra=extra)


class InputError(CompositaError):
    """Outside input is bad.

    >>> print(InputError("HEAD is 'x', expected a number", source="a.conllu", line=7))
    a.conllu:7: HEAD is 'x', expected a number
    """

    def __init__(self, reason: str, *, source: str | Path | None = None, line: int | None = None) -> None:
        self.reason = reason
        self.source = None if source is None else str(source)
        self.line = line
        place = ":".join(str(part) for part in (source, line) if part is not None)
        super().__init__(f"{place}: {reason}" if place else reason)

    def __reduce__(self) -> tuple[object, ...]:
        """Travel between processes with the keyword arguments."""
        return _input_error, (type(self), self.reason, self.source, self.line)


def _input_error(kind: type[InputError], reason: str, source: str | None, line: int | None) -> InputError:
    return kind(reason, source=source, line=line)


class StoreError(CompositaError):
    """Something is wrong with a folder that composita wrote or is to write."""


class NotFoundError(StoreError):
    """There is nothing at this path, or something else than what was expected."""


class CorruptError(StoreError):
    """A file is missing, cut short or altered."""


class VersionError(StoreError):
    """The folder was written in a newer format than this program knows."""


class LockedError(StoreError):
    """Another process is writing to the folder."""


class TooFewError(CompositaError):
    """There are too few examples for anything to be learned."""


class WorkerError(CompositaError):
    """A task could not be done, even when repeated."""


class CancelledError(CompositaError):
    """Somebody asked to stop."""

    exit_code = 130
