"""Who wrote it, compared with a slow witness, on programs that nobody here wrote.

The witness (`write_oracle.py`) runs the same script without the relay and looks at every object
after every event of `sys.settrace`. Every write, its order, its values and its line must agree.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trio

from tests.e2e.api import Api
from tests.programs import Program

WITNESS = Path(__file__).with_name("write_oracle.py")


class Case(NamedTuple):
    """A script, where it stops, and what is asked there."""

    script: str
    file: str
    """Module in whose file the program stops; `main`: the script."""
    stop: str
    """A part of the line."""
    hit: int
    expression: str
    watched: dict[str, str]


CASES = {
    "textwrap": Case(
        """
        import textwrap
        text = "The quick brown fox jumps over the lazy dog and runs away, far away. " * 3
        print(textwrap.fill(text, 30, subsequent_indent="  "))
        """,
        "textwrap",
        "lines.append(indent + ''.join(cur_line))",
        3,
        "cur_len",
        {"kind": "local", "function": "_wrap_chunks"},
    ),
    "html.parser": Case(
        """
        from html.parser import HTMLParser
        class Reader(HTMLParser):
            def handle_endtag(self, tag):
                self.last = tag  # stop here
        Reader().feed("<p>one\\n<b>two</b> <i>three\\n</i>&amp;</p>\\n<p class='x'>four</p>")
        """,
        "main",
        "stop here",
        3,
        "self.offset",
        {"kind": "attribute", "type": "Reader", "owner": "self"},
    ),
    "shlex": Case(
        """
        import shlex
        lex = shlex.shlex("a = 'b c' # gone\\n d += \\"e\\" | f;", posix=True)
        for token in lex:
            shown = token  # stop here
        """,
        "main",
        "stop here",
        5,
        "lex.state",
        {"kind": "attribute", "type": "shlex", "owner": "lex"},
    ),
    "markdown_it": Case(
        """
        from markdown_it import MarkdownIt
        print(MarkdownIt().render("# One\\n\\ntwo\\nthree\\n\\n* four\\n* five\\n\\n> six\\n\\nseven"))
        """,
        "markdown_it.rules_block.paragraph",
        'state.push("paragraph_open"',
        4,
        "state.line",
        {"kind": "attribute", "type": "StateBlock", "owner": "state"},
    ),
    "jinja2": Case(
        """
        from jinja2 import Environment
        text = "{% for x in y %}{% if x %}{{ x|upper }}{% endif %}\\n{% endfor %} {{ z }} end"
        print(Environment().from_string(text).render(y=["a", ""], z=1))
        """,
        "jinja2.compiler",
        "finalize = self._make_finalize()",
        3,
        "self._indentation",
        {"kind": "attribute", "type": "CodeGenerator", "owner": "self"},
    ),
    "difflib": Case(
        """
        import difflib
        print(difflib.SequenceMatcher(None, "banana split", "bandana at last").quick_ratio())
        """,
        "difflib",
        "avail = {}",
        1,
        "fullbcount['a']",
        {"kind": "item", "key": "a", "owner": "fullbcount"},
    ),
    "argparse": Case(
        """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("-v", action="count", default=0, dest="level")
        parser.add_argument("--level", type=int, dest="level")
        found = parser.parse_args(["-v", "-v", "--level", "7", "-vv"])
        print(found)  # stop here
        """,
        "main",
        "stop here",
        1,
        "found.level",
        {"kind": "attribute", "type": "Namespace", "owner": "found"},
    ),
    "pygments": Case(
        """
        from pygments.lexers.python import PythonLexer
        print(len(list(PythonLexer().get_tokens("def f(x):\\n    return 'a' + x  # b\\n"))))
        """,
        "pygments.lexer",
        "yield pos, action, m.group()",
        9,
        "pos",
        {"kind": "local", "function": "get_tokens_unprocessed"},
    ),
    "webbrowser": Case(
        """
        import webbrowser
        webbrowser.register("mine", None)
        print(len(webbrowser._tryorder))  # stop here
        """,
        "main",
        "stop here",
        1,
        "webbrowser._tryorder",
        {"kind": "global", "module": "webbrowser", "owner": "webbrowser"},
    ),
}


def place(case: Case, script: Program) -> tuple[str, int]:
    """The file and the line at which it stops."""
    path = script.path
    if case.file != "main":
        found = importlib.util.find_spec(case.file)
        assert found is not None
        path = Path(str(found.origin))
    lines = path.read_text().splitlines()
    numbers = [number for number, line in enumerate(lines, 1) if case.stop in line]
    return str(path), numbers[0]


async def witnessed(case: Case, script: Program) -> list[list[Any]]:
    """What the witness saw: [old, new, path, line, function] of each write, in order."""
    path, line = place(case, script)
    key = case.watched.get("key") or case.expression.rpartition(".")[2]
    spec = {**case.watched, "key": key, "file": path, "stop_line": line, "hit": case.hit}
    command = [sys.executable, str(WITNESS), json.dumps(spec), script.text]
    ran = await trio.run_process(command, capture_stdout=True)
    return list(json.loads(ran.stdout.splitlines()[-1]))


@pytest.mark.parametrize("name", CASES)
async def test_every_write_is_as_the_witness_saw_it_whether_recorded_or_found_by_a_second_run(
    api: Api, program: Callable[..., Program], name: str
) -> None:
    case = CASES[name]
    script = program(case.script)
    expected = await witnessed(case, script)
    assert len(expected) > 1, expected

    told = await asked(api, case, script)
    assert (told.pop("how"), told.pop("runs")) == ("rerun", 2)
    found = [
        [w["old"], w["new"], w["location"]["path"], w["location"]["line"], w["function"]]
        for w in reversed(told["writes"])
    ]
    assert found == expected
    assert told["complete"] is True, told["reason"]

    path, line = place(case, script)
    recorded = await asked(api, case, script, record=[f"{path}:{line}:{case.expression}"])
    assert (recorded.pop("how"), recorded.pop("runs")) == ("recorded", 1)
    assert recorded == told


async def asked(api: Api, case: Case, script: Program, **launch: Any) -> dict[str, Any]:
    """The answer at the stop, in a session of its own."""
    path, line = place(case, script)
    session = await api.session(project_root=str(script.path.parent))
    await session.breakpoint(path, line, hit_condition=str(case.hit))
    stop = await session.launch(script.text, **launch)
    assert stop["current_location"]["line"] == line
    told = await session.post("/history", expression=case.expression, limit=100)
    await session.delete("")
    return dict(told)
