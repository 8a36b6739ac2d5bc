"""Frameworks of a version that is not in the relay's own environment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.programs import Program
from tests.virtual_environments import made


async def test_quart_hands_an_error_on_behind_its_context_and_has_a_reloader(
    api: Api, program: Callable[..., Program], environments: Path
) -> None:
    """Since 0.23, which needs Python 3.13: the relay itself has an older one."""
    python = made(environments, "quart==0.23.1", base=installed_python("3.13"))
    fails = program("""
        import asyncio
        import os

        import quart
        from quart.utils import run_reloader

        app = quart.Quart(__name__)
        app.logger.disabled = True

        @app.get("/price")
        async def price():
            return {"bread": 3}["milk"]  # @price

        @app.get("/later")
        async def later():
            app.add_background_task(work)
            return ""

        async def work():
            raise ValueError("later")  # @work

        async def main():
            client = app.test_client()
            async with app.test_app():
                print(*[(await client.get(path)).status_code for path in ("/price", "/later")])

        if "QUART_RUN_MAIN" not in os.environ:
            run_reloader()
        asyncio.run(main())
        os._exit(3)
    """)
    session = await api.session(python_path=python)
    answer = await session.launch(fails.text, debug_subprocesses="auto")
    for ends, name, line in (("request", "GET /price", "price"), ("task", "background", "work")):
        assert (answer["stop_reason"], answer["ends"]) == ("exception", ends), answer
        assert answer["ends_name"] == name
        assert answer["current_location"]["line"] == fails.line(line)
        answer = await session.post("/continue", wait=30)
    assert (answer["status"], answer["exit_code"]) == ("terminated", 0)
    assert await session.printed() == "500 200\n"
