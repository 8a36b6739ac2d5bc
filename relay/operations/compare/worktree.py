"""A revision of a git repository in a directory of its own, which is gone afterwards."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from subprocess import DEVNULL

import trio

from relay.environments import own_environment
from relay.errors import InvalidRequest
from relay.operations.compare.scratch import scratch_directory


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
async def worktree(root: str, revision: str) -> AsyncIterator[str]:
    """The tree at `root` as it is at a revision, for as long as the block runs.

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
        tree = os.path.join(home, "tree")
        try:
            code, _, complaint = await _git(root, "worktree", "add", "--detach", tree, commit)
            if code:
                raise InvalidRequest(f"git made no worktree of {revision}: {complaint[-200:]}")
            yield tree
        finally:
            with trio.CancelScope(shield=True):
                await _git(root, "worktree", "remove", "--force", "--force", tree)
                await _git(root, "worktree", "prune")  # also of what a killed one has left


async def _git(directory: str, *words: str) -> tuple[int, str, str]:
    """(exit code, output, complaint)."""
    done = await trio.run_process(  # which may run hooks of the repository
        ["git", "-C", directory, *words],
        env=own_environment(),
        capture_stdout=True,
        capture_stderr=True,
        stdin=DEVNULL,
        check=False,
    )
    return done.returncode, done.stdout.decode().strip(), done.stderr.decode().strip()
