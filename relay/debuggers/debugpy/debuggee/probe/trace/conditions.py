"""How a call is to end: an expression, as a function of what the call gave and of its arguments.

A function is called in a fifth of the time that `eval` takes, and scopes within the expression see
the arguments, too.
"""

from __future__ import annotations

import ast
import types
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, exception_line
    from relay.debuggers.debugpy.debuggee.probe.trace.lines import LineFacts


class ConditionOfCode(NamedTuple):
    """The expression for the calls of one code object."""

    function: Any
    """Of the result, the exception, and the arguments that `names` says; sees the code's globals."""
    names: tuple[str, ...]
    arguments: tuple[str, ...]
    """All that the calls have."""


class Condition:
    """An expression that sees `result`, `exception`, the arguments and the globals of a call."""

    def __init__(self, text: str) -> None:
        """Compile the expression `text`; raises SyntaxError if it is none."""
        compile(text, _FILE, "eval", 0, True)  # which a function's body would let more pass than
        self.tree: Any = ast.parse(text, _FILE, "eval")
        nodes = ast.walk(self.tree)
        self.names = {node.id for node in nodes if type(node) is ast.Name} - set(_OUTCOME_NAMES)
        self.made: dict[int, ConditionOfCode] = {}  # by the code's id

    def in_code(self, frame: Any, facts: LineFacts) -> ConditionOfCode:
        """The expression as the code of this frame would have it."""
        made = self.made.get(id(facts.code))
        if made is None or made.function.__globals__ is not frame.f_globals:
            made = self.made[id(facts.code)] = self._function(frame.f_globals, facts)
        return made

    def _function(self, names: dict[str, Any], facts: LineFacts) -> ConditionOfCode:
        wanted = tuple(name for name in facts.arguments if name in self.names)
        given = [ast.arg(name) for name in (*_OUTCOME_NAMES, *wanted)]
        arguments = ast.arguments([], given, None, [], [], None, [])
        tree = ast.Expression(ast.Lambda(arguments, self.tree.body))
        code = compile(ast.fix_missing_locations(tree), _FILE, "eval", 0, True)
        inner = next(one for one in code.co_consts if type(one) is types.CodeType)
        return ConditionOfCode(types.FunctionType(inner, names), wanted, tuple(facts.arguments))


def error_of_condition(error: BaseException, arguments: tuple[str, ...]) -> str:
    """What the expression raised; of a name that it does not see, also those that it does."""
    line: str = attempt(exception_line, error, default=type(error).__name__)
    if type(error) is not NameError:
        return line
    return f"{line}; it sees {', '.join([*_OUTCOME_NAMES, *arguments])} and globals"


_OUTCOME_NAMES = ("result", "exception")
_FILE = "<until_result>"
