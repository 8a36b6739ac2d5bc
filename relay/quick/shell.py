"""The `relay` command as far as it needs no imports: what a server carries out, help, the version.

An agent waits for each command in a shell, and all but a few milliseconds of one are imports.
So a session command is sent as it is to the server, which carries it out (`faces/cli/sessions/served.py`)
and answers with what is to be printed. Whatever this module is not sure of it leaves to the whole
command: other commands, other servers, no server. Nothing has been done then.
"""

from __future__ import annotations

import os

from relay.quick.server import (
    LOCK,
    LOG,
    NO_RELAY,
    NOTE,
    BrokenOff,
    QuickSettings,
    Unwritable,
    as_json,
    connected,
    exchange,
    installed_version,
    is_strangers,
    parsed,
    write,
)

TYPE_CHECKING = False  # that of `typing` would be one more
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Sequence

    Answer = tuple[list[tuple[str, bool]], int]
    """What is to be printed, each piece with whether to standard error; and the exit code."""

SERVED = frozenset(
    {
        *("attach", "break", "continue", "end", "eval", "hang", "input", "locals", "output"),
        *("pause", "restart", "sessions", "stack", "start", "step", "stop", "trace", "until"),
        *("watch", "where", "why"),
    }
)
"""Commands that a server carries out."""

PASSED_ON = frozenset(
    {"COLORTERM", "CONDA_PREFIX", "HOME", "NO_COLOR", "FORCE_COLOR", "PATH", "TERM", "VIRTUAL_ENV"}
)
"""Variables of the shell that a command may look at, besides RELAY_* and those it names."""

END_SECONDS = 15.0
"""How long a server may take to end with all that it holds."""

ENDING_SECONDS = 60.0
"""How long it may take before that to end its sessions."""

FROZEN_SECONDS = 5.0
"""How long it may take at least where another shell has waited for it already."""

HELP_WIDTH = 80
"""Columns that the files of help were written for; click makes no line longer."""


def answer(words: Sequence[str]) -> int | None:
    """Carry the command out and return its exit code; None if this is not the way to."""
    try:
        return _answer(words)
    except Unwritable as error:
        return unwritable(str(error))


def unwritable(why: str | None) -> int:
    """Say that the output cannot be written, if that can be; the exit code."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # what is left to be flushed
    try:
        return refuse(f"cannot write output: {why}")
    except Unwritable:
        os.dup2(nowhere, 2)
        return 1


def refuse(why: str) -> int:
    """Say why nothing is done; the exit code."""
    return write(f"relay: {why}\n", err=True, code=1)


def _answer(words: Sequence[str]) -> int | None:
    if not words or os.environ.get("_RELAY_COMPLETE"):
        return None
    if words == ["--version"]:
        return _version()
    if words[-1] in ("-h", "--help"):
        return _help(words[:-1])
    if len(words) == 2 and words[0] == "completion" and words[1].isalpha():
        return _file(f"completion.{words[1]}")
    if words[0] == "run":
        from relay.quick.run import run_forked as carry_out
    elif words[0] in SERVED and not any(word in ("-h", "--help", "--url") for word in words):
        carry_out = _stop if words[0] == "stop" else _ask
    else:
        return None
    try:
        return carry_out(words)
    except KeyboardInterrupt:
        write("Aborted!\n", err=True)
        return 1


def _version() -> int | None:
    version = installed_version()
    return None if version is None else write(f"relay {version}\n")


def _help(words: Sequence[str]) -> int | None:
    if len(words) > 1 or _columns() < HELP_WIDTH:
        return None
    return _file(f"{'-'.join(['relay', *words])}.txt")


def _file(name: str) -> int | None:
    """Print a file of help."""
    directory = os.path.join(os.path.dirname(os.path.dirname(__file__)), "help")
    try:
        with open(os.path.join(directory, name), "rb") as file:
            return write(file.read().decode())
    except (OSError, ValueError):  # no such command
        return None


def _columns() -> int:
    """As click counts them; 0 where it would have to be asked."""
    given = os.environ.get("COLUMNS", "")
    if given:
        return int(given) if given.isdecimal() else 0
    return _terminal_width() or HELP_WIDTH


def _terminal_width() -> int | None:
    """Columns of the terminal that standard output is; None if it is none."""
    try:
        return os.get_terminal_size(1).columns if os.isatty(1) else None
    except OSError:
        return None


# Asking ----------------------------------------------------------------------------------


def _ask(words: Sequence[str]) -> int | None:
    settings = QuickSettings(os.environ)
    for url in settings.servers():
        connection = _connected(url, settings)
        if connection is None:
            continue
        try:
            return _show(_answer_of(connection, url, settings, words))
        except BrokenOff as error:
            message = f"the relay at {url} did not answer: {error}\n"
            message += "  See where it stands: relay where; the command may have been carried out"
            return _show(_failure(message, NO_RELAY))
    return None


def _connected(url: str, settings: QuickSettings) -> socket | None:
    return None if settings.guesses and is_strangers(url) else connected(url)


def _answer_of(
    connection: socket, url: str, settings: QuickSettings, words: Sequence[str]
) -> Answer | None:
    """What is still to be printed; None where the server has refused to carry the command out.

    What the server sends before the command is over is printed at once. Raises BrokenOff.
    """
    request = {
        "version": installed_version() or "",
        "words": words,
        "directory": os.getcwd(),
        "environment": _environment(words),
        "terminal_width": _terminal_width(),
        "pid_namespace": pid_namespace(),
    }
    for status, content in exchange(connection, settings.token(), as_json(request).encode()):
        if status == 500:
            return _failure(f"the relay at {url} failed; its log says why", 1)
        if status != 200:
            return None
        try:
            data = parsed(content.decode())["data"]
            written = [(piece["text"], piece["to_stderr"]) for piece in data["written"]]
            code = None if data["exit_code"] is None else int(data["exit_code"])
        except (KeyError, TypeError, ValueError):
            message = f"what answers at {url} is no relay; choose another port: RELAY_PORT"
            return _failure(message, NO_RELAY)
        if code is not None:
            return written, code
        _print(written)
    raise BrokenOff("the answer has no end")


def pid_namespace() -> str | None:
    """What the system calls the namespace in which this process has its number; None where it has none."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return None


def _environment(words: Sequence[str]) -> dict[str, str]:
    """What the command may look at. `-e NAME` passes a variable on: it ends in its name."""
    named = tuple(words)
    return {
        name: value
        for name, value in os.environ.items()
        if name in PASSED_ON
        or (name.startswith("RELAY_") and name not in ("RELAY_URL", "RELAY_TOKEN"))
        or any(word.endswith(name) for word in named)
    }


def _failure(message: str, code: int) -> Answer:
    return [(f"relay: {message}\n", True)], code


def _show(answer: Answer | None) -> int | None:
    if answer is None:
        return None
    written, code = answer
    _print(written)
    return code


def _print(written: Sequence[tuple[str, bool]]) -> None:
    for text, to_stderr in written:
        write(text, err=to_stderr)


# Ending ----------------------------------------------------------------------------------


def _stop(words: Sequence[str]) -> int | None:
    """`relay stop`; meanwhile no other shell starts a server, or ends one."""
    settings = QuickSettings(os.environ)
    noted = settings.noted()
    if noted is None or not settings.guesses or not hasattr(os, "pidfd_open"):
        return None
    import fcntl
    from time import monotonic

    began = monotonic()
    try:
        lock = open(os.path.join(settings.state_dir, LOCK), "wb")  # noqa: SIM115  closed below
    except OSError:
        return None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waited = monotonic() - began if settings.noted() == noted else 0.0  # for the same server
        answer = _end(settings, words, max(ENDING_SECONDS - waited, FROZEN_SECONDS))
    return _show(answer)


def _end(settings: QuickSettings, words: Sequence[str], seconds: float) -> Answer | None:
    """Have the server in the background end itself, and wait until it is gone.

    seconds: how long it may take to end its sessions.
    """
    import select

    noted = settings.noted()
    connection = _connected(noted[1], settings) if noted is not None else None
    if noted is None or connection is None:
        return None
    pid, url = noted
    try:
        process = os.pidfd_open(pid)
    except OSError:  # another server listens there
        connection.close()
        return None
    connection.settimeout(seconds)
    try:
        answer = _answer_of(connection, url, settings, words)
        if answer is None or answer[1] != 0:
            return answer
        end = select.poll()
        end.register(process, select.POLLIN)
        if not end.poll(END_SECONDS * 1000):
            return _not_ended(f"the server {pid} does not end", pid, settings, words)
    except BrokenOff as error:
        return _not_ended(f"the server {pid} did not answer: {error}", pid, settings, words)
    finally:
        os.close(process)
    try:  # noqa: SIM105  `contextlib` would be one more import
        os.unlink(os.path.join(settings.state_dir, NOTE))
    except FileNotFoundError:  # with the whole state directory, say
        pass
    return answer


def _not_ended(message: str, pid: int, settings: QuickSettings, words: Sequence[str]) -> Answer:
    """The refusal as the whole command says it, with --json too."""
    log = os.path.abspath(os.path.join(settings.state_dir, LOG))
    way_out = f"Look into {log}, and end it: kill {pid}"
    if "--json" not in words:
        return _failure(f"{message}\n  {way_out}", NO_RELAY)
    details = {"suggestion": way_out}
    error = {"code": "RELAY_UNREACHABLE", "message": message, "details": details}
    return [(as_json({"error": error}) + "\n", False)], NO_RELAY
