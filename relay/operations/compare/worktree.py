"""A revision of a git repository in a directory of its own, which is gone afterwards."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from subprocess import DEVNULL
from typing import NamedTuple

import trio

from relay.environments import own_environment
from relay.errors import InvalidRequest
from relay.operations.compare.scratch import scratch_directory

_MADE = (".py", ".pyd", ".so")
"""Ends of the names of modules that an installation may make, and that git is told to ignore."""
_COMPILED = _MADE[1:]
_REMEMBERED = ".pytest_cache"
"""The folder in which tests keep which of them failed last: `--lf` runs these."""
_LIST_IGNORED = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
_OF_ANOTHER_TREE = frozenset(
    {
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_PREFIX",
        "GIT_WORK_TREE",
    }
)
"""What git tells its hooks of the tree that it is in: a new one would be made with that tree's index, and what
was staged there would be lost."""
_NATIVE_SOURCES = ("*.c", "*.cc", "*.cpp", "*.cxx", "*.h", "*.hpp", "*.pxd", "*.pyx", "*.rs")


class Worktree(NamedTuple):
    """A revision's tree."""

    path: str
    is_compiled_otherwise: bool
    """Whether compiled modules in it are of other sources than the revision has."""


async def toplevel(directory: str) -> str:
    """The root of the tree that the directory is in; raises InvalidRequest where there is none."""
    if shutil.which("git") is None:
        raise InvalidRequest("there is no git", suggestion="Install git, or compare two commands")
    code, out, complaint = await _git(directory, "rev-parse", "--show-toplevel")
    if code and "not a git repository" not in complaint:  # as one that belongs to somebody else
        raise InvalidRequest(
            f"git refuses the repository of {directory}: {complaint.partition(chr(10))[0]}",
            suggestion="Do what git says, or compare two commands: CMD1 ::: CMD2",
        )
    if code:
        raise InvalidRequest(
            f"{directory} is in no git repository",
            suggestion="Run it inside one, or compare two commands: CMD1 ::: CMD2",
        )
    return out


@asynccontextmanager
async def worktree(root: str, revision: str) -> AsyncIterator[Worktree]:
    """The tree at `root` as it is at a revision, for as long as the block runs; with the modules that git ignores
    beside those that it has, as one of its version, or what was compiled, and with which tests failed last:
    those are of the tree at `root`.

    Raises InvalidRequest for a revision that git does not know.
    """
    code, commit, _ = await _git(
        root, "rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"
    )
    if code:
        raise InvalidRequest(
            f"git knows no revision {revision}", suggestion="Give a commit, a tag or a branch"
        )
    with scratch_directory() as home:
        # With the name of the root: programs show it, as pytest does.
        tree = os.path.join(home, "tree", os.path.basename(root))
        try:
            code, _, complaint = await _git(root, "worktree", "add", "--detach", tree, commit)
            if code:
                raise InvalidRequest(
                    f"git made no worktree of {revision}: {complaint[-200:]}",
                    suggestion=f"Mend what git names: `git worktree add --detach DIRECTORY {revision}` has to work here",
                )
            _, ignored, _ = await _git(root, *_LIST_IGNORED)
            made = await trio.to_thread.run_sync(_bring_modules, root, tree, ignored.split("\0"))
            await trio.to_thread.run_sync(_bring_remembered, root, tree)
            is_compiled = any(name.endswith(_COMPILED) for name in made)
            yield Worktree(tree, is_compiled and await _has_other_native_sources(root, commit))
        finally:
            with trio.CancelScope(shield=True):
                await _git(root, "worktree", "remove", "--force", "--force", tree)
                await _git(root, "worktree", "prune")  # also of what a killed one has left


def _bring_modules(root: str, tree: str, names: Sequence[str]) -> list[str]:
    """Those of these files that are modules, in folders that the tree has, too, and that it has not itself."""
    brought = []
    for name in names:
        ours, theirs = os.path.join(root, name), os.path.join(tree, name)
        if (
            name.endswith(_MADE)
            and os.path.isdir(os.path.dirname(theirs))
            and not os.path.lexists(theirs)
        ):
            with suppress(OSError):  # it is gone, say
                if name.endswith(_COMPILED):
                    os.symlink(ours, theirs)  # they are large
                else:
                    shutil.copyfile(ours, theirs)
                brought.append(name)
    return brought


def _bring_remembered(root: str, tree: str) -> None:
    with suppress(OSError):  # there is none, or the revision has one
        shutil.copytree(os.path.join(root, _REMEMBERED), os.path.join(tree, _REMEMBERED))


async def _has_other_native_sources(root: str, commit: str) -> bool:
    code, _, _ = await _git(root, "diff", "--quiet", commit, "--", *_NATIVE_SOURCES)
    return code == 1


async def _git(directory: str, *words: str) -> tuple[int, str, str]:
    """(exit code, output, complaint)."""
    environment = own_environment()
    done = await trio.run_process(  # which may run hooks of the repository
        ["git", "-C", directory, *words],
        env={name: environment[name] for name in environment.keys() - _OF_ANOTHER_TREE},
        capture_stdout=True,
        capture_stderr=True,
        stdin=DEVNULL,
        check=False,
    )
    return done.returncode, os.fsdecode(done.stdout).strip(), os.fsdecode(done.stderr).strip()
