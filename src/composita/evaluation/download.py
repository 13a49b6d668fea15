"""Downloading a file over HTTP or HTTPS: with a time-out, from several places, going on where it was interrupted."""

from __future__ import annotations

import io
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Sequence
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO

from composita.store.errors import CompositaError, InputError, UsageError
from composita.store.progress import Cancellation, Progress, ProgressCallback, check, silent

BLOCK = 1 << 16
ATTEMPTS = 3
PAUSE = 0.5
"""Seconds before the second attempt; twice as many before the third."""

LARGEST = 200_000_000
"""No benchmark has this many bytes."""

_MARK = ".from"


class DownloadError(CompositaError):
    """A file could not be downloaded."""


def download(
    urls: Sequence[str], partial: Path, *, timeout: float = 30.0, progress: ProgressCallback = silent,
    cancel: Cancellation | None = None,
) -> bytes:  # fmt: skip
    """Download from the first place that answers.

    What has come already stays in the file ``partial`` until all is there, with its address and edition beside it, so
    that the next call asks for the rest only. Each place is tried three times, but for one that has no such file.
    """
    reasons = []
    for url in urls:
        if not url.lower().startswith(("http://", "https://")):
            raise UsageError(f"expected an address that begins with http:// or https://, got {url!r}")
        for attempt in range(ATTEMPTS):
            check(cancel)
            if attempt:
                time.sleep(PAUSE * 2 ** (attempt - 1))
            try:
                _continue(url, partial, timeout, progress, cancel)
            except urllib.error.HTTPError as error:
                reasons.append(f"{url}: {error.code} {error.reason}")
                if error.code == 416:  # what we have is not a beginning of what is there
                    _forget(partial)
                elif error.code < 500:
                    break
            except (OSError, HTTPException, _CutShortError) as error:
                reasons.append(f"{url}: {_reason(error, timeout)}")
            else:
                data = partial.read_bytes()
                _forget(partial)
                return data
    said = "; ".join(dict.fromkeys(reasons))
    raise DownloadError(
        f"cannot download ({said}): are you offline? Run the same command again to go on, or get the file elsewhere "
        "and: composita data add FILE"
    )


class _CutShortError(Exception):
    """Fewer bytes came than were announced."""


def _continue(url: str, partial: Path, timeout: float, progress: ProgressCallback, cancel: Cancellation | None) -> None:
    """Download what is missing."""
    mark, have = partial.with_name(partial.name + _MARK), 0
    request = urllib.request.Request(url, headers={"User-Agent": "composita", "Accept-Encoding": "identity"})
    if partial.exists() and mark.exists():
        origin, _, edition = mark.read_text(encoding="utf-8").partition("\n")
        if origin == url and edition:
            have = partial.stat().st_size
            request.add_header("Range", f"bytes={have}-")
            # Should the file have changed since, the whole of it comes instead of the rest.
            request.add_header("If-Range", edition)
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        resumed = answer.status == 206
        if not resumed:
            have = 0
        announced = answer.headers.get("Content-Length")
        total = have + int(announced) if announced and announced.isdigit() else None
        if (total or 0) > LARGEST:
            raise InputError(f"{total:,} bytes are too many for a benchmark", source=url)
        edition = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
        mark.write_text(f"{url}\n{edition}", encoding="utf-8")
        with partial.open("ab" if resumed else "wb") as file:
            have = _copy(answer, file, have, total, progress, cancel)
    if total is not None and have < total:
        raise _CutShortError(f"the connection ended after {have:,} of {total:,} bytes")


def _copy(
    answer: HTTPResponse, file: IO[bytes], have: int, total: int | None, progress: ProgressCallback,
    cancel: Cancellation | None,
) -> int:  # fmt: skip
    while block := answer.read1(BLOCK):
        check(cancel)
        file.write(block)
        have += len(block)
        if have > LARGEST:
            raise InputError(f"more than {LARGEST:,} bytes are too many for a benchmark")
        progress(Progress("downloading", have, total or have, "bytes"))
    return have


def _reason(error: Exception, timeout: float) -> str:
    inner = getattr(error, "reason", error)
    if isinstance(error, TimeoutError) or isinstance(inner, TimeoutError):
        return f"no answer within {timeout:g} seconds"
    return str(getattr(inner, "strerror", None) or inner) or type(error).__name__


def _forget(partial: Path) -> None:
    partial.unlink(missing_ok=True)
    partial.with_name(partial.name + _MARK).unlink(missing_ok=True)


def unzipped(data: bytes, member: str) -> bytes:
    """Take the one file out of a ZIP archive whose name ends so; no archive is unpacked to the disk."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            found = [info for info in archive.infolist() if info.filename.lower().endswith(member.lower())]
            found = [info for info in found if not info.filename.startswith("__MACOSX")]
            if not found:
                raise InputError(f"there is no {member} in the archive, but {', '.join(archive.namelist()[:8])}")
            if found[0].file_size > LARGEST:
                raise InputError(f"{found[0].file_size:,} bytes are too many for a benchmark", source=member)
            return archive.read(found[0])
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"not an archive that can be read: {error}", source=member) from None
