"""The server that the session commands speak to: the one that is there, or one in the background.

    background.json    {"pid": …, "url": …} of the server that was started here
    background.lock    held while one is started or ended: two shells start only one
    background.log     what it says

Knows the state directory and the server's command line. Knows no session.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from relay.client import Client
from relay.client.place import ServerAddress
from relay.config import Settings
from relay.environments import ACTIVE
from relay.errors import Forbidden, RelayError, RelayUnreachable, ShuttingDown, Unauthorized
from relay.faces.common.local_url import local_url
from relay.quick.server import LOCK, LOG, NOTE, is_strangers
from relay.quick.shell import END_SECONDS
from relay.state_files import DIRECTORY_MODE, FILE_MODE, remove, write_whole

if sys.platform != "win32":
    import fcntl

IDLE_MINUTES = 30.0
"""Without a session and without a request for so long, it ends itself."""

HEALTH_SECONDS = 5.0
START_SECONDS = 60.0
MOST_PID = 2**22
"""Source: proc(5), pid_max."""

LAST_WORDS = 800
"""Bytes of the log that a failed start shows."""


@dataclass(frozen=True)
class Noted:
    """The server that was started in the background, as background.json has it."""

    pid: int
    url: str


class Background:
    """The servers that these settings lead to."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._directory = settings.state_dir.expanduser().absolute()
        self._note = self._directory / NOTE
        self.log = self._directory / LOG

    def find(self) -> str | None:
        """The URL of the one that answers: ours in the background, else the settings' own."""
        noted = self.noted()
        for url in (noted.url if noted else None, configured_url(self._settings)):
            if url is not None and self._answers(url):
                return url
        return None

    def ensure(self, say: Callable[[str], None]) -> str:
        """The URL of the one that answers, started now if none does. Raises RelayUnreachable."""
        found = self.find()
        if found is not None:
            return found
        with self._locked():
            noted = self.noted()  # another shell may have started it meanwhile
            if noted is not None and self._answers(noted.url):
                return noted.url
            try:
                started = self._start()
            except OSError as error:
                raise _none_can_be_started(error) from None
        say(f"relay: started a server in the background at {started} (relay stop ends it)")
        return started

    def stop(self) -> Noted | None:
        """End the one in the background, and wait until it is gone; None if there is none."""
        if not self._directory.is_dir():  # nor can it be made, perhaps
            return None
        with self._locked():
            noted = self.noted()
            if noted is None or not self._answers(noted.url):
                remove(self._note)
                return None
            try:
                process = psutil.Process(noted.pid)
            except psutil.NoSuchProcess:  # another server listens there
                remove(self._note)
                return None
            with Client(noted.url, token=self._settings.token) as client:
                ask_to_end(client)
            self._wait(process)
            remove(self._note)
            return noted

    def noted(self) -> Noted | None:
        """What is noted of the one in the background, whether or not it lives."""
        return noted_in(self._directory)

    def _answers(self, url: str) -> bool:
        if is_strangers(url):  # it is not to learn the token
            return False
        refusal = self._refusal(url)
        # One that asks for a token is there, and will say so to whoever asks.
        return refusal is None or isinstance(refusal, Unauthorized)

    def _is_anothers(self, url: str) -> bool:
        """Whether another user listens there, or a relay that refuses us."""
        return is_strangers(url) or isinstance(self._refusal(url), Forbidden)

    def _refusal(self, url: str) -> RelayError | None:
        """Why no relay serves us there; None if one does."""
        try:
            with Client(url, token=self._settings.token, timeout=HEALTH_SECONDS) as client:
                client.health()
        except (Unauthorized, Forbidden, RelayUnreachable, ShuttingDown) as error:
            return error
        return None

    def _wait(self, process: psutil.Process) -> None:
        try:
            process.wait(END_SECONDS)
        except psutil.TimeoutExpired:
            raise RelayUnreachable(
                f"the server {process.pid} does not end",
                suggestion=f"Look into {self.log}, and end it: kill {process.pid}",
            ) from None

    # Starting --------------------------------------------------------------------------

    def _start(self) -> str:
        self._wait_for_the_last_one()
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, FILE_MODE)
        with open(descriptor, "ab") as log:
            said_before = log.tell()
            process = subprocess.Popen(
                self._command(),
                cwd=self._directory,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                # The next shell may have another one active, or none.
                env={name: text for name, text in os.environ.items() if name != ACTIVE},
            )
        try:
            url = _listens_on(process)
            if url is None:
                raise self._did_not_start(said_before)
            write_whole(self._note, json.dumps({"pid": process.pid, "url": url}).encode())
        except BaseException:  # of one that is not noted nobody would know
            process.kill()
            process.wait()
            raise
        # It outlives us: nobody waits for it here.
        process.returncode = 0
        return url

    def _wait_for_the_last_one(self) -> None:
        """One that is just ending still has the port."""
        noted = self.noted()
        if noted is not None:
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(noted.pid)
                if "relay" in process.cmdline():
                    process.wait(END_SECONDS)

    def _command(self) -> list[str]:
        # -P: what lies in the state directory is no module of ours.
        command = [sys.executable, "-P", "-m", "relay", "serve"]
        command += ["--state-dir", str(self._directory)]
        if self._settings.uds is None:
            command += ["--host", "127.0.0.1"]
            if "same_user_only" not in self._settings.model_fields_set:
                command += ["--same-user-only"]
            url = configured_url(self._settings)
            if url is not None and self._is_anothers(url):
                command += ["--port", "0"]
        if self._settings.exit_when_idle is None:
            command += ["--exit-when-idle", str(IDLE_MINUTES)]
        if "log_level" not in self._settings.model_fields_set:
            # A line for each request would fill the file, which nobody takes away.
            command += ["--log-level", "warning"]
        return command

    def _did_not_start(self, said_before: int) -> RelayUnreachable:
        with open(self.log, "rb") as log:
            log.seek(said_before)
            said = log.read()[-LAST_WORDS:].decode(errors="replace").strip()
        return RelayUnreachable(
            "the server could not be started in the background" + (f": {said}" if said else ""),
            suggestion=f"Correct what it names, or ask relay doctor; its log is {self.log}",
        )

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Waits while another shell starts or ends one. Raises RelayUnreachable."""
        try:
            self._directory.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
            lock = open(self._directory / LOCK, "wb")  # noqa: SIM115  closed below
        except OSError as error:
            raise _none_can_be_started(error) from None
        with lock:
            if sys.platform != "win32":
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _none_can_be_started(error: OSError) -> RelayUnreachable:
    return RelayUnreachable(
        f"no relay runs, and none can be started: {error}",
        suggestion="Give a state directory that is yours and has room: RELAY_STATE_DIR",
    )


def noted_in(state_dir: Path) -> Noted | None:
    """The server in the background that this state directory names, whether or not it lives.

    None for a damaged note as well: what it says leads nowhere.
    """
    try:
        note = json.loads((state_dir / NOTE).read_bytes())
        noted = Noted(int(note["pid"]), str(note["url"]))
        ServerAddress.of(noted.url, None, None, HEALTH_SECONDS)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return noted if 0 < noted.pid <= MOST_PID else None


def ask_to_end(client: Client) -> None:
    """End all sessions of a server, and have it end itself."""
    with contextlib.suppress(ShuttingDown):
        for item in client.sessions(limit=1000).items:
            with contextlib.suppress(RelayError):  # it ends by itself, or with the relay
                session = client.session(item.session_id)
                if item.hold is not None:
                    session.release()  # a relay that ends asks no holder
                session.delete()  # else the next relay has it again
        client.shutdown()


def configured_url(settings: Settings) -> str | None:
    """Where a server with these settings listens; None for a port that it chooses."""
    if settings.uds is not None:
        return f"unix:{settings.uds.expanduser().absolute()}"
    if settings.port == 0:
        return None
    return local_url(settings.host, settings.port)


def _listens_on(process: subprocess.Popen[bytes]) -> str | None:
    """Where the server says that it listens; None if it ends, or says nothing in time."""
    assert process.stdout is not None
    text, deadline = b"", time.monotonic() + START_SECONDS
    with process.stdout as stdout:
        while b"\n" not in text:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([stdout], [], [], left)[0]:
                return None
            piece = os.read(stdout.fileno(), 4096)
            if not piece:
                return None
            text += piece
    words = text.split(b"\n")[0].decode().split()
    return words[-1].removesuffix("/api/v1")
