"""The rooms of the house: imports point downwards only, and some rooms import next to nothing.

Reads the imports, those under TYPE_CHECKING and inside functions too; runs nothing.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Set
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.project_copy import section
from tests.sources import ROOT, faults, files, name_of, text_of, tree_of

STANDARD = sys.stdlib_module_names

LAYERS = (
    {
        "relay.actions",
        "relay.asker",
        "relay.errors",
        "relay.import_path",
        "relay.pytest_plugin",
        "relay.quick",
        "relay.staying_imports",
    },
    {"relay.dap"},
    {"relay.debuggers.debugpy.debuggee"},
    {"relay.perl"},
    {
        "relay.agents",
        "relay.edition",
        "relay.environments",
        "relay.program_kinds",
        "relay.known_adapters",
        "relay.logs",
        "relay.metrics",
        "relay.models",
        "relay.profiles",
        "relay.state_files",
        "relay.config",
        "relay.redaction",
    },
    {"relay.routes"},
    {"relay.process"},
    {"relay.session"},
    {"relay.debuggers"},
    {"relay.begun_ahead", "relay.hub", "relay.store"},
    {"relay", "relay.client"},
    {"relay.operations"},
    {"relay.faces"},
    {
        "relay.serving",
        "relay.demo",
        "relay.demo_program",
        "relay.command_line",
        "relay.__main__",
        "relay.run_forker",
    },
)
"""Lowest first, as in docs/architecture.md. `relay` itself is the map: hub and settings."""

_NAME = r"`?\w+(?:\.py)?/?`?"

MAP_LINE = re.compile(
    rf"^\s*(?:- )?(?P<names>{_NAME}(?:, {_NAME})*)(?P<ends>: | {{2,}})\S", re.MULTILINE
)
"""Names of files or folders, apart from what they know: by a colon behind backticks, or by space."""

IN_OTHER_INTERPRETERS = (
    "debuggers/debugpy/debuggee/**/*.py",
    "process/guardian.py",
)
"""Files that run where the relay is not installed: in the debuggee, or in its interpreter."""

DEBUGGER = frozenset({"pydevd", "debugpy", "_pydevd_bundle", "_pydev_bundle", "_pydevd_frame_eval"})
"""What the debuggee has besides its standard library, once the debugger is in it."""


KINDS = frozenset({"__init__", "ahead", "known", "configured", "standard"})
"""What is in debuggers/ besides one file or folder for each."""

DEBUGGERS = {
    path.stem for path in (ROOT / "debuggers").glob("*") if not path.name.startswith("__pycache__")
} - KINDS | {"pydevd"}
"""Every debugger by its name, and what debugpy's own debugger is called."""

FACES = {path.name for path in (ROOT / "faces").iterdir() if (path / "__init__.py").is_file()}


class Import(NamedTuple):
    """One imported module. `typing_only`: under TYPE_CHECKING."""

    module: str
    line: int
    typing_only: bool


EVERY = files("**/*.py")
FOREIGN = files(*IN_OTHER_INTERPRETERS)


def module_of(path: Path) -> str:
    parts = ["relay", *path.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports(path: Path) -> tuple[Import, ...]:
    """Every import of a file, wherever it stands; `from a import b` may be the module `a.b`."""
    return tuple(_imports(tree_of(path), typing_only=False))


def _imports(node: ast.AST, *, typing_only: bool) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(alias.name, node.lineno, typing_only)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "relative imports hide where they lead"
        for alias in node.names:
            yield Import(f"{node.module}.{alias.name}", node.lineno, typing_only)
    elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        for guarded in node.body:
            yield from _imports(guarded, typing_only=True)
        for other in node.orelse:
            yield from _imports(other, typing_only=typing_only)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _imports(child, typing_only=typing_only)


def layer_of(module: str) -> int:
    """The number of the layer that owns a module of the relay; the longest name decides."""
    parts = module.split(".")
    for end in range(len(parts), 0, -1):
        name = ".".join(parts[:end])
        for number, layer in enumerate(LAYERS):
            if name in layer:
                return number
    raise AssertionError(f"{module} is in no layer")


def face_of(module: str) -> str | None:
    """The face that a module belongs to, however deep it lies."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["relay", "faces"] and len(parts) > 2 else None


def is_ours(module: str) -> bool:
    return module.split(".")[0] == "relay"


def named(found: Iterable[Import]) -> list[str]:
    return [f"line {one.line}: {one.module}" for one in found]


def outside(path: Path, allowed: Set[str]) -> list[Import]:
    """The imports of a file whose top-level package is not among `allowed`."""
    return [one for one in imports(path) if top_of(one.module) not in allowed]


def top_of(module: str) -> str:
    return module.partition(".")[0]


def test_imports_point_downwards() -> None:
    def upward(path: Path) -> list[str]:
        here = layer_of(module_of(path))
        ours = (one for one in imports(path) if is_ours(one.module))
        return named(one for one in ours if layer_of(one.module) > here)

    assert faults(EVERY, upward) == {}


def test_the_architecture_page_shows_each_layer_in_its_place() -> None:
    rooms = list(rooms_on_the_page())
    assert rooms == sorted(rooms, key=layer_of)
    faces = {f"relay.faces.{name}" for name in FACES}
    assert set(rooms) == set().union(*LAYERS, faces) - {"relay", "relay.faces"}


def rooms_on_the_page() -> Iterator[str]:
    """The modules and packages in the table of layers, row by row."""
    for row in re.findall(r"^\| (`.*?) \|", section("Layers"), re.MULTILINE):
        for name in re.findall(r"`(.+?)`", row):
            yield f"relay.{name.removesuffix('.py').rstrip('/').replace('/', '.')}"


def test_signals_are_handled_where_a_command_runs_its_loop() -> None:
    def handlers(path: Path) -> list[str]:
        return [
            f"line {node.lineno}"
            for node in ast.walk(tree_of(path))
            if isinstance(node, ast.Attribute) and node.attr == "open_signal_receiver"
        ]

    found = faults(EVERY, handlers)
    assert {name for name in found if not name.startswith("faces/")} == {"serving.py"}


def test_every_module_says_what_it_is() -> None:
    assert [name_of(path) for path in EVERY if not ast.get_docstring(tree_of(path))] == []


def test_every_file_that_a_comment_names_exists() -> None:
    folders = (ROOT.parent / name for name in ("relay", "tests", "tools"))
    there = {f"/{path.relative_to(ROOT.parent)}" for one in folders for path in one.rglob("*.py")}
    there.add("/sitecustomize.py")  # Python's name for it

    def gone(path: Path) -> Iterator[str]:
        named = re.findall(r"`([a-z_/]+\.py)`", text_of(path))
        return (name for name in named if not any(one.endswith(f"/{name}") for one in there))

    assert faults(EVERY, gone) == {}


def test_the_docstring_of_a_package_is_the_map_of_its_folder() -> None:
    """Each file has its place in the map, and nothing is on it that is not there."""

    def off_the_map(path: Path) -> Iterator[str]:
        modules, folders = contents(path.parent)
        named = mapped(ast.get_docstring(tree_of(path)) or "")
        if len(modules) > 1:
            yield from (f"{name} is missing" for name in modules - set(named))
        yield from (f"{name} is not there" for name in set(named) - modules - folders)
        yield from (f"{name} is there twice" for name in set(named) if named.count(name) > 1)

    assert faults(files("**/__init__.py"), off_the_map) == {}


def test_the_map_of_the_tests_names_all_that_is_in_them() -> None:
    modules, _ = contents(ROOT.parent / "tests")
    text = ast.get_docstring(ast.parse((ROOT.parent / "tests" / "__init__.py").read_text())) or ""
    assert modules - set(re.findall(r"\w+", text)) == set()


def contents(folder: Path) -> tuple[set[str], set[str]]:
    """The modules and packages in a folder, and all folders in it."""
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    return modules | packages, {path.name for path in folder.iterdir() if path.is_dir()}


def mapped(text: str) -> list[str]:
    """The names in a map: what stands before the text of each line."""
    found = [
        line["names"]
        for line in MAP_LINE.finditer(text)
        if line["ends"] != ": " or line["names"].startswith("`")
    ]
    return [
        name.strip("`").removesuffix("/").removesuffix(".py")
        for names in found
        for name in names.split(", ")
    ]


def test_protocol_and_errors_need_the_standard_library_only() -> None:
    ours = ("relay.dap", "relay.errors", "relay.actions")

    def foreign(path: Path) -> list[str]:
        return named(one for one in outside(path, STANDARD) if not one.module.startswith(ours))

    assert faults(files("dap/*.py", "errors.py", "actions.py"), foreign) == {}


def test_the_perl_adapter_needs_the_protocol_only() -> None:
    """A program of its own; the command line is click's, as that of the `relay` command."""
    ours = ("relay.perl", "relay.dap", "relay.errors")

    def foreign(path: Path) -> list[str]:
        packages = {"trio", "click"} if path.name == "command.py" else {"trio"}
        found = outside(path, STANDARD | packages)
        return named(one for one in found if not one.module.startswith(ours))

    assert faults(files("perl/**/*.py"), foreign) == {}


def test_errors_import_nothing_of_the_relay_but_the_actions() -> None:
    ours = {one.module for name in ("errors.py", "actions.py") for one in imports(ROOT / name)}
    assert {name for name in ours if is_ours(name)} <= {
        f"relay.actions.{name}" for name in ("Action", "Advice", "Suggestion", "advice_of")
    }


def test_adapters_do_no_io() -> None:
    """What is special about a debugger is pure: nothing there runs an event loop."""

    def loops(path: Path) -> list[str]:
        return named(one for one in imports(path) if top_of(one.module) == "trio")

    assert faults(files("debuggers/debugpy/debuggee/**/*.py"), loops) == {}


def test_what_runs_in_other_interpreters_needs_their_standard_library_only() -> None:
    # For the type checker they may name each other, which never runs.
    def foreign(path: Path) -> list[str]:
        return named(one for one in outside(path, STANDARD | DEBUGGER) if not one.typing_only)

    assert faults(FOREIGN, foreign) == {}


def test_what_runs_in_other_interpreters_is_python_3_8() -> None:
    for path in FOREIGN:
        ast.parse(text_of(path), str(path), feature_version=(3, 8))


def test_the_debuggee_side_files_are_found() -> None:
    names = {path.name for path in FOREIGN}
    expected = {"bootstrap.py", "link.py", "plain_program.py", "entry.py"}
    assert expected | {"types.py", "source_lines.py", "guardian.py"} <= names


def test_the_verbs_know_no_face() -> None:
    web = {"quart", "quart_trio", "hypercorn", "werkzeug", "click"}

    def of_the_web(path: Path) -> list[str]:
        return named(one for one in imports(path) if top_of(one.module) in web)

    assert faults(files("operations/**/*.py", "session/**/*.py", "hub.py"), of_the_web) == {}


def test_faces_build_no_dap_messages() -> None:
    """What the debugger is told is no face's business; one of them speaks DAP with editors."""

    def too_deep(path: Path) -> list[str]:
        below: tuple[str, ...] = ("relay.debuggers", "relay.session")
        if face_of(module_of(path)) != "dap":
            below = ("relay.dap", *below)
        return named(one for one in imports(path) if one.module.startswith(below))

    assert faults(files("faces/**/*.py"), too_deep) == {}


def test_a_face_knows_no_other_face() -> None:
    def of_others(path: Path) -> list[str]:
        here = face_of(module_of(path))
        known = {None, here, "common"}
        return named(one for one in imports(path) if face_of(one.module) not in known)

    assert faults(files("faces/**/*.py"), of_others) == {}


def test_settings_verbs_and_sessions_name_no_debugger() -> None:
    """They ask for an ability: what is special about a debugger stays in debuggers/."""
    paths = files("config.py", "operations/**/*.py", "session/**/*.py", "process/**/*.py")

    def imported(path: Path) -> list[str]:
        return named(one for one in imports(path) if one.module.startswith("relay.debuggers"))

    assert faults(paths, named_debuggers) == {}
    assert faults(paths, imported) == {}


def test_faces_name_no_debugger() -> None:
    assert faults(files("faces/**/*.py"), named_debuggers) == {}


def named_debuggers(path: Path) -> list[str]:
    text = text_of(path).lower()
    return [name for name in DEBUGGERS if name in text]


def test_debuggers_are_imported_by_the_hub_only() -> None:
    """Redaction has two files in common with the debuggee, which can import nothing of it."""
    probe = "relay.debuggers.debugpy.debuggee.probe."
    allowed = {
        "hub.py": ("relay.debuggers.known.known_debuggers",),
        # Before there is a hub: importing one takes longer than starting a debuggee.
        "begun_ahead.py": ("relay.debuggers.ahead.begin_python",),
        "redaction/rules.py": (f"{probe}values.credentials", f"{probe}values.secrets"),
    }

    def imported(path: Path) -> list[str]:
        found = (one for one in imports(path) if one.module.startswith("relay.debuggers"))
        return named(
            one for one in found if not one.module.startswith(allowed.get(name_of(path), ()))
        )

    others = [path for path in EVERY if not name_of(path).startswith("debuggers/")]
    assert faults(others, imported) == {}


def test_a_private_name_is_its_file_s_own() -> None:
    """What another file needs has a name for everybody."""

    def taken(path: Path) -> list[str]:
        return named(
            one
            for one in imports(path)
            if re.fullmatch("_[A-Za-z].*", one.module.split(".")[-1])
            and one.module.startswith("relay.")
        )

    assert faults(EVERY, taken) == {}


def test_the_names_of_debuggers_and_faces_are_found() -> None:
    assert {"debugpy", "perl"} <= DEBUGGERS
    assert {"cli", "common", "dap", "http", "mcp", "stdio", "tool"} <= FACES


def test_no_inspector_inherits_from_the_other() -> None:
    from relay.debuggers.debugpy.probe_inspector import ProbeInspector
    from relay.debuggers.standard.inspector import StandardInspector
    from relay.session.inspector import Inspector

    for one in (ProbeInspector, StandardInspector):
        assert one.__bases__ == (Inspector,)


@pytest.mark.parametrize(
    ("file", "ours"),
    [
        ("__main__.py", set()),
        ("quick/server.py", set()),
        ("quick/shell.py", {"relay.quick.server"}),
        ("command_line.py", {"relay.staying_imports"}),
    ],
)
def test_the_command_imports_the_server_lazily(file: str, ours: set[str]) -> None:
    """`relay --version` must not pay for Quart, nor a step for click."""
    top = ast.parse((ROOT / file).read_text()).body
    names = [alias.name for node in top if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in top if isinstance(node, ast.ImportFrom)]
    assert {name for name in names if is_ours(name)} <= ours


# The check itself -------------------------------------------------------------------------


def parsed(source: str) -> list[Import]:
    return list(_imports(ast.parse(source), typing_only=False))


def test_an_upward_import_is_noticed_wherever_it_stands() -> None:
    for source in (
        "import relay.hub",
        "from relay import hub",
        "from relay.hub import Hub",
        "def f():\n    from relay.hub import Hub",
        "if TYPE_CHECKING:\n    from relay.hub import Hub",
    ):
        (found,) = parsed(source)
        assert layer_of(found.module) > layer_of("relay.session.session")


def test_each_file_that_breaks_a_rule_is_named_with_all_that_breaks_it() -> None:
    found = faults(
        [ROOT / "hub.py", ROOT / "config.py"], lambda path: "ba" if path.stem == "hub" else ""
    )
    assert found == {"hub.py": ["a", "b"]}
    with pytest.raises(AssertionError, match="no relay/nowhere"):
        files("hub.py", "nowhere/*.py")


def test_a_map_names_what_stands_before_the_text_of_its_lines() -> None:
    text = """What a folder has: all of this.

    hub           all sessions
    dap/, perl/   protocols
    bootstrap.py  starts a program

- `tools`, `texts`: what agents see; `calls` is none of them
Only these: the rest.
    """
    assert mapped(text) == ["hub", "dap", "perl", "bootstrap", "tools", "texts"]
    assert mapped("`server`: the listener") == ["server"]
    assert mapped("Knows: nothing") == []


def test_typing_only_imports_are_told_apart() -> None:
    found = parsed("if TYPE_CHECKING:\n    import a\nelse:\n    import b\nimport c")
    assert [(one.module, one.typing_only) for one in found] == [
        ("a", True),
        ("b", False),
        ("c", False),
    ]


def test_every_layer_exists() -> None:
    known = {module_of(path) for path in EVERY}
    assert set().union(*LAYERS) <= known
