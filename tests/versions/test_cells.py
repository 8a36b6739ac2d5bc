"""Cells of IPython and notebooks: the program's own code, though no file of the project has it."""

from __future__ import annotations

from collections.abc import Callable

from tests.e2e.api import Api
from tests.programs import Program

IPYTHON = (
    "ipython traitlets decorator pygments ipython_pygments_lexers prompt_toolkit wcwidth"
    " matplotlib_inline stack_data executing asttokens pure_eval pexpect ptyprocess jedi parso"
    " typing_extensions psutil"
)

CELLS = """
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance(history_manager=None)
    shell.showtraceback = lambda *about, **named: None

    def cell(text):
        shell.run_cell(text)

    cell("rate = 3")
    cell("def scale(by):\\n    rest = rate - by\\n    return 1 / rest")
    cell("half = scale(1)\\nwhole = scale(3)")
"""


async def test_a_cell_is_shown_with_its_source_and_without_the_names_of_the_shell(
    api: Api, program: Callable[..., Program], python_with: Callable[[str], str]
) -> None:
    code = program(CELLS)
    session = await api.session(python_path=python_with(IPYTHON))
    await session.post("/breakpoints", function="scale", condition="by == 3")
    at = await session.launch(code.text)
    assert at["stop_reason"] == "function breakpoint"
    report = (await session.get("/report", max_chars=2000))["report"]
    assert "\n>1 def scale(by):\n 2     rest = rate - by\n" in report
    (stack,) = (line for line in report.splitlines() if line.startswith("stack: "))
    shown = [one.partition(" ")[0] for one in stack.removeprefix("stack: ").split(" < ")]
    assert shown == ["scale", "<module>", shown[2], "cell", "<module>"]
    assert "library frames)" in stack
    frames = (await session.get("/stacktrace", levels=0))["frames"]
    values = await session.locals(frames[1]["id"])
    own = {name for name in values if not name.startswith("__")}
    assert own == {"rate", "scale", "half"}


async def test_functions_of_cells_are_in_the_tree_of_calls(
    api: Api, program: Callable[..., Program], python_with: Callable[[str], str]
) -> None:
    code = program(CELLS)
    session = await api.session(python_path=python_with(IPYTHON))
    at = await session.launch(code.text, stop_on_entry=True, stop_on_exception=False)
    assert at["status"] == "paused"
    found = await session.post("/calls", wait=60)
    assert "scale(by=1) → 0.5" in found["text"]
    assert "scale(by=3) raised ZeroDivisionError" in found["text"]
