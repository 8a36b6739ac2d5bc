"""Watches, hover, completions, the exception of a stop, modules and source."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from relay import Hub
from relay.errors import SourceNotFound
from relay.session.source_text import LARGEST_SOURCE, source_lines
from tests.e2e.api import Api, Session
from tests.e2e.refusals import refused
from tests.programs import Program
from tests.relays import impatient

Write = Callable[..., Program]

LOOKS = """
    import collections
    import helper
    import time

    class Order:
        rate = 3
        ran = []

        def __init__(self, total):
            self.total = total
            self.lines = {"first": [10, 20]}

        @property
        def tax(self):
            self.ran.append("tax")
            return 1

        def __getattr__(self, name):
            self.ran.append(name)
            raise AttributeError(name)

        def pay(self):
            return self.total

    def work(number):
        order = Order(number * 2)
        counts = collections.defaultdict(list)
        text = f"order {order.total}"  # @here
        again = order.pay()  # @again
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise ValueError("outer") from error  # @raise

    work(21)
"""

HELPER = """
    def double(value):
        return value * 2
"""


async def stopped(api: Api, program: Write, source: str = LOOKS) -> Session:
    program(HELPER, name="helper.py")
    written = program(source)
    session = await api.session()
    await session.breakpoint(written.text, written.line("here"))
    launched = await session.launch(written.text)
    assert launched["status"] == "paused", launched
    return session


# Watches -----------------------------------------------------------------------------------


async def test_watches_follow_the_program_from_stop_to_stop(api: Api, program: Write) -> None:
    session = await api.session()
    first = await session.post("/watch", expression="order.total + 1")
    assert await session.post("/watch", expression="order.total + 1") == first
    second = await session.post("/watch", expression="again")
    assert (first["id"], second["id"]) == ("watch_1", "watch_2")
    assert [w["result"] for w in (await session.get("/watch"))["watches"]] == [None, None]
    written = program(LOOKS)
    program(HELPER, name="helper.py")
    await session.breakpoint(written.text, written.line("again"))
    launched = await session.launch(written.text, include=["watches"])
    at_stop = launched["stop"]["watches"]
    assert [watch["id"] for watch in at_stop] == ["watch_1", "watch_2"]
    assert (at_stop[0]["result"], at_stop[0]["type"]) == ("43", "int")
    assert at_stop[1]["error"].startswith("NameError")
    await session.post("/step-over")
    assert (await session.get("/watch"))["watches"][1]["result"] == "42"
    module = (await session.get("/watch", frame_id=1))["watches"]
    assert module[0]["error"].startswith("NameError")
    assert await session.delete("/watch/watch_1") == {"id": "watch_1", "deleted": True}
    assert [w["id"] for w in (await session.get("/watch"))["watches"]] == ["watch_2"]
    error = await refused(api, "WATCH_NOT_FOUND", "DELETE", f"{session.path}/watch/watch_1")
    assert error.details["watches"] == ["watch_2"]


async def test_a_watch_must_be_an_expression(api: Api) -> None:
    session = await api.session()
    for expression in ("x = 1", "1 +", "import os"):
        body = {"expression": expression}
        await refused(api, "EVALUATE_ERROR", "POST", f"{session.path}/watch", json=body)
    assert (await session.get("/watch"))["watches"] == []


async def test_a_watch_that_hangs_takes_no_other_stop_along(
    opened: tuple[Hub, Api], program: Write
) -> None:
    hub, api = opened
    session = await stopped(api, program)
    await session.post("/watch", expression="order.total")
    await session.post("/watch", expression="time.sleep(1000)")
    await session.post("/watch", expression="number")
    with impatient(hub, 2.0):  # the first is asked in this time, too
        seen = (await session.get("/watch"))["watches"]
    assert seen[0]["result"] == "42"
    assert "did not end within" in seen[1]["error"]
    assert "took all the time" in seen[2]["error"]
    assert (await session.evaluate("number"))["result"] == "21"


# Hover and completions ----------------------------------------------------------------------


async def test_hover_shows_values_and_runs_no_code_of_the_program(api: Api, program: Write) -> None:
    session = await stopped(api, program)

    async def hover(expression: str) -> dict[str, Any]:
        return dict(await session.post("/hover", expression=expression))

    assert (await hover("order.total"))["result"] == "42"
    assert (await hover("order.rate"))["result"] == "3"
    assert (await hover("order.lines['first'][-1]"))["result"] == "20"
    assert (await hover("order.pay"))["result"].startswith("<bound method Order.pay of")
    assert (await hover("helper.double"))["type"] == "function"
    tax = await hover("order.tax")
    assert (tax["result"], tax["type"]) == ("<property tax: not computed>", "property")
    assert "no stored attribute 'other'" in (await hover("order.other"))["error"]
    assert (await hover("counts['missing']"))["error"] == "KeyError: 'missing'"
    assert (await hover("nothing"))["error"].startswith("NameError")
    assert (await session.evaluate("order.ran, counts"))["result"] == (
        "([], defaultdict(<class 'list'>, {}))"
    )
    assert (await hover("number + 1"))["result"] == "22"
    await refused(
        api, "EVALUATE_ERROR", "POST", f"{session.path}/hover", json={"expression": "a ="}
    )


async def test_hover_finds_the_name_at_a_place(api: Api, program: Write) -> None:
    session = await stopped(api, program)
    written = program(LOOKS)
    line = written.line("again")
    text = written.path.read_text().splitlines()[line - 1]

    async def at(word: str, line: int = line, text: str = text, shift: int = 1) -> Any:
        place = {"file": "main.py", "line": line, "column": text.index(word) + shift}
        return await session.post("/hover", **place)

    assert (await at("order"))["type"] == "Order"
    assert (await at("pay", shift=3))["result"].startswith("<bound method Order.pay")
    where = f"{session.path}/hover"
    for body in (
        {"file": "main.py", "line": line, "column": text.index("#") + 4},
        {"file": "main.py", "line": line, "column": 1},
        {"file": "main.py", "line": 10_000, "column": 1},
    ):
        await refused(api, "INVALID_REQUEST", "POST", where, json=body)
    nowhere = {"file": "nowhere.py", "line": 1, "column": 1}
    await refused(api, "SOURCE_NOT_FOUND", "POST", where, json=nowhere)


async def test_completions_know_names_and_stored_attributes(api: Api, program: Write) -> None:
    session = await stopped(api, program)

    async def complete(text: str, **more: int) -> list[tuple[str, str, int, int]]:
        found = await session.post("/completions", text=text, **more)
        return [(i["label"], i["type"], i["start"], i["length"]) for i in found["items"]]

    assert await complete("numb") == [("number", "variable", 1, 4)]
    assert ("Order", "class", 5, 3) in await complete("1 + Ord")
    assert ("while", "keyword", 1, 3) in await complete("whi")
    attributes = await complete("x = order.")
    assert attributes[0][:2] == ("lines", "field")
    assert {name: kind for name, kind, *_ in attributes}.items() >= {
        ("total", "field"),
        ("pay", "method"),
        ("tax", "property"),
        ("__init__", "method"),
    }
    assert await complete("helper.dou") == [("double", "method", 8, 3)]
    assert await complete("order.lines['first'].appe") == [("append", "method", 22, 4)]
    assert await complete("order.tot + 1", column=10) == [("total", "field", 7, 3)]
    assert await complete("order.pay().") == []
    assert (await session.evaluate("order.ran"))["result"] == "[]"
    beyond = {"text": "ab", "column": 4}
    where = f"{session.path}/completions"
    await refused(api, "INVALID_REQUEST", "POST", where, json=beyond)


# Exception and modules ----------------------------------------------------------------------


async def test_the_exception_of_a_stop_is_told_with_its_causes(api: Api, program: Write) -> None:
    session = await stopped(api, program)
    assert (await session.get("/exception"))["exception"] is None
    await session.resume()
    told = (await session.get("/exception"))["exception"]
    assert (told["type"], told["message"]) == ("ValueError", "outer")
    assert told["line"] == program(LOOKS).line("raise")
    assert [(c["type"], c["relation"]) for c in told["chain"]] == [("KeyError", "cause")]
    assert "direct cause" in told["traceback"]
    below = await session.get(f"/variables/{told['variables_reference']}")
    assert below["items"][0]["value"] == "('outer',)"


async def test_modules_come_by_name_while_it_runs_or_stands(api: Api, program: Write) -> None:
    session = await stopped(api, program)
    own = await session.get("/modules", user_code="true")
    assert [(m["name"], Path(m["path"]).name) for m in own["items"]] == [
        ("__main__", "main.py"),
        ("helper", "helper.py"),
    ]
    page = await session.get("/modules", offset=1, limit=2)
    whole = await session.get("/modules", limit=10_000)
    assert page["items"] == whole["items"][1:3]
    assert (page["total"], page["has_more"]) == (whole["total"], True)
    assert not [m for m in whole["items"] if "pydevd" in m["name"] or "debugpy" in m["name"]]


# Source -------------------------------------------------------------------------------------


FROM_ZIP = """
    import sys

    sys.path.insert(0, "code.zip")
    import linecache
    import zipped

    def work():
        space = {}
        exec(compile("def made():\\n    here()\\n", "<made up>", "exec"), globals(), space)
        space["made"]()

    def here():
        zipped.call(lambda: print("stopped"))  # @here

    work()
"""


async def test_the_source_of_any_frame_can_be_read(
    api: Api, program: Write, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "code.zip", "w") as archive:
        archive.writestr("zipped.py", "def call(what):\n    what()  # zipped\n")
    written = program(FROM_ZIP)
    session = await api.session()
    line = written.line("here")
    await session.breakpoint(written.text, line)
    await session.launch(written.text)
    top = await session.get("/frames/0/source", start=line - 1, end=line)
    assert (top["path"], top["current_line"]) == (written.text, line)
    assert [entry["line"] for entry in top["lines"]] == [line - 1, line]
    assert top["lines"][1]["text"].endswith("# @here")
    assert top["total_lines"] == len(written.path.read_text().splitlines())
    stepped = await session.post("/step-into")
    assert stepped["current_location"]["function"] == "call"
    zipped = await session.get("/frames/0/source")
    assert zipped["path"].endswith("code.zip/zipped.py")
    assert [entry["text"] for entry in zipped["lines"]] == [
        "def call(what):",
        "    what()  # zipped",
    ]
    # Code that was made up on the way has no text anywhere.
    await refused(api, "SOURCE_NOT_FOUND", "GET", f"{session.path}/frames/2/source")


async def source_of(session: Session, path: str, **lines: int) -> Any:
    params = {"path": path, **lines}
    return await session.api.call("GET", f"{session.path}/source", params=params)


async def test_source_comes_by_path_in_any_state(api: Api, program: Write, tmp_path: Path) -> None:
    session = await api.session()
    text = "# -*- coding: latin-1 -*-\nname = 'é'\r\nform = 'a\fb\u0085c'\nlast = 1"
    (tmp_path / "old.py").write_bytes(text.encode("latin-1"))
    whole = await source_of(session, "old.py")
    assert [entry["text"] for entry in whole["lines"]] == [
        "# -*- coding: latin-1 -*-",
        "name = 'é'",
        "form = 'a\fb\u0085c'",
        "last = 1",
    ]
    assert (whole["total_lines"], whole["current_line"]) == (4, None)
    part = await source_of(session, "old.py", start=2, end=100)
    assert (part["start"], part["end"], len(part["lines"])) == (2, 4, 3)
    for query in ({"start": 5}, {"start": 3, "end": 2}):
        where = f"{session.path}/source"
        params = {"path": "old.py", **query}
        await refused(api, "INVALID_PARAMETER", "GET", where, params=params)
    (tmp_path / "empty.py").touch()
    empty = await source_of(session, "empty.py")
    assert (empty["total_lines"], empty["lines"]) == (0, [])
    (tmp_path / "long.py").write_text("x = 1\n" * 20_000)
    long = await source_of(session, "long.py")
    assert (long["end"], long["total_lines"], long["truncated"]) == (10_000, 20_000, True)


async def test_only_readable_regular_text_files_are_source(api: Api, tmp_path: Path) -> None:
    session = await api.session()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "binary.py").write_bytes(b"x = 1\0")
    with (tmp_path / "huge.py").open("wb") as huge:
        huge.truncate(LARGEST_SOURCE + 1)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "main.py").touch()
    for path, reason in {
        "fifo": "regular",
        "/dev/zero": "regular",
        "/dev/stdin": "regular",
        ".": "regular",
        "/proc/self/environ": "regular",
        "/proc/self/mem": "regular",
        "binary.py": "no text",
        "huge.py": "larger than",
        "loop": "symbolic links",
        "main.py/x": "Not a directory",
        "mian.py": "No such file",
    }.items():
        where = f"{session.path}/source"
        error = await refused(api, "SOURCE_NOT_FOUND", "GET", where, params={"path": path})
        assert reason in error.message, error.message
    error = await refused(api, "SOURCE_NOT_FOUND", "GET", where, params={"path": "mian.py"})
    assert error.details["similar"][0] == str(tmp_path / "main.py")


@contextmanager
def without_rights() -> Iterator[None]:
    """As a user whom no file belongs to, if we are root; root may read everything."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


async def test_the_rights_of_the_relays_user_decide_what_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "private.py"
    path.write_text("x = 1\n")
    assert await source_lines(str(path)) == ["x = 1"]
    path.chmod(0)
    with without_rights(), pytest.raises(SourceNotFound, match="Permission denied"):
        await source_lines(str(path))


async def test_a_look_is_none_of_the_program_s_doing(api: Api, program: Write) -> None:
    """Its warnings are nobody's, also where the program has them raised, and nothing is left of it."""
    odd = program("""
        import sys
        import warnings

        class Loud:
            def __repr__(self):
                warnings.warn("do not look")
                return "loud"

        def hides(__import__, sys):
            return Loud()  # @hides

        warnings.simplefilter("error")
        before = list(warnings.filters), sys.gettrace()
        loud = Loud()
        hides(1, 2)
        print(before == (warnings.filters, sys.gettrace()))
    """)
    session = await api.session()
    await session.breakpoint(odd.text, odd.line("hides"))
    await session.launch(odd.text)
    assert (await session.evaluate("Loud()"))["result"] == "loud"
    assert (await session.evaluate("__import__, sys"))["result"] == "(1, 2)"
    assert (await session.locals())["sys"]["value"] == "2"
    assert (await session.resume())["exit_code"] == 0
    assert await session.printed() == "True\n"
    assert await session.printed("stderr") == ""


async def test_a_look_has_no_warning_shown_again_and_an_expression_may_set_what_is_shown(
    api: Api, program: Write
) -> None:
    warned = program("""
        import warnings

        def warn():
            warnings.warn("shown once", stacklevel=1)

        warnings.simplefilter("default")
        warn()
        here = 1  # @here
        warn()
        before = len(warnings.filters)  # @after
        warnings.warn("from an expression", ImportWarning)
    """)
    session = await api.session()
    await session.breakpoint(warned.text, warned.line("here"))
    await session.breakpoint(warned.text, warned.line("after"))
    await session.launch(warned.text)
    await session.locals()
    await session.resume()
    assert (await session.printed("stderr")).count("UserWarning: shown once") == 1
    await session.evaluate("warnings.simplefilter('ignore', ImportWarning)")
    await session.evaluate("warnings.simplefilter('ignore', append=True)")
    assert (await session.evaluate("warnings.filters[-1][0]"))["result"] == "'ignore'"
    assert (await session.resume())["status"] == "terminated"
    assert "from an expression" not in await session.printed("stderr")


CROWD = """
    import sys, time

    def debugger():
        return sys.modules["pydevd"].get_global_debugger()

    def wait_for_others():
        print("waiting", flush=True)
        while max(queue.qsize() for queue in debugger()._cmd_queue.values()) < 2:
            time.sleep(0.01)

    def is_awake():
        return any(event.is_set() for event in debugger()._thread_events.values())

    print("here")  # @here
"""


async def test_questions_that_come_together_do_not_wait_for_each_other(
    api: Api, program: Write
) -> None:
    """A thread that has answered one was woken 0.2 s late for each of those that had come meanwhile."""
    source = program(CROWD)
    session = await api.session()
    await session.breakpoint(source.text, source.line("here"))
    await session.launch(source.text)
    awake: list[str] = []

    async def ask(expression: str) -> None:
        awake.append((await session.evaluate(expression))["result"])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask, "wait_for_others()")
        await session.until_printed("waiting")
        for _ in range(2):
            nursery.start_soon(ask, "is_awake()")
    assert sorted(awake) == ["False", "None", "True"], "the last one has none behind it"
