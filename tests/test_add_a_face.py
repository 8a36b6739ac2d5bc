"""docs/architecture.md says what a new face costs; here one is added, in a copy of the relay.

It says in plain text where each program stands, to a browser or to `curl`.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.project_copy import copy_of, edit, run, section

FACE = {
    "__init__.py": '''"""Where programs stand, as plain text.

http       the face as an ASGI app
command    `relay plain`
actions    what to do next, in its own paths
"""
''',
    "actions.py": '''"""What to do next, in paths of this face."""

from __future__ import annotations

from relay.actions import Action, Words, no_way
from relay.faces.common.common_words import ONE_PROGRAM_WORDS

PLAIN_WORDS: Words = {
    **no_way(*Action),
    **ONE_PROGRAM_WORDS,
    Action.LIST_SESSIONS: "/plain lists the sessions",
}
''',
    "http.py": '''"""The face as an ASGI app: a line for each session, and a report of one."""

from __future__ import annotations

from relay.actions import in_words
from relay.errors import RelayError
from relay.faces.common.asgi import ROUTE, App, HubLike, Receive, Scope, Send
from relay.faces.plain.actions import PLAIN_WORDS
from relay.models.sessions import SessionListQuery
from relay.operations.report.stop_report import stop_report
from relay.operations.sessions.sessions import list_sessions

PATH = "/plain"


def plain_app(hub: HubLike, *_: object) -> App:
    """The app, as a `Mount`."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        scope[ROUTE] = PATH
        try:
            status, text = 200, await said(hub, scope["path"].removeprefix(PATH).strip("/"))
        except RelayError as error:
            way_out = in_words(error.suggestion, error.details, PLAIN_WORDS)
            status, text = error.status, f"{error.message}: {way_out}"
        headers = [(b"content-type", b"text/plain; charset=utf-8")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": text.encode(), "more_body": False})

    return app


async def said(hub: HubLike, session_id: str) -> str:
    if session_id:
        with hub.use(session_id) as session:
            return await stop_report(session)
    page = await list_sessions(hub, query=SessionListQuery())
    return "".join(f"{one.session_id} {one.status.value}\\n" for one in page.items)
''',
    "command.py": '''"""`relay plain`: where the face is."""

from __future__ import annotations

import click


@click.command("plain", short_help="Say where the plain face is.")
def plain() -> None:
    """Say below which path a relay answers in plain text."""
    click.echo("/plain")
''',
}

EDITS = {
    "faces/__init__.py": (("common    what", "plain     where programs stand, as plain text\n"),),
    "serving.py": (
        ("from relay.faces.tool.http", "from relay.faces.plain.http import plain_app\n"),
        ("MCP: McpMount}", 'MCP: McpMount, "/plain": plain_app}'),
    ),
    "command_line.py": (
        ('    "run": "relay', '    "plain": "relay.faces.plain.command:plain",\n'),
    ),
}

CHECK = """
from functools import partial
from pathlib import Path
import httpx, trio, relay
from relay import Settings, open_relay
from relay.actions import Action
from relay.faces.http.server import serve
from relay.faces.plain.actions import PLAIN_WORDS
from relay.models.creating import CreateSession
from relay.models.sessions import SessionSettings
from relay.operations.sessions.sessions import open_session
from relay.serving import MOUNTS

assert Path(relay.__file__).is_relative_to(Path.cwd()), relay.__file__
assert set(PLAIN_WORDS) == set(Action)

async def main():
    settings = Settings(port=0, state_dir=Path("state").absolute(), project_root=Path.cwd())
    async with open_relay(settings) as hub, trio.open_nursery() as nursery:
        url = await nursery.start(partial(serve, hub, settings, mounts=MOUNTS))
        session = await open_session(hub, body=SessionSettings())
        async with httpx.AsyncClient(base_url=url) as client:
            assert (await client.get("/plain")).text == f"{session.id} created\\n"
            assert (await client.get(f"/plain/{session.id}")).text.startswith("created")
            missing = await client.get("/plain/sess_none")
            assert missing.status_code == 404
            assert missing.text.endswith(": /plain lists the sessions"), missing.text
            refused = await client.get("/plain", headers={"Host": "evil.example"})
            assert refused.status_code == 403
        nursery.cancel_scope.cancel()

trio.run(main)
"""


def add_face(root: Path) -> set[str]:
    """Write the face; gives what was touched, below `relay/`."""
    folder = root / "faces" / "plain"
    folder.mkdir()
    for name, text in FACE.items():
        (folder / name).write_text(text)
    edit(root, EDITS)
    return {"faces/plain/", *EDITS}


def test_a_face_is_a_folder_and_the_lines_where_it_begins(tmp_path: Path) -> None:
    copy = copy_of(tmp_path, "relay", "tools", "docs/reference")
    touched = add_face(copy)
    listed = re.findall(r"^\d\. `([\w/.]+)`", section("Add a face"), re.MULTILINE)
    assert {name.replace("NAME", "plain") for name in listed} == touched

    run(tmp_path, "-c", CHECK)
    run(tmp_path, "-m", "relay", "plain")
    run(tmp_path, "-m", "tools.generate_reference")
    assert "## relay plain" in (tmp_path / "docs" / "reference" / "cli.md").read_text()
    assert "plain" in (tmp_path / "relay" / "help" / "relay.txt").read_text()
