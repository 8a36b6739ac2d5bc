"""Trees of calls of real libraries, compared with what a plain trace function finds out."""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

import relay
from tests.e2e.api import Api
from tests.oracle import slow_calls
from tests.programs import Program

PROBE = Path(relay.__file__).parent / "debuggers/debugpy/debuggee/probe/entry.py"

PROGRAMS = {
    "argparse": """
        parser = argparse.ArgumentParser(prog="x", exit_on_error=False)
        parser.add_argument("--count", type=int, default=1)
        sub = parser.add_subparsers()
        sub.add_parser("run").add_argument("name")
        print(parser.parse_args(["--count", "3", "run", "me"]))
        try:
            parser.parse_args(["--count", "x"])
        except argparse.ArgumentError as error:
            print(error)
    """,
    "configparser": """
        reader = configparser.ConfigParser()
        reader.read_string("[a]\\nx = 1\\ny = %(x)s2\\n[b]\\nz: 3\\n")
        print({name: dict(reader[name]) for name in reader.sections()})
        for broken in ("[a\\n", "x = 1", "[a]\\n[a]\\n"):
            try:
                configparser.ConfigParser().read_string(broken)
            except configparser.Error as error:
                print(type(error))
        print(reader.get("a", "no", fallback=4))
    """,
    "difflib": """
        one, two = ["a", "b", "c", "d"], ["a", "c", "e", "d", "f"]
        print("".join(difflib.unified_diff(one, two)), list(difflib.ndiff(one, two)))
        print(difflib.get_close_matches("appel", ["ape", "apple", "peach"]))
    """,
    "html.parser": """
        class Reader(html.parser.HTMLParser):
            def handle_starttag(self, tag, attrs):
                print(tag, attrs)

        reader = Reader()
        reader.feed("<p class='a'>x &amp; y<br><!-- c --></p><a href=1>")
        reader.close()
    """,
    "tomllib": """
        print(tomllib.loads('a = 1\\nb = ["x", {c = 2.5}]\\n[t.u]\\nd = 1979-05-27\\n'))
        for broken in ("a = ", "[a", "a = 1\\na = 2"):
            try:
                tomllib.loads(broken)
            except tomllib.TOMLDecodeError as error:
                print(error)
    """,
    "asyncio.queues": """
        async def put(queue):
            for number in range(3):
                await queue.put(number)

        async def both():
            queue = asyncio.queues.Queue(1)
            task = asyncio.ensure_future(put(queue))
            found = [await queue.get() for _ in range(3)]
            await task
            return found

        print(asyncio.run(both()))
    """,
    "jinja2": """
        text = "{% for x in xs if x %}{{ x|upper }}{% else %}none{% endfor %}{{ y.z }}"
        environment = jinja2.Environment(cache_size=0, autoescape=True)
        print(environment.from_string(text).render(xs=["a", "", "b"], y={"z": 1}))
        try:
            environment.from_string("{{ x")
        except jinja2.TemplateSyntaxError as error:
            print(error.message)
    """,
}


def script(module: str) -> str:
    body = PROGRAMS[module].rstrip()
    return f"""
        import {module}
        import asyncio

        def work():
            {body.strip().replace(chr(10), chr(10) + "    ")}

        start = 1  # @start
        work()
        end = 1  # @end
    """


def nested(rows: list[dict[str, Any]]) -> list[Any]:
    """The relay's rows as the slow tracer has them."""
    top: list[Any] = []
    path: list[list[Any]] = [top]
    for row in rows:
        assert "left_out" not in row
        children: list[Any] = []
        if "result" in row:
            outcome: Any = ["result", row["result"], 0]
        elif "raised_at" in row:
            outcome = ["raised", row["exception"], row["raised_at"]]
        else:
            outcome = None if "is_open" in row else ["ended", row["exception"], 0]
        arguments = [one["value"] for one in row["arguments"]]
        given = [row.get("yields", 0), *row.get("yielded", [])]
        function = f"{row['function']} {row['line']}"
        call = [function, arguments, outcome, given, children]
        del path[row["depth"] + 1 :]
        path[-1].append([call, row["count"]])
        path.append(children)
    return top


def difference(found: list[Any], expected: list[Any]) -> Any:
    """The first two calls that differ, without what is below them."""
    for one, other in itertools.zip_longest(found, expected):
        if one is None or other is None:
            return one, other
        if (one[0][:4], one[1]) != (other[0][:4], other[1]):
            return [*one[0][:4], one[1]], [*other[0][:4], other[1]]
        below = difference(one[0][4], other[0][4])
        if below is not None:
            return one[0][:2], below
    return None


@pytest.mark.parametrize("module", PROGRAMS)
async def test_every_call_is_the_one_that_a_slow_tracer_finds(
    api: Api, program: Callable[..., Program], module: str
) -> None:
    code = program(script(module))
    slow = [sys.executable, slow_calls.__file__, module, code.text, str(PROBE)]
    seed = {"PYTHONHASHSEED": "0"}
    with trio.fail_after(60):
        done = await trio.run_process(
            slow, env=os.environ | seed, capture_stdout=True, capture_stderr=True, check=False
        )
    assert done.returncode == 0, done.stderr.decode()
    expected = json.loads(done.stdout.decode().partition("TREE")[2])

    session = await api.session()
    for mark in ("start", "end"):
        await session.breakpoint(code.text, code.line(mark))
    await session.launch(code.text, env=seed)
    found = await session.post("/calls", focus=module, tree=True, max_chars=100_000, wait=60)
    assert (found["complete"], found["calls_state"]) == (True, "stopped")
    first = difference(nested(found["tree"]), expected)
    assert first is None, json.dumps(first)
    assert found["calls"] > 5
