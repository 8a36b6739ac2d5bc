"""What ends of itself: the process, threads, futures, tasks. None of it is traced."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import frozenlist
import pytest
import trio

from tests.e2e.api import Api
from tests.failures.runs import run, values
from tests.programs import Program

Write = Callable[..., Program]


async def test_the_process(api: Api, program: Write) -> None:
    fails = program("""
        import json

        def load(text):
            size = len(text)
            return json.loads(text)  # @load

        def main():
            try:
                load("{handled")
            except ValueError:
                pass
            load("{broken")  # @main

        main()
    """)
    found = await run(api, script=fails.text)
    (stop,) = found.stops
    assert stop.what == ("process", "JSONDecodeError", fails.line("load"))
    assert stop.locals == {"text": "'{broken'", "size": "7"}
    names = [frame["name"] for frame in stop.frames if not frame.get("inner")]
    assert names == ["load", "main", "<module>"]
    inner = [frame["name"] for frame in stop.frames if frame.get("inner")]
    assert inner == ["raw_decode", "decode", "loads"]  # where it was raised comes first
    assert "raised at json/decoder.py:" in stop.report
    assert "\nends process\n" in stop.report
    assert found.exit_code == 1


async def test_a_failed_import_leaves_the_traceback_of_a_plain_run(
    api: Api, program: Write
) -> None:
    program("import nowhere\n", "broken.py")
    imports = program("""
        import importlib
        import traceback

        try:
            importlib.import_module("broken")
        except ImportError as error:
            frames = traceback.extract_tb(error.__traceback__)
            print([(frame.name, frame.lineno) for frame in frames])
    """)
    found = await run(api, script=imports.text)
    plain = await trio.run_process(
        [sys.executable, imports.text], capture_stdout=True, cwd=imports.path.parent
    )
    assert await found.session.printed() == plain.stdout.decode()
    assert found.stops == []


async def test_what_the_debugger_wraps_leaves_the_traceback_of_a_plain_run(
    api: Api, program: Write
) -> None:
    wrapped = program("""
        import os
        import subprocess
        import traceback
        import unittest

        class Case(unittest.TestCase):
            def test(self):
                raise KeyboardInterrupt

        def show(function, *args):
            try:
                function(*args)
            except BaseException as error:
                frames = traceback.extract_tb(error.__traceback__)
                print(repr(error), error.__context__, error.filename if args else "")
                print([(frame.name, frame.lineno) for frame in frames])

        show(Case("test").run)
        show(os.execv, "/no/where", ["x"])
        show(os.execve, "/no/where", ["x"], {})
        show(os.posix_spawn, "/no/where", ["x"], {})
        show(subprocess.call, ["/no/where"])
        try:
            os.system("null\\0")
        except ValueError as error:
            print(error.__traceback__.tb_next)
    """)
    found = await run(api, script=wrapped.text, debug_subprocesses=True)
    plain = await trio.run_process(
        [sys.executable, wrapped.text], capture_stdout=True, cwd=wrapped.path.parent
    )
    assert await found.session.printed() == plain.stdout.decode()


FROZEN = """
    from frozenlist import FrozenList

    def add(number):
        items = FrozenList()
        items.freeze()
        items.append(number)  # @add

    add(7)
"""


async def test_what_a_compiled_library_raises_is_shown_at_the_programs_own_line(
    api: Api, program: Write
) -> None:
    """Cython names its files from the folder that it was built in, as if they were the program's."""
    fails = program(FROZEN)
    found = await run(api, script=fails.text)
    (stop,) = found.stops
    assert stop.what == ("process", "RuntimeError", fails.line("add"))
    assert stop.locals["number"] == "7"
    assert "raised at frozenlist/_frozenlist.pyx:" in stop.report


MADE_UP = """
    import sys
    import types

    def price(name):
        raise KeyError(name)  # @price

    def through_c(error, frame):
        made = types.TracebackType(error.__traceback__, frame, -1, 1728)
        raise error.with_traceback(made)

    def total():
        try:
            price("plum")
        except KeyError as error:
            through_c(error, sys._getframe())

    total()
"""


async def test_a_frame_that_has_not_begun_does_not_hide_the_failure(
    api: Api, program: Write
) -> None:
    """So are the frames that Cython makes up for a traceback, before Python 3.11."""
    fails = program(MADE_UP)
    found = await run(api, script=fails.text)
    (stop,) = found.stops
    assert stop.what == ("process", "KeyError", fails.line("price"))
    assert stop.locals["name"] == "'plum'"


async def test_a_compiled_module_of_the_programs_own_is_shown_at_its_source(
    api: Api, program: Write
) -> None:
    fails = program(FROZEN)
    installed = Path(frozenlist.__file__).parent
    shutil.copytree(installed, fails.path.parent / installed.name)
    found = await run(api, script=fails.text)
    (stop,) = found.stops
    assert "\nat frozenlist/_frozenlist.pyx:" in stop.report
    assert "if self.frozen:" in stop.report or "raise RuntimeError(" in stop.report


async def test_a_frame_can_be_evaluated_in(api: Api, program: Write) -> None:
    fails = program("""
        def half(number):
            return number / 0

        half(21)
    """)
    session = await api.session()
    at = await session.post("/launch", script=fails.text, wait=60)
    assert at["post_mortem"] is True
    assert (await session.evaluate("number * 2"))["result"] == "42"
    assert (await session.evaluate("half.__name__", frame_id=1))["result"] == "'half'"
    assert (await session.resume())["exit_code"] == 1


async def test_a_thread(api: Api, program: Write) -> None:
    fails = program("""
        import threading

        def work(number):
            raise LookupError(number)  # @raise

        def quiet():
            raise SystemExit

        for target, args in ((work, (7,)), (quiet, ())):
            thread = threading.Thread(target=target, args=args, name="worker")
            thread.start()
            thread.join()
        print("done")
    """)
    found = await run(api, script=fails.text)
    (stop,) = found.stops
    assert stop.what == ("thread", "LookupError", fails.line("raise"))
    assert stop.view["ends_name"] == "worker"
    assert stop.locals == {"number": "7"}
    assert found.exit_code == 0
    assert await found.session.printed() == "done\n"


async def test_futures_that_nobody_asks(api: Api, program: Write) -> None:
    fails = program("""
        import concurrent.futures

        def work(number):
            raise ValueError(number)  # @raise

        with concurrent.futures.ThreadPoolExecutor() as pool:
            asked = [pool.submit(work, number) for number in range(3)]
            for future in asked:
                try:
                    future.result()
                except ValueError:
                    pass
            assert isinstance(pool.submit(work, 3).exception(), ValueError)
            try:  # the rest is called off: nobody wants it any more
                list(pool.map(work, range(10, 13)))
            except ValueError:
                pass
            lost = pool.submit(work, 4)
    """)
    found = await run(api, script=fails.text)
    (stop,) = found.stops
    assert stop.what == ("future", "ValueError", fails.line("raise"))
    assert stop.locals == {"number": "4"}
    assert found.exit_code == 0


async def test_who_shows_a_future_has_not_asked_it(api: Api, program: Write) -> None:
    """Its text says that it has failed: in the program's log, and among the locals of a stop."""
    fails = program("""
        import concurrent.futures

        def work(number):
            raise ValueError(number)  # @raise

        with concurrent.futures.ThreadPoolExecutor() as pool:
            logged = pool.submit(work, 1)
            concurrent.futures.wait([logged])
            print(repr(logged)[:7])
            shown = pool.submit(work, 2)
        raise LookupError  # @end
    """)
    found = await run(api, script=fails.text)
    process, *futures = found.stops
    assert process.what == ("process", "LookupError", fails.line("end"))
    assert "raised ValueError" in process.locals["shown"]
    assert [stop.what for stop in futures] == [("future", "ValueError", fails.line("raise"))] * 2
    assert {stop.locals["number"] for stop in futures} == {"1", "2"}
    assert await found.session.printed() == "<Future\n"


async def test_a_callback_of_a_future_that_fails(api: Api, program: Write) -> None:
    """What `concurrent.futures` does with it is a line in its log."""
    fails = program("""
        import concurrent.futures

        def tell(future):
            found = future.result()
            raise LookupError(found)  # @raise

        with concurrent.futures.ThreadPoolExecutor() as pool:
            pool.submit(int, "7").add_done_callback(tell)
    """)
    found = await run(api, script=fails.text)
    (stop,) = found.stops
    assert stop.what == ("future", "LookupError", fails.line("raise"))
    assert stop.locals["found"] == "7"
    assert found.exit_code == 0


async def test_an_initializer_that_breaks_its_pool(api: Api, program: Write) -> None:
    """Who asks a future learns of the pool's end only."""
    fails = program("""
        import concurrent.futures
        import multiprocessing

        def prepare(number):
            raise LookupError(number)  # @raise

        def ask(pool):
            with pool:
                try:
                    pool.submit(int, "7").result()
                except concurrent.futures.BrokenExecutor as error:
                    print(type(error).__name__)

        if __name__ == "__main__":
            ask(concurrent.futures.ThreadPoolExecutor(1, initializer=prepare, initargs=(1,)))
            fork = multiprocessing.get_context("fork")
            ask(concurrent.futures.ProcessPoolExecutor(1, fork, prepare, (2,)))
    """)
    found = await run(api, script=fails.text, debug_subprocesses="auto")
    what = ("future", "LookupError", fails.line("raise"))
    assert [stop.what for stop in found.stops] == [what, what]
    assert [stop.locals["number"] for stop in found.stops] == ["1", "2"]
    assert found.exit_code == 0


async def test_a_stop_leaves_the_program_no_source_that_it_has_not_read(
    api: Api, program: Write
) -> None:
    """Code without a file has that of the module whose globals it runs in, if anyone asks."""
    fails = program("""
        import concurrent.futures
        import json
        import linecache

        snippet = compile("1 / 0", "snippet.txt", "exec")

        def work():
            try:
                exec(snippet, dict(vars(json)))
            finally:
                raise OSError

        with concurrent.futures.ThreadPoolExecutor() as pool:
            pool.submit(work)
        print([name for name in linecache.cache if name == "snippet.txt"])
    """)
    found = await run(api, script=fails.text)
    assert [stop.what[:2] for stop in found.stops] == [("future", "OSError")]
    assert 'File "snippet.txt", line 1' in found.stops[0].exception["traceback"]
    assert await found.session.printed() == "[]\n"


async def test_what_a_future_keeps_and_a_thread_ends_with_stops_once(
    api: Api, program: Write
) -> None:
    code = program("""
        import threading
        from concurrent.futures import Future

        kept = [Future() for _ in range(20)]

        def work(number):
            error = KeyError(number)
            if number % 2:
                kept[number].set_exception(error)
            try:
                raise error  # @fails
            finally:
                if number % 2 == 0:
                    later.append((kept[number], error))

        later = []
        for number in range(20):
            thread = threading.Thread(target=work, args=[number])
            thread.start()
            thread.join()
            if later:
                future, error = later.pop()
                future.set_exception(error)
    """)
    found = await run(api, script=code.text)
    assert [stop.what for stop in found.stops] == [("thread", "KeyError", code.line("fails"))] * 20


async def test_tasks_that_nobody_awaits(api: Api, program: Write) -> None:
    fails = program("""
        import asyncio

        async def work(number):
            await asyncio.sleep(0)
            raise KeyError(number)  # @raise

        def callback():
            raise IndexError("callback")  # @callback

        async def main():
            loop = asyncio.get_running_loop()
            handled = await asyncio.gather(work(1), return_exceptions=True)
            try:
                await asyncio.create_task(work(2))
            except KeyError:
                pass
            lost = asyncio.create_task(work(3), name="lost")
            await asyncio.sleep(0.01)
            del lost
            loop.call_soon(callback)
            await asyncio.sleep(0.01)

        asyncio.run(main())
    """)
    found = await run(api, script=fails.text)
    assert [stop.what for stop in found.stops] == [
        ("task", "KeyError", fails.line("raise")),
        ("task", "IndexError", fails.line("callback")),
    ]
    assert found.stops[0].view["ends_name"] == "lost"
    assert found.stops[0].locals == {"number": "3"}


async def test_tasks_that_are_kept_and_never_asked(api: Api, program: Write) -> None:
    """asyncio says nothing of them, since they are not thrown away before the program's end."""
    fails = program("""
        import asyncio

        async def work(number):
            raise ValueError(number)  # @raise

        async def main():
            tasks = [asyncio.create_task(work(number)) for number in range(3)]
            await asyncio.wait(tasks)
            assert tasks[0].exception() and tasks[2].exception()
            loop = asyncio.get_running_loop()
            futures = [loop.run_in_executor(None, job, number) for number in range(2)]
            await asyncio.wait(futures)
            assert futures[0].exception()
            return tasks, futures

        def job(number):
            raise KeyError(number)  # @job

        kept = asyncio.run(main())
    """)
    found = await run(api, script=fails.text)
    assert [stop.what for stop in found.stops] == [
        ("task", "ValueError", fails.line("raise")),
        ("task", "KeyError", fails.line("job")),
    ]
    assert [stop.locals for stop in found.stops] == [{"number": "1"}] * 2
    assert found.exit_code == 0


async def test_what_a_stop_has_shown_dies_as_ever(api: Api, program: Write) -> None:
    code = program("""
        import asyncio
        import gc
        import time
        import weakref

        def fails():
            raise OSError

        async def main():
            seen = weakref.ref(asyncio.get_running_loop().run_in_executor(None, fails))
            deadline = time.monotonic() + 10
            while seen() is not None and time.monotonic() < deadline:
                await asyncio.sleep(0.01)
            print(seen() is None)

        gc.collect()
        gc.disable()
        asyncio.run(main())
    """)
    found = await run(api, script=code.text)
    assert len(found.stops) == 1
    assert await found.session.printed() == "True\n"


async def test_each_leaf_of_a_group(api: Api, program: Write) -> None:
    fails = program("""
        import trio

        async def first(number):
            raise ValueError(number)  # @first

        async def second(number):
            raise TypeError(number)  # @second

        async def main():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(first, 1)
                nursery.start_soon(second, 2)

        trio.run(main)
    """)
    found = await run(api, script=fails.text)
    lines = {"ValueError": fails.line("first"), "TypeError": fails.line("second")}
    seen = {stop.exception["type"]: stop.line for stop in found.stops}
    assert seen == lines
    assert len(found.stops) == 2
    assert [stop.view["group"]["number"] for stop in found.stops] == [1, 2]
    assert {stop.view["group"]["of"] for stop in found.stops} == {2}


async def test_a_leaf_that_was_never_raised_is_shown_where_its_own_group_was(
    api: Api, program: Write
) -> None:
    fails = program("""
        def caught(number):
            try:
                raise ExceptionGroup("inner", [KeyError(number), OSError(number)])  # @inner
            except* KeyError:
                raise  # of what is raised here, no traceback has this frame

        def main():
            made = ExceptionGroup("made", [TypeError("never raised")])
            try:
                caught(1)
            except ExceptionGroup as inner:
                both = [made, inner]
            raise ExceptionGroup("outer", both)  # @outer

        main()
    """)
    found = await run(api, script=fails.text)
    seen = {stop.exception["type"]: stop.what[2] for stop in found.stops}
    inner = fails.line("inner")
    assert seen == {"TypeError": fails.line("outer"), "KeyError": inner, "OSError": inner}
    assert found.stops[-1].locals == {"number": "1"}


async def test_each_leaf_of_a_group_of_the_package(api: Api, program: Write) -> None:
    """As Python before 3.11 has it: nothing of that name among the builtins."""
    program(
        """
        class BaseExceptionGroup(BaseException):
            def __init__(self, message, exceptions):
                super().__init__(message)
                self.exceptions = exceptions
    """,
        "exceptiongroup.py",
    )
    fails = program("""
        import builtins
        import exceptiongroup

        if hasattr(builtins, "BaseExceptionGroup"):
            del builtins.BaseExceptionGroup

        def caught(number):
            try:
                raise ValueError(number)  # @leaf
            except ValueError as error:
                return error

        raise exceptiongroup.BaseExceptionGroup("two", [caught(1), caught(2)])
    """)
    found = await run(api, script=fails.text)
    assert [stop.what for stop in found.stops] == [
        ("process", "ValueError", fails.line("leaf")),
    ] * 2
    assert [stop.view["group"]["number"] for stop in found.stops] == [1, 2]


async def test_exit_functions(api: Api, program: Write) -> None:
    fails = program("""
        import atexit

        def last(number):
            return 1 / number  # @raise

        atexit.register(last, 0)
    """)
    found = await run(api, script=fails.text)
    (stop,) = found.stops
    assert stop.what == ("process", "ZeroDivisionError", fails.line("raise"))
    assert stop.view["ends_name"] == "atexit"
    assert stop.locals == {"number": "0"}


async def test_a_chain_has_its_places_and_locals(api: Api, program: Write) -> None:
    fails = program("""
        def read(path):
            return open(path)  # @read

        def configure(name):
            try:
                return read("/nowhere/" + name)
            except OSError as error:
                raise RuntimeError(name) from error  # @configure

        configure("shop.ini")
    """)
    found = await run(api, script=fails.text)
    (stop,) = found.stops
    assert stop.line == fails.line("configure")
    (cause,) = stop.exception["chain"]
    assert (cause["type"], cause["relation"]) == ("FileNotFoundError", "cause")
    assert cause["location"]["line"] == fails.line("read")
    assert [(v["name"], v["value"]) for v in cause["locals"]] == [("path", "'/nowhere/shop.ini'")]
    where = f"at main.py:{fails.line('read')} in read"
    assert f"\ncaused by FileNotFoundError: {cause['message']} {where}\n" in stop.report


async def test_a_frame_that_has_gone_on_shows_no_locals(api: Api, program: Write) -> None:
    """The exception of one round is not shown beside the values of another."""
    fails = program("""
        def work(number):
            raise ValueError(number)  # @work

        def collect():
            errors = []
            for number in range(3):
                try:
                    work(number)  # @call
                except ValueError as error:
                    errors.append(error)
            raise errors[0]  # @again

        collect()
    """)
    session = await api.session()
    await session.post("/launch", script=fails.text, wait=60)
    frames = (await session.get("/stacktrace", levels=0))["frames"]
    assert [(f["name"], f["line"], f.get("moved_on")) for f in frames] == [
        ("work", fails.line("work"), None),
        ("collect", fails.line("call"), True),
        ("collect", fails.line("again"), None),
        ("<module>", frames[-1]["line"], None),
    ]
    assert await values(session, 0) == {"number": "0"}
    assert await values(session, 1) == {}
    assert (await values(session, 2))["number"] == "2"
    assert (await session.resume())["exit_code"] == 1


async def test_an_error_that_a_mock_raises_at_each_call_is_shown_where_it_was_not_caught(
    api: Api, program: Write
) -> None:
    file = program("""
        from unittest.mock import Mock

        def fetch(client, tries):
            for attempt in range(tries):
                try:
                    client.get()  # @again
                except TimeoutError:
                    if attempt == tries - 1:
                        raise

        def read(client):
            try:
                client.get()
            except TimeoutError:
                pass
            number = 2
            client.get()  # @read

        import threading

        for call in (lambda client: fetch(client, 3), read):
            client = Mock()
            client.get.side_effect = TimeoutError()  # one object, at each call
            thread = threading.Thread(target=call, args=(client,))
            thread.start()
            thread.join()
    """)

    seen = await run(api, script=file.text)

    assert [stop.line for stop in seen.stops] == [file.line("again"), file.line("read")]
    assert [stop.view.get("moved_on") for stop in seen.stops] == [None, None]
    assert seen.stops[0].locals["attempt"] == "2"
    assert seen.stops[1].locals["number"] == "2"
    names = [frame["name"] for frame in seen.stops[1].frames]
    assert names.count("read") == 1


async def test_an_object_that_is_raised_anew_is_another_failure(api: Api, program: Write) -> None:
    """A constant of a module, say; also where it was handled meanwhile, and once each however it ends."""
    file = program("""
        import asyncio
        import threading
        from concurrent.futures import ThreadPoolExecutor

        CLOSED = LookupError("closed")

        def work(number):
            raise CLOSED  # @raise

        async def works(number):
            work(number)

        async def main():
            task = asyncio.create_task(works(3))
            await asyncio.wait([task])

        for number in (1, 2):
            thread = threading.Thread(target=work, args=(number,))
            thread.start()
            thread.join()
        asyncio.run(main())
        with ThreadPoolExecutor() as pool:
            if pool.submit(work, 0).exception() is CLOSED:
                work(4)
    """)

    seen = await run(api, script=file.text)

    line = file.line("raise")
    ends = ["thread", "thread", "task", "process"]
    assert [stop.what for stop in seen.stops] == [(end, "LookupError", line) for end in ends]
    assert [stop.locals["number"] for stop in seen.stops] == ["1", "2", "3", "4"]


async def test_a_frame_that_the_exception_left_keeps_its_locals(api: Api, program: Write) -> None:
    """Also where Python has cleaned up after it, by code that no source says."""
    fails = program("""
        import asyncio

        async def handles(mine=1):
            try:
                {}["x"]
            except KeyError as error:
                raise OSError("handles")

        async def comprehends(mine=2):
            count = len("ab")
            return [mine / count / half for half in (1, 0)]

        async def waits(mine=3):
            await asyncio.wait_for(asyncio.sleep(60), 0.01)

        async def is_late(mine=4):
            async with asyncio.timeout(0.01):
                await asyncio.sleep(60)

        async def rounds():
            yield
            raise OSError("rounds")

        async def iterates(mine=5):
            async for _ in rounds():
                pass

        async def main():
            for work in (handles, comprehends, waits, is_late, iterates):
                task = asyncio.create_task(work())
                await asyncio.wait([task])
                del task

        asyncio.run(main())
        numbers = [1, 0]
        try:
            halves = [1 / number for number in numbers]
        except ZeroDivisionError:
            raise ValueError(numbers)
    """)
    session = await api.session()
    await session.post("/launch", script=fails.text, wait=60)
    outermost = {}  # a task ends when the collector comes
    while (await session.get())["status"] == "paused":
        frames = (await session.get("/stacktrace", levels=0))["frames"]
        own = [i for i, frame in enumerate(frames) if not frame.get("inner")]
        assert not any(frames[i].get("moved_on") for i in own)
        found = await values(session, own[-1])
        outermost[frames[own[-1]]["name"]] = found.get("mine") or found.get("numbers")
        await session.resume(wait=60)
    assert outermost == {
        "handles": "1",
        "comprehends": "2",
        "waits": "3",
        "is_late": "4",
        "iterates": "5",
        "<module>": "[1, 0]",
    }


HANDLED = """
    import asyncio
    import contextlib
    import json
    import types
    from unittest import mock

    def fail(*_):
        raise ValueError("handled")

    module = types.ModuleType("lazy")
    def missing(name):
        raise AttributeError(name)
    module.__getattr__ = missing

    class Odd:
        def __getattr__(self, name):
            raise AttributeError(name)

        def __iter__(self):
            raise TypeError("no iteration")

    assert getattr(module, "name", None) is None
    assert not hasattr(Odd(), "name")
    with contextlib.suppress(ValueError):
        fail()
    for call in (mock.Mock(side_effect=fail), lambda: json.dumps(object(), default=fail)):
        try:
            call()
        except ValueError:
            pass
    try:
        list(Odd())
    except TypeError:
        pass

    async def main():
        async with asyncio.timeout(None):
            return await asyncio.gather(asyncio.to_thread(fail), return_exceptions=True)

    asyncio.run(main())
"""


async def test_what_is_handled_is_no_failure(api: Api, program: Write) -> None:
    found = await run(api, script=program(HANDLED).text)
    assert (found.stops, found.exit_code) == ([], 0)


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_on_every_rung(api: Api, program: Write, mode: str) -> None:
    fails = program("""
        import threading

        def work(number):
            return 1 / number  # @raise

        thread = threading.Thread(target=work, args=(0,))
        thread.start()
        thread.join()
        work(0)
    """)
    found = await run(api, script=fails.text, launch_mode=mode)
    line = fails.line("raise")
    assert [stop.what for stop in found.stops] == [
        ("thread", "ZeroDivisionError", line),
        ("process", "ZeroDivisionError", line),
    ]
    assert {stop.locals["number"] for stop in found.stops} == {"0"}


async def test_a_step_goes_on_where_the_program_really_is(api: Api, program: Write) -> None:
    """The frames that are shown have ended; the runner is about to note the failure."""
    suite = program("""
        import unittest

        def half(number):
            return number / 0  # @half

        class Cases(unittest.TestCase):
            def test_half(self):
                half(1)

            def test_later(self):
                self.assertTrue(True)  # @later

        unittest.main()
    """)
    session = await api.session()
    await session.breakpoint(suite.text, suite.line("later"))
    at = await session.post("/launch", script=suite.text, wait=60)
    assert (at["post_mortem"], at["current_location"]["line"]) == (True, suite.line("half"))
    at = await session.post("/step-over", wait=60)
    assert (at["status"], at["stop_reason"]) == ("paused", "step")
    assert at["current_location"]["path"].endswith("unittest/case.py")
    remark = "the frames of the failure had been left before: the program really is here"
    assert at["message"].casefold().startswith(f"{remark}. continue: ")
    assert (await session.get("/status"))["message"] == at["message"]
    assert f"\n{remark}\n" in (await session.get("/report"))["report"]
    assert "message" not in await session.post("/step-over", wait=60)  # it has been said
    at = await session.resume()
    assert (at["stop_reason"], at["current_location"]["line"]) == (
        "breakpoint",
        suite.line("later"),
    )
    assert (await session.resume())["exit_code"] == 1


async def test_a_lost_local_is_not_the_global_of_its_name(api: Api, program: Write) -> None:
    fails = program("""
        number = "the global"
        kept = []

        def check(number):
            assert number % 2 == 0  # @check

        def main():
            for number in range(3):
                try:
                    check(number)  # @call
                except AssertionError as error:
                    kept.append(error)
            number = 99
            raise kept[0]

        main()
    """)
    session = await api.session()
    await session.launch(fails.text, stop_on_exception="uncaught")
    stack = (await session.get("/stacktrace"))["frames"]
    assert [(one["name"], one["line"]) for one in stack[:2]] == [
        ("check", fails.line("check")),
        ("main", fails.line("call")),
    ]
    assert stack[1]["moved_on"] is True
    told = await session.evaluate("number", frame_id=1)
    assert "its locals of then are lost" in told["error"]
    assert (await session.evaluate("len(kept)", frame_id=1))["result"] == "1"
    assert (await session.evaluate("number"))["result"] == "1"


async def test_the_notes_of_an_exception_are_in_its_report(api: Api, program: Write) -> None:
    fails = program("""
        def load(row):
            try:
                return int(row)  # @load
            except ValueError as error:
                error.add_note(f"row {row}")
                error.add_note("token=hunter2hunter2")
                error.__notes__.append(3)
                raise

        load("x")
    """)
    (stop,) = (await run(api, script=fails.text)).stops
    assert stop.line == fails.line("load")
    assert "\nnote: row x\\ntoken=***\n" in stop.report
