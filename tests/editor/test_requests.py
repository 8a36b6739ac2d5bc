"""Requests of editors beyond stops and values: sources, modules, jumps, restarts, processes."""

from __future__ import annotations

import inspect
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from relay.client import AsyncSession
from relay.faces.dap import event_writer, views
from relay.faces.dap.event_writer import EventWriter
from relay.faces.dap.face import Face
from relay.models.server import AdapterInfo
from tests.e2e.api import Api
from tests.editor.joining import editor, join, stack, terms
from tests.perl.driver import Body, Peer, Refused
from tests.programs import Program

Write = Callable[..., Program]

ENDLESS = "[0 for _ in iter(int, 1)]"

COUNT = """
    import json

    count = 1  # @first
    count += 10  # @skipped
    print(count, flush=True)  # @printed

    def other():
        return 5  # @other
"""


async def paused(api: Api, source: Program, mark: str, **launch: Any) -> Any:
    agent = await api.session()
    await agent.breakpoint(source.text, source.line(mark))
    await agent.launch(source.text, **launch)
    return agent


async def launched(peer: Peer, source: Program, **more: Any) -> None:
    """launch and configurationDone, with breakpoints at the marks `first`."""
    arguments = {"program": source.text, "cwd": str(source.path.parent), **more}
    launching = await peer.send({"command": "launch", "arguments": arguments})
    await peer.event("initialized")
    await peer.places(source, "first")
    await peer.ask("configurationDone")
    assert (await peer.response(launching))["success"] is True


def told(peer: Peer) -> Body:
    """The capabilities that events have said."""
    return {k: v for event in peer.events("capabilities") for k, v in event["capabilities"].items()}


async def test_what_the_sessions_debugger_can_is_said_before_breakpoints_are_set(
    api: Api, program: Write
) -> None:
    await paused(api, program(COUNT), "first")
    async with editor(terms(api)) as peer:
        await join(peer)
        await peer.event("stopped")
        order = [message.get("event") for message in peer.messages]
        assert order.index("capabilities") < order.index("initialized")
        for name in ("GotoTargets", "Modules", "LoadedSources"):
            assert told(peer)[f"supports{name}Request"] is True
        assert "supportsRestartRequest" not in told(peer), "it has been said already"


async def test_a_debugger_that_lacks_something_has_it_taken_back(api: Api, program: Write) -> None:
    await api.session(adapter="perl")
    async with editor(terms(api)) as peer:
        await join(peer)
        filters = told(peer).pop("exceptionBreakpointFilters")
        assert [one["filter"] for one in filters] == ["uncaught", "raised"]
        assert {name for name in told(peer) if name.startswith("supports")} == {
            "supportsDataBreakpoints"
        }
        assert told(peer)["supportsDataBreakpoints"] is False
        await peer.send({"command": "modules"})
        with pytest.raises(Refused):
            await peer.ask("modules")


async def test_modules_and_loaded_sources(api: Api, program: Write) -> None:
    source = program(COUNT)
    await paused(api, source, "first")
    async with editor(terms(api)) as peer:
        await join(peer)
        await peer.event("stopped")
        body = await peer.ask("modules")
        by_name = {one["name"]: one for one in body["modules"]}
        assert len(body["modules"]) == body["totalModules"] == len(by_name)
        assert by_name["__main__"] == {
            "id": "__main__", "name": "__main__", "path": source.text, "isUserCode": True,
        }  # fmt: skip
        assert (by_name["json"]["isUserCode"], by_name["json"]["version"]) == (False, "2.0.9")
        page = await peer.ask("modules", startModule=2, moduleCount=3)
        assert [one["id"] for one in page["modules"]] == list(by_name)[2:5]
        assert page["totalModules"] == len(by_name)
        paths = [one["path"] for one in (await peer.ask("loadedSources"))["sources"]]
        assert len(paths) == len(set(paths))
        assert source.text in paths
        assert all(path.endswith(".py") for path in paths)
        for name, wrong in (("moduleCount", "x"), ("startModule", [1]), ("startModule", -1)):
            with pytest.raises(
                Refused, match=rf"^modules: {name} must be (a whole number|at least 0)$"
            ):
                await peer.ask("modules", **{name: wrong})


async def test_the_text_of_a_source(api: Api, program: Write, tmp_path: Path) -> None:
    archive = tmp_path / "packed.zip"
    packed = "def packed(call):\n    here = 1\n    return call()\n"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("packed.py", packed)
    source = program(f"""
        import sys
        sys.path.insert(0, {str(archive)!r})
        import packed
        text = "\\n".join(f"x{{i}} = {{i}}" for i in range(11_000))

        def inside():
            return 1  # @inside

        packed.packed(inside)
        other = 2  # @other
    """)
    agent = await paused(api, source, "inside")
    await agent.breakpoint(source.text, source.line("other"))
    async with editor(terms(api)) as peer:
        await join(peer)
        frames = await stack(peer, await peer.event("stopped"))
        assert "sourceReference" not in frames[0]["source"]
        assert frames[1]["source"]["path"] == str(archive / "packed.py")
        number = frames[1]["source"]["sourceReference"]
        asked = {"source": frames[1]["source"], "sourceReference": number}
        assert (await peer.ask("source", **asked))["content"] == packed
        own = await peer.ask("source", source={"path": source.text}, sourceReference=0)
        assert own["content"] == source.path.read_text()
        long = tmp_path / "long.py"
        long.write_text("".join(f"x{i} = {i}\n" for i in range(25_000)))
        assert (await peer.ask("source", source={"path": str(long)}))["content"] == long.read_text()
        await peer.ask("continue", threadId=1)
        frames = await stack(peer, await peer.event("stopped"))
        assert (await peer.ask("source", **asked))["content"] == packed, "it was read before"
        for wrong, words in (
            ({}, "give a path or a sourceReference"),
            ({"sourceReference": 99}, "there is no source 99"),
            ({"source": {"path": str(tmp_path / "none.py")}}, "none.py"),
            ({"source": 3}, "^source: source must be an object$"),
        ):
            with pytest.raises(Refused, match=words):
                await peer.ask("source", **wrong)


async def test_a_source_is_offered_where_its_text_is_known(api: Api, program: Write) -> None:
    source = program("""
        import linecache

        def stop():
            return 1  # @stop

        def run(text, known):
            if known:
                lines = text.splitlines(True)
                linecache.cache["<made>"] = len(text), None, lines, "<made>"
            exec(compile(text, "<made>" if known else "<unknown>", "exec"), {"call": stop})

        run("# a\\ncall()\\n", True)
        run("# b\\n\\ncall()\\n", True)
        run("call()\\n", False)
    """)
    agent = await paused(api, source, "stop")
    async with editor(terms(api)) as peer:
        await join(peer)
        shown = []
        for text in ("# a\ncall()\n", "# b\n\ncall()\n", None):
            (made,) = (await stack(peer, await peer.event("stopped")))[1:2]
            assert made["source"]["name"] == ("<unknown>" if text is None else "<made>")
            assert ("sourceReference" in made["source"]) == (text is not None)
            shown.append((made["source"], text))
            if text is not None:
                await peer.ask("continue", threadId=1)
        for where, text in shown[:2]:
            asked = {"source": where, "sourceReference": where["sourceReference"]}
            assert (await peer.ask("source", **asked))["content"] == text
    assert (await agent.get())["status"] == "paused"


async def test_exceptions_are_chosen_by_type_for_each_filter(api: Api, program: Write) -> None:
    source = program("""
        def fails(error):
            try:
                raise error  # @raise
            except Exception:
                pass

        here = 1  # @first
        for error in (KeyError("a"), IndexError("b"), ValueError("c"), ValueError("d")):
            fails(error)
        raise KeyError("left")  # @left
    """)
    async with editor(terms(api)) as peer:
        await launched(peer, source)
        await peer.event("stopped")

        async def choose(*filters: str, **options: str) -> list[Any]:
            given = [{"filterId": name, "condition": text} for name, text in options.items()]
            body = await peer.ask(
                "setExceptionBreakpoints", filters=list(filters), filterOptions=given
            )
            return [(one["verified"], one.get("message", "")) for one in body["breakpoints"]]

        assert await choose("uncaught", raised="IndexError, ValueError") == [(True, ""), (True, "")]
        await peer.ask("continue", threadId=1)
        why = await peer.event("stopped")
        assert (why["reason"], "IndexError" in str(why)) == ("exception", True)
        ((bad, says),) = await choose(raised="exception.args[0] ==")
        assert (bad, "not valid" in says) == (False, True)
        ((bad, says),) = await choose(raised="NoSuchError")
        assert (bad, says) == (False, "The program has no class NoSuchError yet")
        first, second = await choose(raised="KeyError", uncaught="ValueError")
        assert (first, second[0]) == ((True, ""), False)
        assert second[1].endswith("one condition between them: KeyError")
        chosen = await choose("uncaught", raised="exception.args[0] == 'd'")
        assert chosen == [(True, ""), (True, "")]
        await peer.ask("continue", threadId=1)
        assert "ValueError" in str(await peer.event("stopped"))
        assert await peer.value("error", context="watch") == "ValueError('d')"
        await peer.ask("continue", threadId=1)
        why = await peer.event("stopped")
        frames = await stack(peer, why)
        assert frames[0]["line"] == source.line("left"), "what is uncaught is not narrowed"


async def test_the_next_line_is_set(api: Api, program: Write) -> None:
    source = program(COUNT)
    await paused(api, source, "first")
    async with editor(terms(api)) as peer:
        await join(peer)
        why = await peer.event("stopped")
        thread, here = why["threadId"], {"path": source.text}

        async def target(mark: str) -> int:
            line = source.line(mark)
            (found,) = (await peer.ask("gotoTargets", source=here, line=line))["targets"]
            assert (found["line"], found["label"]) == (line, f"{source.path.name}:{line}")
            return int(found["id"])

        await peer.ask("next", threadId=thread)
        await peer.event("stopped")
        printed, other = await target("printed"), await target("other")
        with pytest.raises(Refused, match="is no line of code of <module>"):
            await peer.ask("goto", threadId=thread, targetId=other)
        await peer.ask("goto", threadId=thread, targetId=printed)
        assert (await peer.event("stopped"))["reason"] == "goto"
        assert (await stack(peer, why))[0]["line"] == source.line("printed")
        for wrong in ({}, {"threadId": thread}, {"threadId": thread, "targetId": 99}):
            with pytest.raises(Refused, match=r"^goto: "):
                await peer.ask("goto", **wrong)
        with pytest.raises(Refused, match=r"^gotoTargets: "):
            await peer.ask("gotoTargets", source=here, line="x")
        await peer.ask("continue", threadId=thread)
        await peer.event("terminated")
        assert peer.printed("stdout") == b"1\n"


async def test_an_expression_is_evaluated_for_what_the_editor_wants_it(
    api: Api, program: Write
) -> None:
    source = program("""
        text = "x" * 5000
        last = 1  # @first
    """)
    await paused(api, source, "first")
    async with editor(terms(api)) as peer:
        await join(peer)
        frame = (await stack(peer, await peer.event("stopped")))[0]["id"]

        async def result(expression: str, context: str | None) -> str:
            given = {} if context is None else {"context": context}
            return await peer.value(expression, frameId=frame, **given)

        assert await result("text", "clipboard") == repr("x" * 5000), "whole: it is copied"
        for context in ("hover", "watch", "variables", "repl", None):
            assert len(await result("text", context)) < 1100
        for context in ("hover", "watch", "variables", "clipboard"):
            with pytest.raises(Refused, match="SyntaxError"):
                await result("text = 5", context)
            assert await result("None", context) == "None"
        for wrong, said in (
            ({"expression": 5}, r"^evaluate: expression must be a string$"),
            ({"expression": ""}, r"^expression: must not be empty"),
            ({}, r"^evaluate: expression is required$"),
        ):
            with pytest.raises(Refused, match=said):
                await peer.ask("evaluate", **wrong)
        for typed in ("other = 5", "None", "print('typed')"):
            assert await result(typed, "repl") == "", "as Python's own prompt"
        assert await result("other", "repl") == "5"


TWO_THREADS = """
    import threading

    done = threading.Event()

    def level(depth):
        mine = ["own", depth]
        if depth:
            return level(depth - 1)
        done.wait()

    other = threading.Thread(target=level, args=(1,), name="Other")
    other.start()
    while not other.is_alive():
        pass
    here = 5
    done.set()  # @first
    other.join()
"""


async def test_locals_are_shown_of_every_thread(api: Api, program: Write) -> None:
    source = program(TWO_THREADS)
    async with editor(terms(api)) as peer:
        await launched(peer, source)
        await peer.event("stopped")
        threads = (await peer.ask("threads"))["threads"]
        (other,) = [one["id"] for one in threads if one["name"] == "Other"]
        shown = await peer.ask("stackTrace", threadId=other)
        frames = [one for one in shown["stackFrames"] if one["name"] == "level"]
        assert [
            (await peer.locals(frame))[name]["value"]
            for frame in frames
            for name in ("depth", "mine")
        ] == ["0", "['own', 0]", "1", "['own', 1]"]
        (scope,) = (await peer.ask("scopes", frameId=frames[0]["id"]))["scopes"]
        reference = {"variablesReference": scope["variablesReference"]}
        page = (await peer.ask("variables", **reference, start=1, count=1))["variables"]
        assert [one["name"] for one in page] == ["mine"]
        with pytest.raises(Refused, match=f"in the thread that stopped. Thread {other} has not"):
            await peer.value("depth", frameId=frames[0]["id"])
        await peer.ask("continue", threadId=threads[0]["id"])
        await peer.event("terminated")


async def test_a_motion_is_answered_before_what_it_leads_to(
    api: Api, program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Editors take the answer for the program's running on, also after the stop."""
    source = program(COUNT)
    verb: Any = inspect.getattr_static(AsyncSession, "step_over")

    async with editor(terms(api)) as peer:

        async def slowly(session: AsyncSession, **given: Any) -> Any:
            """The program has stopped again long before the answer comes."""
            result = await verb.__get__(session, AsyncSession)(**given)
            while (await session.view()).status != "paused":
                await trio.lowlevel.checkpoint()
            with trio.move_on_after(1):  # it is not to be told
                await peer.find("event", len(peer.messages), event="stopped")
            return result

        monkeypatch.setattr(AsyncSession, "step_over", slowly)
        await launched(peer, source)
        why = await peer.event("stopped")
        begun = len(peer.messages)
        await peer.ask("next", threadId=why["threadId"])
        await peer.event("stopped")
        said = [one.get("event") or one["type"] for one in peer.messages[begun:]]
        assert said == ["response", "continued", "stopped"]
        await peer.ask("continue", threadId=why["threadId"])
        await peer.event("terminated")


async def test_references_have_31_bits(api: Api, program: Write) -> None:
    """Whatever the relay calls a value, with several processes say: editors may have no more room."""
    source = program(TWO_THREADS)
    async with editor(terms(api)) as peer:
        await launched(peer, source, subProcess=True)
        frames = await stack(peer, await peer.event("stopped"))
        scopes = (await peer.ask("scopes", frameId=frames[0]["id"]))["scopes"]
        reference = scopes[0]["variablesReference"]
        shown = (await peer.ask("variables", variablesReference=reference))["variables"]
        value = await peer.ask("evaluate", expression="[[1]]", frameId=frames[0]["id"])
        found = [one["variablesReference"] for one in (*scopes, *shown, value)]
        assert 0 < max(found) < 2**31
        (child,) = (await peer.ask("variables", variablesReference=value["variablesReference"]))[
            "variables"
        ]
        assert child["value"] == "[1]"
        with pytest.raises(Refused, match="of no value of the present stop"):
            await peer.ask("variables", variablesReference=max(found) + 100)
        await peer.ask("disconnect")


async def test_one_of_the_calls_of_a_line_is_stepped_into(api: Api, program: Write) -> None:
    source = program("""
        def inner(number):
            return number + 1  # @inner

        def outer(number):
            return number * 2  # @outer

        outer(inner(3))  # @first
        print("end")
    """)
    async with editor(terms(api)) as peer:
        await launched(peer, source)
        why = await peer.event("stopped")
        assert told(peer)["supportsStepInTargetsRequest"] is True
        frames = await stack(peer, why)
        targets = (await peer.ask("stepInTargets", frameId=frames[0]["id"]))["targets"]
        (chosen,) = [one["id"] for one in targets if one["label"].startswith("outer")]
        thread = {"threadId": why["threadId"]}
        with pytest.raises(Refused, match=r"^targetId: .* is none of the calls"):
            await peer.ask("stepIn", **thread, targetId=77)
        await peer.ask("stepIn", **thread, targetId=chosen)
        why = await peer.event("stopped")
        assert why["reason"] == "step"
        frames = await stack(peer, why)
        assert (frames[0]["name"], frames[0]["line"]) == ("outer", source.line("outer"))
        # Of a frame below, nothing can be chosen.
        assert (await peer.ask("stepInTargets", frameId=frames[1]["id"])) == {"targets": []}
        await peer.ask("continue", **thread)
        await peer.event("terminated")


async def test_exceptions_that_own_code_leaves_to_libraries_are_a_filter(
    api: Api, program: Write
) -> None:
    source = program("""
        import contextlib

        def fails():
            raise KeyError("left")  # @raise

        with contextlib.ExitStack() as stack:
            stack.push(lambda *_: True)
            stack.enter_context(contextlib.suppress(KeyError))
            fails()
        print("on")  # @first
    """)
    async with editor(terms(api)) as peer:
        initialized = await peer.ask("initialize", adapterID="relay")
        offered = [one["filter"] for one in initialized["exceptionBreakpointFilters"]]
        assert offered == ["uncaught", "raised", "userUnhandled"]
        arguments = {"program": source.text, "cwd": str(source.path.parent)}
        await peer.send({"command": "launch", "arguments": arguments})
        await peer.event("initialized")
        await peer.ask("setExceptionBreakpoints", filters=["uncaught", "userUnhandled"])
        (session,) = (await api.get("/sessions"))["items"]
        path = f"/sessions/{session['session_id']}/exception-breakpoints"
        assert (await api.get(path))["filters"] == ["uncaught", "user_unhandled"]
        await peer.ask("disconnect")


async def test_an_interpreter_may_be_given_with_its_own_arguments(api: Api, program: Write) -> None:
    source = program("import sys\nprint(sys._xoptions)\nhere = 1  # @first\n")
    for how in ({"python": [sys.executable, "-X", "mine"]}, {"pythonPath": sys.executable}):
        async with editor(terms(api)) as peer:
            await launched(peer, source, console="integratedTerminal", **how)
            await peer.event("stopped")
            assert (await peer.value("sys._xoptions.get('mine')")) == str("python" in how or None)
            printed = [one["output"] for one in peer.events("output")]
            assert "opens no terminal" in printed[0]
            await peer.ask("disconnect")


async def test_what_the_program_starts_is_debugged_if_it_does_not_say_otherwise(
    api: Api, program: Write
) -> None:
    child = program("print('child')  # @first\n", "child.py")
    parent = program(f"""
        import subprocess, sys
        subprocess.run([sys.executable, {child.text!r}], check=True)
        print("over")  # @last
    """)
    async with editor(terms(api)) as peer:
        arguments = {"program": parent.text, "cwd": str(parent.path.parent)}
        await peer.send({"command": "launch", "arguments": arguments})
        await peer.event("initialized")
        await peer.places(child, "first")
        await peer.places(parent, "last")
        await peer.ask("configurationDone")
        for source, mark in ((child, "first"), (parent, "last")):
            why = await peer.event("stopped")
            (frame, *_) = await stack(peer, why)
            assert (frame["source"]["path"], frame["line"]) == (source.text, source.line(mark))
            names = [one["name"] for one in (await peer.ask("threads"))["threads"]]
            if source is parent:
                assert names == ["MainThread"]
            await peer.ask("continue", threadId=why["threadId"])
        await peer.event("terminated")


async def test_a_restart_with_a_whole_configuration_keeps_nothing_of_the_earlier(
    api: Api, program: Write
) -> None:
    source = program("import os, sys\nhere = 1  # @first\n")
    async with editor(terms(api)) as peer:
        await launched(peer, source, args=["one"], env={"MARK": "x"}, pythonArgs=["-X", "mine"])
        await peer.event("stopped")
        seen = "(sys.argv[1:], os.environ.get('MARK'), 'mine' in sys._xoptions)"
        assert await peer.value(seen) == "(['one'], 'x', True)"
        for arguments, values in (
            ({"env": {}}, "(['one'], None, True)"),
            ({"program": source.text}, "([], None, False)"),
            ({"program": source.text, "args": ["two"]}, "(['two'], None, False)"),
        ):
            await peer.ask("restart", arguments=arguments)
            await peer.event("stopped")
            assert await peer.value(seen) == values


async def test_threads_of_several_processes_are_told_apart(api: Api, program: Write) -> None:
    source = program("""
        import multiprocessing

        def work():
            return 1  # @first

        if __name__ == "__main__":
            child = multiprocessing.get_context("spawn").Process(target=work)
            child.start()
            child.join()
    """)
    async with editor(terms(api)) as peer:
        await launched(peer, source, subProcess=True)
        why = await peer.event("stopped")
        names = {one["id"]: one["name"] for one in (await peer.ask("threads"))["threads"]}
        pid = await peer.value("__import__('os').getpid()")
        assert names[why["threadId"]].startswith("MainThread (")
        assert names[why["threadId"]].endswith(f" {pid})")
        assert len(set(names.values())) == len(names) > 1


async def test_the_process_of_the_program_is_told(api: Api, program: Write) -> None:
    source = program(COUNT)
    async with editor(terms(api)) as peer:
        await launched(peer, source)
        await peer.event("stopped")
        (process,) = peer.events("process")
        assert (process["name"], process["startMethod"]) == (source.text, "launch")
        assert process["systemProcessId"] == int(await peer.value("__import__('os').getpid()"))
        await peer.ask("restart")
        await peer.event("stopped")
        assert len({one["systemProcessId"] for one in peer.events("process")}) == 2


async def test_breakpoints_that_the_editor_takes_back_are_no_news_to_it(
    api: Api, program: Write
) -> None:
    source = program(COUNT)
    agent = await paused(api, source, "first")
    async with editor(terms(api)) as peer:
        await join(peer)
        await peer.event("stopped")
        await peer.places(source, "skipped", "printed")
        await peer.places(source, "printed")
        await agent.breakpoint(source.text, source.line("other"))
        while (news := await peer.event("breakpoint"))["reason"] != "new":
            assert news["reason"] != "removed"


async def test_what_is_cancelled_ends_and_what_waits_is_not_begun(api: Api, program: Write) -> None:
    source = program(COUNT)
    agent = await paused(api, source, "printed")
    async with editor(terms(api)) as peer:
        await join(peer)
        frame = (await stack(peer, await peer.event("stopped")))[0]["id"]

        async def evaluate(expression: str) -> int:
            arguments = {"expression": expression, "frameId": frame}
            return await peer.send({"command": "evaluate", "arguments": arguments})

        endless, waits, kept = [
            await evaluate(one) for one in (ENDLESS, "globals().update(count=0)", "count + 1")
        ]
        await peer.ask("cancel", requestId=waits)
        assert (await peer.response(waits))["message"] == "cancelled"
        assert not [m for m in peer.messages if m.get("request_seq") == endless]
        await peer.ask("cancel", requestId=endless)
        refused = await peer.response(endless)
        assert (refused["success"], refused["message"]) == (False, "cancelled")
        assert (await peer.response(kept))["body"]["result"] == "12"
        await peer.ask("cancel", requestId=kept)  # too late, which is no error
        for wrong in ({}, {"requestId": "x"}, {"progressId": "p"}):
            with pytest.raises(Refused, match="give the requestId"):
                await peer.ask("cancel", **wrong)
        # Who leaves does not wait for what it has asked.
        endless, waits = await evaluate(ENDLESS), await evaluate("count")
        await peer.ask("disconnect")
        for number in (endless, waits):
            assert (await peer.response(number))["message"] == "cancelled"
    assert (await agent.evaluate("count"))["result"] == "11"
    async with editor(terms(api)) as peer:
        await join(peer)
        await peer.event("stopped")
        endless = await peer.send({"command": "evaluate", "arguments": {"expression": ENDLESS}})
        await peer.ask("terminate")
        assert (await peer.response(endless))["message"] == "cancelled"
        await peer.event("terminated")


async def test_what_an_editor_has_changed_before_it_leaves_is_done(
    api: Api, program: Write
) -> None:
    source = program(COUNT)
    agent = await paused(api, source, "first")
    async with editor(terms(api)) as peer:
        await join(peer)
        await peer.event("stopped")
        going = await peer.send({"command": "continue", "arguments": {"threadId": 1}})
        await peer.ask("disconnect")
        assert (await peer.response(going))["success"] is True
    assert "11" in await agent.until_printed("11")


async def test_an_editor_that_leaves_while_its_program_starts(api: Api, program: Write) -> None:
    source = program(COUNT)
    async with editor(terms(api)) as peer:
        arguments = {"program": source.text, "stopOnEntry": True}
        launching = await peer.send({"command": "launch", "arguments": arguments})
        await peer.event("initialized")
        await peer.send({"command": "configurationDone"})
        leaving = await peer.send({"command": "disconnect"})
        assert (await peer.response(leaving))["success"] is True
        answered = await peer.response(launching)
        assert answered["success"] or answered["message"] == "cancelled"
    assert (await api.get("/sessions"))["total"] == 0


async def test_a_program_is_restarted(api: Api, program: Write) -> None:
    source = program("""
        import sys
        print("round", sys.argv[1:], flush=True)  # @first
        last = 1  # @last
    """)
    async with editor(terms(api)) as peer:
        await launched(peer, source, args=["one"])
        why = await peer.event("stopped")
        frames = await stack(peer, why)
        info = await peer.ask("dataBreakpointInfo", name="last", frameId=frames[0]["id"])
        wish = [{"dataId": info["dataId"]}]
        (watch,) = (await peer.ask("setDataBreakpoints", breakpoints=wish))["breakpoints"]
        for arguments, words in (({"args": ["two"]}, "two"), ({}, "two"), (None, "two")):
            await peer.ask("restart", **({} if arguments is None else {"arguments": arguments}))
            assert (await peer.event("thread"))["reason"] == "exited"
            assert (await peer.event("thread"))["reason"] == "started"
            why = await peer.event("stopped")
            assert why["reason"] == "breakpoint"
            frames = await stack(peer, why)
            asked = {"frameId": frames[0]["id"]}
            assert await peer.value("sys.argv[1]", **asked) == f"'{words}'"
        for wrong, said in (
            ({"args": "x"}, r"^args: must be a list"),
            ({"cwd": "/no-such-place"}, r"^cwd: no such directory"),
            ({"python": "/usr/bin/python3"}, r"^restart: python stays as it was launched\. "),
            (5, r"^restart: arguments must be an object$"),
        ):
            with pytest.raises(Refused, match=said):
                await peer.ask("restart", arguments=wrong)
        # What was watched was of the run before: it is set anew.
        (gone,) = [one["breakpoint"] for one in peer.events("breakpoint")]
        assert (gone["id"], gone["verified"]) == (watch["id"], False)
        info = await peer.ask("dataBreakpointInfo", name="last", frameId=frames[0]["id"])
        assert {"dataId": info["dataId"]} == wish[0]
        await peer.ask("setDataBreakpoints", breakpoints=wish)
        await peer.ask("continue", threadId=why["threadId"])
        assert (await peer.event("stopped"))["reason"] == "data breakpoint"
        await peer.ask("continue", threadId=why["threadId"])
        assert (await peer.event("exited"))["exitCode"] == 0
        await peer.event("terminated")
        assert len(peer.events("terminated")) == 1
        with pytest.raises(Refused, match="no program runs here"):
            await peer.ask("restart")
    assert (await api.get("/sessions"))["total"] == 0


async def test_an_editor_stays_when_somebody_else_restarts(api: Api, program: Write) -> None:
    source = program(COUNT)
    agent = await paused(api, source, "first")
    async with editor(terms(api)) as peer:
        await join(peer)
        await peer.event("stopped")
        for _ in range(2):
            await agent.post("/restart")
            why = await peer.event("stopped")
            assert (await stack(peer, why))[0]["line"] == source.line("first")
        await agent.post("/terminate")
        await peer.event("terminated")
        assert len(peer.events("terminated")) == 1


async def test_a_program_that_runs_without_debugging_stops_nowhere(
    api: Api, program: Write
) -> None:
    source = program("""
        try:
            {}["caught"]
        except KeyError:
            print("here")  # @line
        raise ValueError("the end")
    """)
    async with editor(terms(api)) as peer:
        arguments = {"program": source.text, "noDebug": True, "stopOnEntry": True}
        launching = await peer.send({"command": "launch", "arguments": arguments})
        await peer.event("initialized")
        place = {"line": source.line("line")}
        for command, more in (
            ("setBreakpoints", {"source": {"path": source.text}, "breakpoints": [place]}),
            ("setFunctionBreakpoints", {"breakpoints": [{"name": "f"}]}),
        ):
            (placed,) = (await peer.ask(command, **more))["breakpoints"]
            assert (placed["verified"], placed["message"]) == (
                False,
                "The program runs without debugging",
            )
        await peer.ask("setExceptionBreakpoints", filters=["raised", "uncaught"])
        await peer.ask("configurationDone")
        assert (await peer.response(launching))["success"] is True
        assert (await peer.event("exited"))["exitCode"] == 1
        assert peer.events("stopped") == []


@pytest.mark.parametrize("ends", [False, True])
async def test_an_editor_attaches_to_a_process(api: Api, program: Write, ends: bool) -> None:
    waiting = program("""
        import sys
        print("ready", flush=True)
        for line in sys.stdin:
            print("got", line.strip(), flush=True)  # @first
    """)
    process = await trio.lowlevel.open_process([sys.executable, waiting.text], stdin=-1, stdout=-1)
    assert process.stdin is not None
    assert process.stdout is not None
    with trio.fail_after(30):
        assert (await process.stdout.receive_some(100)).startswith(b"ready")
    try:
        async with editor(terms(api)) as peer:
            says_nothing = trio.socket.socket()
            await says_nothing.bind(("127.0.0.1", 0))
            says_nothing.listen()
            silent = says_nothing.getsockname()[1]
            for wrong, words in (
                ({"processId": "x"}, r"^processId: must be a whole number"),
                ({"port": 70000}, r"^port: "),
                ({"connect": "localhost:5678"}, r"^attach: connect must be an object$"),
                (
                    {"port": 1, "pathMappings": [{}]},
                    r"^attach: pathMappings\[0\]\.localRoot is required; pathMap",
                ),
                ({"session": 5}, r"^attach: session must be a string$"),
                ({"processId": process.pid, "session": "sess_1"}, "either a session or a process"),
                ({"processId": process.pid, "readOnly": True}, "only looks on"),
                ({"processId": 2**31 - 1}, "no process"),
                ({"port": silent, "connectTimeout": 0}, "^connectTimeout: must be at least 1"),
                ({"port": silent, "connectTimeout": 1}, 'give it a longer "connectTimeout"$'),
            ):
                with pytest.raises(Refused, match=words):
                    await peer.ask("attach", **wrong)
                assert (await api.get("/sessions"))["total"] == 0
            says_nothing.close()
        async with editor(terms(api)) as peer:
            await peer.ask("attach", processId=str(process.pid))
            await peer.event("initialized")
            assert told(peer)["supportsRestartRequest"] is False
            await peer.places(waiting, "first")
            await peer.ask("configurationDone")
            await process.stdin.send_all(b"one\n")
            why = await peer.event("stopped")
            assert (await peer.locals((await stack(peer, why))[0]))["line"]["value"] == r"'one\n'"
            with pytest.raises(Refused, match="attached to"):
                await peer.ask("restart")
            await peer.ask("disconnect", **({"terminateDebuggee": True} if ends else {}))
        assert (await api.get("/sessions"))["total"] == 0
        with trio.fail_after(30):
            if ends:
                await process.wait()
            else:
                assert b"got" in await process.stdout.receive_some(100), "it lives on"
    finally:
        process.kill()
        await process.wait()
        for stream in (process.stdin, process.stdout):
            await trio.aclose_forcefully(stream)


async def test_who_only_looks_on_may_read_and_not_move(api: Api, program: Write) -> None:
    source = program(COUNT)
    await paused(api, source, "first")
    async with editor(terms(api, read_only=True)) as peer:
        await join(peer)
        await peer.event("stopped")
        assert (await peer.ask("modules", moduleCount=1))["modules"]
        for command in ("restart", "goto"):
            with pytest.raises(Refused, match="looks on"):
                await peer.ask(command, threadId=1, targetId=1)


async def test_arguments_of_the_wrong_type_are_named_and_nothing_is_done(
    api: Api, program: Write
) -> None:
    source = program(COUNT)
    path, line = source.text, source.line("other")
    async with editor(terms(api)) as peer:
        await launched(peer, source)
        why = await peer.event("stopped")
        frames = await stack(peer, why)
        for command, arguments, words in (
            ("continue", {"threadId": "x"}, "threadId must be a whole number"),
            ("next", {"threadId": None}, "threadId must be a whole number"),
            ("stepIn", {}, "threadId is required"),
            ("pause", {"threadId": [1]}, "threadId must be a whole number"),
            ("stackTrace", {"threadId": True}, "threadId must be a whole number"),
            ("stackTrace", {"threadId": 1, "levels": -1}, "levels must be at least 0"),
            ("scopes", {"frameId": {}}, "frameId must be a whole number"),
            ("scopes", {"frameId": [1]}, "frameId must be a whole number"),
            ("variables", {"variablesReference": [1]}, "variablesReference must be a whole number"),
            ("variables", {"variablesReference": 1, "count": "x"}, "count must be a whole number"),
            ("evaluate", {"expression": "1", "frameId": {}}, "frameId must be a whole number"),
            ("setVariable", {"name": "x"}, "variablesReference is required; value is required"),
            ("gotoTargets", {"source": 5, "line": "x"}, "source must be an object; line must be"),
            ("goto", {"threadId": 1, "targetId": "x"}, "targetId must be a whole number"),
            ("setBreakpoints", {"source": {"path": path}, "breakpoints": 5}, "must be a list"),
            ("setBreakpoints", {"source": {"path": "\0"}}, "source.path must not contain NUL"),
            (
                "setBreakpoints",
                {"source": {"path": path}, "breakpoints": [{"line": line}, {"line": "x"}]},
                "breakpoints[1].line must be a whole number",
            ),
            ("setFunctionBreakpoints", {"breakpoints": [{"name": 5}]}, "breakpoints[0].name must"),
            ("setExceptionBreakpoints", {"filters": 5}, "filters must be a list"),
            ("setDataBreakpoints", {"breakpoints": [{"dataId": 5}]}, "breakpoints[0].dataId must"),
            ("restart", {"arguments": 5}, "arguments must be an object"),
            ("disconnect", {"terminateDebuggee": "x"}, "terminateDebuggee must be true or false"),
        ):
            with pytest.raises(Refused) as refused:
                await peer.ask(command, **arguments)
            assert str(refused.value).startswith(f"{command}: "), refused.value
            assert words in str(refused.value)
        assert [one["line"] for one in await stack(peer, why)] == [one["line"] for one in frames]
        scopes = await peer.ask("scopes", frameId=float(frames[0]["id"]))
        assert scopes["scopes"], "a whole number in JSON"
        await peer.ask("disconnect", terminateDebuggee=None)
    assert (await api.get("/sessions"))["total"] == 0


async def test_arguments_that_are_no_object_are_refused_and_the_session_lives_on(
    api: Api, program: Write
) -> None:
    async with editor(terms(api)) as peer:
        await launched(peer, program(COUNT))
        why = await peer.event("stopped")
        wrong: tuple[object, ...] = ([], "x", 5, True)
        for command in ("continue", "disconnect", "cancel", "threads"):
            for arguments in wrong:
                number = await peer.send({"command": command, "arguments": arguments})
                refused = await peer.response(number)
                assert refused["success"] is False
                assert "must be an object" in refused["message"] or command == "cancel"
        assert await stack(peer, why)
        assert (await peer.ask("threads", unknown=1))["threads"]


async def test_what_is_said_to_be_configured_twice_is_begun_once(api: Api, program: Write) -> None:
    async with editor(terms(api)) as peer:
        await launched(peer, program(COUNT))
        why = await peer.event("stopped")
        with pytest.raises(Refused, match=r"^configurationDone: it was sent already$"):
            await peer.ask("configurationDone")
        await peer.ask("next", threadId=why["threadId"])
        await peer.event("stopped")
        assert (await stack(peer, why))[0]["line"]
        assert len(peer.events("process")) == 1
        assert len(peer.events("stopped")) == 2


async def test_a_launch_that_never_began_leaves_no_session(api: Api, program: Write) -> None:
    """Not even with `terminateDebuggee: false`: there is nothing that could live on."""
    arguments = {"program": program(COUNT).text}
    async with editor(terms(api)) as peer:
        launching = await peer.send({"command": "launch", "arguments": arguments})
        await peer.event("initialized")
        await peer.ask("disconnect", terminateDebuggee=False)
        assert (await peer.response(launching))["message"] == "cancelled"
    assert (await api.get("/sessions"))["total"] == 0


async def test_filters_of_exceptions_are_those_that_the_debugger_has(
    api: Api, program: Write
) -> None:
    """An editor sends what it was told of, by default; to be refused is to be told of an error."""
    async with editor(terms(api)) as peer:
        await launched(peer, program(COUNT))
        await peer.event("stopped")
        assert "exceptionBreakpointFilters" not in told(peer), "initialize has said it"
        await peer.ask("setExceptionBreakpoints", filters=["uncaught", "raised", "userUnhandled"])
        for unknown in ("user_unhandled", "nosuch"):
            with pytest.raises(Refused) as refused:
                await peer.ask("setExceptionBreakpoints", filters=["raised", unknown])
            assert str(refused.value) == (
                f"setExceptionBreakpoints: there is no filter {unknown!r}: "
                "there are uncaught, raised, userUnhandled"
            )
    known = (await api.get("/info"))["adapters"]
    assert known["python"]["exception_filters"] == ["raised", "uncaught", "user_unhandled"]
    assert known["perl"]["exception_filters"] == ["raised", "uncaught"]
    bare = AdapterInfo(languages=[], suffixes=[], capabilities=[], exception_filters=["raised"])
    filters = views.capabilities_with(bare)["exceptionBreakpointFilters"]
    assert [one["filter"] for one in filters] == ["raised"]


async def test_a_session_that_an_editor_ends_by_leaving_is_no_fault(
    api: Api, program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = program(COUNT)
    over, end, leave = trio.Event(), EventWriter.end, Face._leave

    def ends(writer: EventWriter, exit_code: int | None) -> None:
        end(writer, exit_code)
        over.set()

    async def leaves_slowly(face: Face, *, ends: bool) -> None:
        await leave(face, ends=ends)
        await over.wait()

    monkeypatch.setattr(event_writer, "SIGNS_OF_LIFE", frozenset())  # as before the first of them
    monkeypatch.setattr(EventWriter, "end", ends)
    monkeypatch.setattr(Face, "_leave", leaves_slowly)
    async with editor(terms(api)) as peer:
        await launched(peer, source)
        await peer.event("stopped")
        await peer.ask("restart")
        await peer.event("stopped")
        await peer.ask("disconnect")
    assert not [one for one in peer.events("output") if one["category"] == "console"]
