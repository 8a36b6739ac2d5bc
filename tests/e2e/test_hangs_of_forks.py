"""A fork has its parent's locks as they were, and no thread that would release them: the usual way for one to hang."""

from __future__ import annotations

import os
from typing import Any

import pytest

from relay.process.guardian import descendants
from tests.e2e.api import Api
from tests.e2e.served import until
from tests.e2e.test_hangs import Write, hang
from tests.e2e.test_interpreters import VERSIONS, bare

FORKS = """
    import multiprocessing
    import sys
    import threading

    lock = threading.LOCK()
    is_held, over = threading.Event(), threading.Event()

    class Account:
        def __init__(self):
            self.lock = lock

        def __enter__(self):
            self.lock.acquire()

        def __exit__(self, *raised):
            self.lock.release()

    def hold():
        account = Account()
        with HELD:  # @held
            is_held.set()
            over.wait(600)

    def again(given):
        child = multiprocessing.get_context("fork").Process(target=ask, args=(given,))
        child.start()
        child.join()

    def ask(given):
        with given:
            print("got it")

    if __name__ == "__main__":
        threading.Thread(target=hold, name="holds", daemon=True).start()
        is_held.wait(600)
        child = multiprocessing.get_context("fork").Process(target=WHO, args=(lock,))
        child.start()
        child.join()
"""


def lock_waits(report: dict[str, Any]) -> list[Any]:
    """Who waits for a lock, in whatever process."""
    found = [thread["waits_for"] for thread in report["threads"]]
    return [wait for wait in found if wait is not None and wait["kind"] == "lock"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("lock", "held", "who"),
    [
        ("Lock", "lock", "ask"),
        ("RLock", "lock", "ask"),
        ("Lock", "account", "ask"),
        ("Lock", "lock", "again"),
    ],
    ids=["lock", "reentrant", "of an object", "in a fork of the fork"],
)
async def test_a_lock_that_a_thread_of_the_parent_had_at_the_fork_is_told_with_it(
    api: Api, program: Write, lock: str, held: str, who: str, version: str
) -> None:
    text = FORKS.replace("LOCK", lock).replace("HELD", held).replace("WHO", who)
    code = program(text)
    session = await api.session(python_path=bare(version))
    await session.launch(code.text, wait=0, debug_subprocesses=True)
    (wait,) = lock_waits(await hang(session, lock_waits))
    assert wait["held_by"] is None
    head, _, how = wait["note"].partition(": ")
    assert head.startswith("held by thread holds of process ")
    assert head.endswith(" when that forked, and a fork has no other thread")
    assert how == f"it stood inside `with {held}` at {code.path.name}:{code.line('held')}"


async def test_what_a_fork_locks_itself_is_none_of_its_parents(api: Api, program: Write) -> None:
    code = program("""
        import multiprocessing
        import threading

        lock = threading.Lock()
        over = threading.Event()

        def ask():
            lock.acquire()
            print("up", flush=True)
            lock.acquire()

        if __name__ == "__main__":
            threading.Thread(target=over.wait, args=(600,), daemon=True).start()
            child = multiprocessing.get_context("fork").Process(target=ask)
            child.start()
            child.join()
    """)
    session = await api.session()
    await session.launch(code.text, wait=0, debug_subprocesses=True)

    (wait,) = lock_waits(await hang(session, lock_waits))
    assert "fork" not in str(wait)


async def test_what_the_thread_that_forks_has_is_its_own_in_the_fork(
    api: Api, program: Write
) -> None:
    code = program("""
        import os
        import threading

        lock = threading.Lock()
        with lock:
            child = os.fork()
            if not child:
                lock.acquire()
            os.wait()
    """)
    session = await api.session()
    await session.launch(code.text, wait=0, debug_subprocesses=True)

    (wait,) = lock_waits(await hang(session, lock_waits))
    assert wait["held_by"]["name"].startswith("MainThread")
    assert wait.get("note") is None


async def test_a_lock_that_a_hook_has_made_anew_in_the_fork_is_none_of_its_parents(
    api: Api, program: Write
) -> None:
    code = program("""
        import multiprocessing
        import os
        import threading

        lock = threading.Lock()
        os.register_at_fork(after_in_child=lock._at_fork_reinit)
        is_held, over = threading.Event(), threading.Event()

        def hold():
            with lock:
                is_held.set()
                over.wait(600)

        def take():
            lock.acquire()

        def ask():
            take()
            lock.acquire()

        if __name__ == "__main__":
            threading.Thread(target=hold, daemon=True).start()
            is_held.wait(600)
            child = multiprocessing.get_context("fork").Process(target=ask)
            child.start()
            child.join()
    """)
    session = await api.session()
    await session.launch(code.text, wait=0, debug_subprocesses=True)

    (wait,) = lock_waits(await hang(session, lock_waits))
    assert "forked" not in str(wait)


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_fork_keeps_nothing_alive_that_other_threads_let_go(
    api: Api, program: Write, version: str
) -> None:
    code = program("""
        import os
        import threading
        import weakref

        class Value:
            pass

        lock = threading.Lock()
        is_held, over = threading.Event(), threading.Event()

        def hold():
            value = Value()
            kept = weakref.ref(value)
            with lock:
                is_held.set()
                over.wait(600)
            del value
            print("is gone:", kept() is None, flush=True)

        thread = threading.Thread(target=hold)
        thread.start()
        is_held.wait(600)
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)
        over.set()
        thread.join()
    """)
    session = await api.session(python_path=bare(version))
    await session.launch(code.text, debug_subprocesses=True)
    assert "is gone: True" in await session.until_printed("\n")


async def test_no_fork_is_looked_at_after_a_detach(api: Api, program: Write) -> None:
    code = program("""
        import os
        import pathlib
        import sys
        import threading

        lock, over = threading.Lock(), threading.Event()

        def hold():
            with lock:
                over.wait(600)

        def called_at_fork():
            found = []
            sys.setprofile(lambda frame, event, _: found.append(frame.f_code.co_name))
            child = os.fork()
            if not child:
                os._exit(0)
            sys.setprofile(None)
            os.waitpid(child, 0)
            return "_locks_held" in found

        threading.Thread(target=hold, daemon=True).start()
        before = called_at_fork()
        print("here")  # @here
        pathlib.Path(__file__).with_name("seen").write_text(f"{before} {called_at_fork()}")
    """)
    session = await api.session()
    await session.breakpoint(code.text, code.line("here"))
    at = await session.launch(code.text, debug_subprocesses=True)
    assert at["status"] == "paused"
    await session.post("/detach")
    seen = code.path.with_name("seen")
    await until(lambda: not descendants(os.getpid()), "the program stays")
    assert seen.read_text() == "True False"
