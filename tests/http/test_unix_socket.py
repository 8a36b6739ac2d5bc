"""The Unix socket's file: who may connect, what is replaced, and what is left behind."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from relay.faces.http.listener import CannotListenError, bind_unix, owned, place_of, url_of


def leave_behind(path: Path) -> None:
    """A socket whose server is gone."""
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(path))


def test_only_the_owner_may_connect_and_the_file_goes_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "relay.sock"
    with bind_unix(path) as listener:
        assert path.stat().st_mode & 0o777 == 0o600
        assert (url_of(listener), place_of(listener)) == (f"unix:{path}", str(path))
        with owned(listener):
            assert path.exists()
    assert not path.exists()


def test_a_socket_that_nobody_listens_on_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "relay.sock"
    leave_behind(path)
    with bind_unix(path), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))


def test_a_socket_in_use_stays(tmp_path: Path) -> None:
    path = tmp_path / "relay.sock"
    with bind_unix(path), socket.socket(socket.AF_UNIX) as client:
        with pytest.raises(CannotListenError, match="somebody listens there already"):
            bind_unix(path)
        client.connect(str(path))


def test_what_is_no_socket_stays(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    with pytest.raises(CannotListenError, match="no socket"):
        bind_unix(path)
    assert path.read_text() == "mine"


@pytest.mark.parametrize("name", ["x" * 200, "missing/relay.sock"])
def test_a_path_that_cannot_be_bound_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(CannotListenError, match="cannot listen on"):
        bind_unix(tmp_path / name)


def test_a_file_that_has_taken_its_place_stays_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "relay.sock"
    with bind_unix(path) as listener, owned(listener):
        path.unlink()
        path.write_text("mine")
    assert path.read_text() == "mine"
