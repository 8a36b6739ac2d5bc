"""Requests to the probe itself: pydevd hands them to the thread that they are about, and no more.

Its own way to evaluate is made for expressions: it compiles a text, copies the globals of the frame
twice and compares them all afterwards, and has a timer watch over it.

A thread that is let go leaves what it was asked, and has not come to, to its next stop, of which
that question is not. So it is refused as the thread goes.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger, object_id
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import response_command
    from relay.debuggers.debugpy.debuggee.probe.process.guard import exception_line
    from relay.debuggers.debugpy.debuggee.probe.process.unwarned import Unwarned

_COMMAND = "relayProbe"
_MARK = b'"command":"' + _COMMAND.encode() + b'"'
_COMMAND_WITHIN = 100  # bytes within which a request names its command: its arguments come last


def take_probe_request(py_db: Any, contents: bytes, ask: Callable[[str], str]) -> bool:
    """Whether this is such a request, which `ask` answers then. Called by the debugger's reader."""
    if _MARK not in contents[:_COMMAND_WITHIN].replace(b" ", b""):
        return False
    request = json.loads(contents.decode())
    number, arguments = request["seq"], request["arguments"]
    frame_id = object_id(arguments["frameId"])
    with py_db._main_lock:
        thread_id = py_db.suspended_frames_manager.get_thread_id_for_variable_reference(frame_id)
        if thread_id is not None:
            py_db.post_method_as_internal_command(
                thread_id, _answer_question, number, arguments["call"], ask
            )
    if thread_id is None:
        _respond(py_db, number, message=f"no thread is stopped that has the frame {frame_id}")
    return True


def _answer_question(py_db: Any, number: int, question: str, ask: Callable[[str], str]) -> None:
    """In the stopped thread. There is one answer, whatever happens."""
    try:
        with Unwarned():  # what is looked at is none of the program's doing
            answer = str.__str__(ask(question))
    except BaseException as error:  # noqa: BLE001
        _respond(py_db, number, message=exception_line(error))
    else:
        _respond(py_db, number, body={"result": answer})


def refuse_left_questions(thread: Any, *_: Any) -> None:
    """The thread runs on: whoever has asked it meanwhile hears so at once. Called in it."""
    py_db, pydevd = debugger(), sys.modules["pydevd"]
    queue, _ = py_db.get_internal_queue_and_event(pydevd.get_current_thread_id(thread))
    with py_db._main_lock:  # a request is put there only while the thread stands
        left = [queue.get(block=False) for _ in range(queue.qsize())]
        for one in left:
            if not _is_question(one):
                queue.put(one)
    for one in filter(_is_question, left):
        _refuse(py_db, one.args[0])


def _is_question(command: Any) -> bool:
    """Whether it is one to the probe, or an expression that pydevd is to evaluate."""
    comm: Any = sys.modules["_pydevd_bundle.pydevd_comm"]
    method = getattr(command, "method", None)
    return method in (_answer_question, comm.internal_evaluate_expression_json)


def _refuse(py_db: Any, request: Any) -> None:
    message = "the thread runs on: its stop is over"
    if isinstance(request, int):
        _respond(py_db, request, message=message)
    else:
        _respond(py_db, request.seq, command=request.command, message=message)


def _respond(py_db: Any, number: int, command: str = _COMMAND, **more: Any) -> None:
    py_db.writer.add_command(response_command(number, command, **more))
