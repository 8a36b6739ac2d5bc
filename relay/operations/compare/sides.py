"""What is to be compared: two commands here, or one command in this tree and in a revision of it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import trio

from relay.environments import is_installed_command, own_environment
from relay.errors import InvalidRequest
from relay.operations.compare.recorded_run import Side
from relay.operations.compare.tree_paths import paths_within
from relay.operations.compare.worktree import toplevel, worktree

SOURCES = ("", "src", "lib")
"""Below the root of a tree: where its packages may lie."""

_SAY_FOLDERS = """\
import json, sys, sysconfig
of = sysconfig.get_paths()
kinds = ("purelib", "platlib", "stdlib", "platstdlib")
print(json.dumps([*(of[kind] for kind in kinds), sys.prefix, sys.base_prefix]))
"""

Target = Mapping[str, Any]
Sides = tuple[Side, Side]


async def sides_of_commands(
    one: Target, other: Target, pythons: tuple[str, str] | None = None
) -> Sides:
    """Both where we are; scripts of different folders each have their own as root.

    `env` of a target are variables of its environment that the other need not have. pythons: the
    interpreters of both, if they are not the same. Raises InvalidRequest for what is no Python.
    """
    cwd = os.getcwd()
    (one, own), (other, own_of_other) = _and_variables(one), _and_variables(other)
    folders = [_folder(target, cwd) for target in (one, other)]
    roots = (cwd, cwd) if folders[0] == folders[1] else (folders[0], folders[1])
    sides = (
        Side("1", one, roots[0], cwd, _environment([], own), roots[1]),
        Side("2", other, roots[1], cwd, _environment([], own_of_other), roots[0]),
    )
    return sides if pythons is None else await _with_interpreters(sides, pythons)


async def _with_interpreters(sides: Sides, pythons: tuple[str, str]) -> Sides:
    ours, theirs = [await _libraries(python) for python in pythons]
    return (
        replace(sides[0], python=pythons[0], libraries=ours, other_libraries=theirs),
        replace(sides[1], python=pythons[1], libraries=theirs, other_libraries=ours),
    )


async def _libraries(python: str) -> tuple[str, ...]:
    """The folders of an interpreter, inner ones first, in an order that is the same for all."""
    try:
        said = await trio.run_process(
            [python, "-I", "-c", _SAY_FOLDERS], capture_stdout=True, capture_stderr=True
        )
        return tuple(map(str, json.loads(said.stdout)))
    except subprocess.CalledProcessError as error:
        reason = f"exit code {error.returncode}"
    except OSError as error:
        reason = str(error.strerror)
    except ValueError:
        reason = "it printed something else than it was asked for"
    raise InvalidRequest(
        f"{python} does not run as a Python: {reason}",
        suggestion="Name the Python of an environment",
    )


def _and_variables(target: Target) -> tuple[Target, Mapping[str, str]]:
    """What is to be run, and which variables of its environment are its own."""
    return {name: value for name, value in target.items() if name != "env"}, target.get("env", {})


def _folder(target: Target, cwd: str) -> str:
    script: str | None = target.get("script")
    if script is None or is_installed_command(script):
        return cwd
    return os.path.dirname(os.path.abspath(script))


@asynccontextmanager
async def sides_of_revision(target: Target, revision: str, python: str) -> AsyncIterator[Sides]:
    """This tree, and the revision's in a directory that is gone after the block.

    python: the interpreter of both. Raises InvalidRequest outside of a repository, and for what the
    revision has not.
    """
    root = await toplevel(os.getcwd())
    variables = {**own_environment(), **target.get("env", {})}
    paths = await paths_within(root, python, variables)
    async with worktree(root, revision) as tree:
        ours, theirs = two_trees(target, revision, root, tree.path, paths)
        yield ours, replace(theirs, is_compiled_otherwise=tree.is_compiled_otherwise)


def two_trees(
    target: Target, revision: str, root: str, tree: str, paths: Sequence[str] = ()
) -> Sides:
    """The same command where we are below `root`, and at the same place below `tree`.

    paths: further folders below the root that packages are imported from.
    """
    root, here = os.path.realpath(root), os.path.realpath(os.getcwd())
    folder = os.path.relpath(here, root)
    there = os.path.normpath(os.path.join(tree, folder))
    if not os.path.isdir(there):
        raise InvalidRequest(
            f"{revision} has no folder {folder}", suggestion="Run it in a folder that both have"
        )
    target, variables = _and_variables(target)
    target = _with_script_outside(target, root)
    moved = {name: _moved(value, root, tree) for name, value in target.items()}
    if (script := target.get("script")) is not None and is_installed_command(script):
        moved["script"] = os.path.abspath(script)  # of an environment, which is not of a revision
    both = [path for path in paths if os.path.isdir(_moved(path, root, tree))]  # no .venv, say
    ours, theirs = _packages(root, both), _packages(tree, _moved(both, root, tree))
    return (
        Side("this tree", target, root, here, _environment(ours, variables), tree),
        Side(
            revision,
            moved,
            tree,
            there,
            _environment(theirs, variables),
            root,
            is_of_revision=True,
        ),
    )


def _with_script_outside(target: Target, root: str) -> Target:
    """The target; a script that is not below the root by its whole path, which is the same for both."""
    script = target.get("script")
    if script is None or os.path.abspath(script).startswith(root + os.sep):
        return target
    return {**target, "script": os.path.abspath(script)}


def missing_in(side: Side, other: Side) -> str | None:
    """What to do where the script is only at the other side's place of that name; else None."""
    mine, theirs = side.script, other.script
    if mine is None or theirs is None or os.path.exists(mine) or not os.path.isfile(theirs):
        return None
    place = os.path.relpath(mine, os.path.realpath(side.root))
    if place != os.path.relpath(theirs, os.path.realpath(other.root)):
        return None
    return (
        f"it has no {place}. Commit it, or have it outside of the repository, where it runs with the "
        "packages of each tree"
    )


def focus_in(side: Side, focus: Sequence[str]) -> list[str]:
    """Places as they are named where the side is run, from the root of its tree on, as each has them."""
    return [_from_root(one, side) for one in focus]


def _from_root(place: str, side: Side) -> str:
    name, colon, function = place.partition(":")
    path = os.path.normpath(os.path.join(side.cwd, name))
    is_own = path.startswith(side.root + os.sep) and os.path.exists(path)
    return os.path.relpath(path, side.root) + colon + function if is_own else place


def _packages(root: str, more: Sequence[str]) -> list[str]:
    folders = [os.path.join(root, one) if one else root for one in SOURCES]
    return list(dict.fromkeys([*(one for one in folders if os.path.isdir(one)), *more]))


def _environment(packages: Sequence[str], variables: Mapping[str, str]) -> dict[str, str]:
    """Equal sets in equal order, and the tree's own packages ahead of those that are installed.

    variables: what the command names of its own.
    """
    known = {**os.environ, **variables}
    seed = known.get("PYTHONHASHSEED", "")
    given = {"PYTHONHASHSEED": seed if seed.isdecimal() else "0"}  # "random" is another in each run
    if packages:
        paths = [*packages, *filter(None, [known.get("PYTHONPATH")])]
        given["PYTHONPATH"] = os.pathsep.join(paths)
    return {**variables, **given}


def _moved(value: Any, root: str, tree: str) -> Any:
    """A word of the command line that names a place in this tree, in the other."""
    if isinstance(value, list):
        return [_moved(one, root, tree) for one in value]
    if value == root or value.startswith(root + os.sep):
        return tree + value[len(root) :]
    return value
