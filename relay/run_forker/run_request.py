"""RunRequest: a `relay run` as its shell would make it, and how a fork becomes that process."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from relay.process.inheritance import Changeable


@dataclass(frozen=True)
class RunSurroundings:
    """What a process of the run has before it knows its words. Equal where it would be the same."""

    environment: Mapping[str, str]
    changeable: Changeable
    directory: tuple[int, int]
    """Device and number of the working directory."""

    def take_on(self) -> None:
        """Make them this process's own; it stands in the directory already."""
        os.setpgid(0, 0)
        self.changeable.take_on()
        os.environ.clear()
        os.environ.update(self.environment)
        time.tzset()


@dataclass(frozen=True)
class RunRequest:
    """A run as the shell would make it."""

    words: list[str]
    encodings: list[list[str]]
    """Encoding and error handler of each standard stream."""
    descriptors: Sequence[int]
    """Of the standard streams and of the working directory."""
    surroundings: RunSurroundings

    def become(self) -> None:
        """Make this process one that the client's shell could have started."""
        os.fchdir(self.descriptors[3])
        self.surroundings.take_on()
        take_words(self.words, self.encodings, self.descriptors[:3])
        self.close()

    def close(self) -> None:
        """Let go of the descriptors."""
        for fd in self.descriptors:
            os.close(fd)


def take_words(
    words: Sequence[str], encodings: Sequence[Sequence[str]], streams: Sequence[int]
) -> None:
    """Make the words and the standard streams this process's own. The descriptors stay open."""
    for target, fd in enumerate(streams):
        os.dup2(fd, target)
    sys.argv = ["relay", *words]
    for fd, (name, (encoding, errors)) in enumerate(
        zip(("stdin", "stdout", "stderr"), encodings, strict=True)
    ):
        # As Python makes them: a line at a time to a terminal, and to standard error.
        mode, buffering = "w" if fd else "r", 1 if fd == 2 or os.isatty(fd) else -1
        stream = open(fd, mode, buffering, encoding, errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
