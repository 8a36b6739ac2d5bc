"""What an expression is worth, as an answer: a variable, or what it raised.

Knows that an expression which names a secret may show it. Refuses to know how one is run.
"""
# ruff: noqa: BLE001
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.expressions import (
        compile_source,
        is_path,
        run_code,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        find_frame,
        is_debugger_file,
        pull_locals,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        Interrupted,
        attempt,
        exception_line,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.members import Member
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import (
        MASK,
        clean_answer,
        holds_text,
        is_secret_expression,
        texts_named_in,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import name_of, plan_of
    from relay.debuggers.debugpy.debuggee.probe.values.variables import describe, describe_masked


def evaluate(
    expression: str, frame: int | None = None, context: str = "watch", max_value: int = 1000
) -> dict[str, Any]:
    """Evaluate in a frame; without one, in the globals of `__main__`.

    Only "repl" may run statements; the value of a last expression is the result.
    """
    found = None if frame is None else find_frame(frame)
    return evaluated(expression, found, context, max_value)


def evaluated(expression: str, found: Any, context: str, max_value: int) -> dict[str, Any]:
    """The same, in a frame that is at hand."""
    codes = compile_source(expression, context == "repl", found)
    secret = is_secret_expression(expression)
    try:
        value = run_code(codes, found)
    except Interrupted:
        raise
    except BaseException as error:
        return raised_answer(error, secret)
    finally:
        pull_locals(found)
    source = expression.strip()
    path = source if is_path(source) else f"({source})"
    only = context != "repl" or (codes[0] is None)
    answer = described(value, path if only else None, secret, found, max_value)
    if secret:
        clean_answer(answer, texts_named_in(expression, found), "result")
    return answer


def described(
    value: Any, path: str | None, secret: bool, frame: Any, max_value: int
) -> dict[str, Any]:
    """The result of an expression; text that names a secret is masked as a whole."""
    child = Member("", value, path)
    if secret and holds_text(value, plan_of(value)):
        answer = describe_masked(child, None, plan_of(value))
    else:
        answer = describe(child, None, frame, max_value, fills=True)
    answer["result"] = answer.pop("value")
    del answer["name"]
    return answer


def raised_answer(error: BaseException, secret: bool) -> dict[str, Any]:
    """What an expression raised; the message of one that names a secret may quote it."""
    tb = error.__traceback__
    while tb is not None and is_debugger_file(tb.tb_frame.f_code.co_filename):
        tb = tb.tb_next
    line = exception_line(error)
    # Not format_exception: from 3.13 on that imports a module to guess at misspelt names.
    entries = attempt(traceback.format_tb, tb, -20, default=[])
    answer = {
        "exception": line[:4000],
        "exception_type": name_of(type(error)),
        "traceback": "".join(["Traceback (most recent call last):\n", *entries, line])[-20_000:],
    }
    # The traceback holds the evaluated frame's namespaces: do not let the error keep them.
    error.__traceback__ = None
    if secret:
        text = answer["exception_type"] + ": " + MASK
        answer.update(exception=text, traceback=text, redacted=True)
    clean_answer(answer, [], "exception", "traceback")
    return answer
