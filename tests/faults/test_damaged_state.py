"""Every byte of the files in the state directory, damaged: a relay starts with all that is whole."""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path

import pytest

from relay import Settings, open_relay
from relay.hub import Hub
from relay.models.breakpoints import SetBreakpoints
from relay.models.creating import CreateSession
from relay.operations.breakpoints.breakpoints import set_breakpoints
from relay.operations.sessions.creating import create_session

STRIDE = 1 if os.environ.get("RELAY_TEST_FAULTS") else 61
"""Every so many bytes; each where there is time."""

DAMAGES = {
    "cut": lambda data, at: data[:at],
    "other": lambda data, at: data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :],
    "doubled": lambda data, at: data[: at + 1] + data[at:],
}
"""What becomes of a file whose byte at a place is damaged."""


async def fill(state: Path, script: Path) -> list[str]:
    """Two sessions with a breakpoint each; their ids."""
    settings = Settings(state_dir=state, project_root=script.parent)
    async with open_relay(settings, persist=True) as hub:
        ids = []
        for _ in range(2):
            view = await create_session(hub, body=CreateSession())
            place = {"source": {"path": str(script)}, "line": 1}
            body = SetBreakpoints.model_validate({"breakpoints": [place]})
            await set_breakpoints(hub.get(view.session_id), body=body)
            ids.append(view.session_id)
        return ids


def lines(hub: Hub, session_id: str) -> list[int | None]:
    """Where the session has breakpoints."""
    return [one.line for one in hub.get(session_id).breakpoints]


@pytest.mark.parametrize("damage", DAMAGES)
async def test_damage_at_any_byte_costs_only_what_is_damaged(tmp_path: Path, damage: str) -> None:
    logging.getLogger("relay.store").setLevel(logging.CRITICAL)  # it warns each time
    script = tmp_path / "main.py"
    script.write_text("print(1)\n")
    whole, state = tmp_path / "whole", tmp_path / "state"
    ids = await fill(whole, script)
    names = [path.relative_to(whole) for path in whole.rglob("*.json")]
    assert len(names) == 3
    for name in names:
        data = (whole / name).read_bytes()
        for at in range(0, len(data), STRIDE):
            shutil.copytree(whole, state)
            (state / name).write_bytes(DAMAGES[damage](data, at))
            settings = Settings(state_dir=state, project_root=tmp_path)
            async with open_relay(settings, persist=True) as hub:
                left = [one for one in ids if name.stem != one]
                found = [lines(hub, one) for one in left]
                # A number can be damaged into another one: then there is nothing to be seen.
                assert found == [[1]] * len(left) or name.stem == "breakpoints", at
            shutil.rmtree(state)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a":', "breakpoints.json is damaged (Invalid JSON: EOF"),
        ("[]", "breakpoints.json is damaged (Input should be an object)"),
        ('{"format": 99}', "breakpoints.json is damaged (format: Input should be 1)"),
    ],
)
async def test_what_is_wrong_with_a_damaged_file_is_said_with_its_place_if_it_has_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, words: str
) -> None:
    caplog.set_level(logging.WARNING, logger="relay.store")
    (tmp_path / "breakpoints.json").write_text(text)
    async with open_relay(Settings(state_dir=tmp_path, project_root=tmp_path), persist=True):
        pass
    assert words in caplog.text
