"""The application: static pages, the JSON interface, and what becomes of errors."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from composita.explorer.endpoints import Answer, Endpoint, openapi
from composita.explorer.guard import Guard, wants_page
from composita.explorer.questions import ENDPOINTS
from composita.explorer.view import LearningError, Showing
from composita.store.errors import CompositaError, StoreError, UsageError
from composita.store.progress import Cancellation
from composita.store.strict_json import dump_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from composita.explorer.view import View

logger = logging.getLogger("composita")

STATIC = Path(__file__).parent / "static"
PAGES = ("", "compose", "compare", "word", "map", "sentences", "experiment")
SECONDS = 20.0
"""How long an answer may take."""
AT_ONCE = 8
"""How many questions are answered at a time; more wait, and are refused when they have waited too long."""
LARGEST = 8 << 20
"""How many bytes an answer may have."""


def create_app(
    shown: View | Showing, *, hosts: frozenset[str] = frozenset(), token: str | None = None, seconds: float = SECONDS
) -> Guard:
    """Make the application that shows a view, within its guard.

    Parameters
    ----------
    shown
        What is shown, or what will be as soon as it can be opened.
    hosts
        The names under which the server may be asked; empty for any.
    token
        What every request must show; None for none.
    seconds
        How long an answer may take before the asker is told that it takes too long.

    """
    workers = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="explorer")
    showing = shown if isinstance(shown, Showing) else Showing(shown.path, shown)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        workers.shutdown(wait=False, cancel_futures=True)

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "index.html", media_type="text/html")

    async def document(request: Request) -> Response:
        return _json(200, openapi(ENDPOINTS))

    def ask(endpoint: Endpoint) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            given: dict[str, list[str]] = {}
            for name, value in request.query_params.multi_items():
                given.setdefault(name, []).append(value)
            cancel = Cancellation()

            def work() -> Answer:
                cancel.check()
                return endpoint.answer(showing.view().within(cancel), endpoint.read(given))

            return await _answered(endpoint, workers.submit(work), cancel, request, seconds)

        return answer

    routes = [
        *(Route(f"/{name}", page) for name in PAGES),
        Route("/openapi.json", document),
        *(Route(f"/api/{endpoint.name}", ask(endpoint)) for endpoint in ENDPOINTS),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _refused, 500: _broken})
    return Guard(app, hosts, token)


async def _answered(
    endpoint: Endpoint, work: Future[Answer], cancel: Cancellation, request: Request, seconds: float
) -> Response:
    """Wait for an answer as long as it may take, and as long as somebody waits for it."""
    answer = asyncio.wrap_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        both: set[asyncio.Future[Any]] = {answer, gone}
        await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            cancel.cancel()
            answer.cancel()
            return _json(503, {"error": f"this takes longer than {seconds:g} seconds: ask for less at once"})
        return _json(200, answer.result())
    except LearningError as error:
        return _json(503, {"error": str(error)}, {"Retry-After": "1"})
    except StoreError as error:
        return _json(503, {"error": f"the run cannot be read: {error}"})
    except CompositaError as error:
        return _json(400 if isinstance(error, UsageError) else 503, {"error": str(error)})
    except Exception as error:
        logger.exception("explorer: /api/%s", endpoint.name)
        return _json(500, {"error": f"internal error, {type(error).__name__}; the terminal shows more"})
    finally:
        gone.cancel()


async def _gone(request: Request) -> None:
    """Wait until nobody waits for the answer any more."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _json(status: int, content: object, headers: dict[str, str] | None = None) -> Response:
    body = dump_json(content)
    if len(body) > LARGEST:
        status, body = 413, dump_json({"error": f"the answer has {len(body):,} bytes: ask for less at once"})
    return Response(body, status, headers, media_type="application/json")


async def _refused(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 400
    page = not request.url.path.startswith(("/api/", "/static/"))
    if status == 404 and page and wants_page(request.scope["headers"]):
        # The page says that there is nothing, and where else to go.
        return FileResponse(STATIC / "index.html", 404, media_type="text/html")
    reason = "there is nothing at this address" if status == 404 else "this cannot be asked"
    return _json(status, {"error": reason})


async def _broken(request: Request, error: Exception) -> Response:
    return _json(500, {"error": f"internal error, {type(error).__name__}; the terminal shows more"})
