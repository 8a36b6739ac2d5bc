"""docs/architecture.md says what a new verb costs; here one is added, in a copy of the relay."""

from __future__ import annotations

import re
from pathlib import Path

from tests.project_copy import copy_of, edit, run, section

MODEL = '''"""How a session is greeted."""

from __future__ import annotations

from pydantic import Field

from relay.models.fields import StrictModel, Text
from relay.models.resource import Resource


class GreetRequest(StrictModel):
    name: Text = Field(min_length=1, description="Whom to greet")


class Greeting(Resource):
    """What is said."""

    text: str
'''

OPERATION = '''"""Greetings."""

from __future__ import annotations

from relay.models.greeting import GreetRequest, Greeting
from relay.session.session import Session


async def greet(session: Session, *, body: GreetRequest) -> Greeting:
    """Greet somebody from a session."""
    return Greeting(text=f"{session.id} greets {body.name}")
'''

TABLE = "routes/inspection.py"
IMPORT = "from relay.models.greeting import GreetRequest, Greeting\n"
LINE = (
    '    greet = route("POST", f"{_S}/greet", GreetRequest, Greeting, "inspect.greeting.greet")\n'
)

CHECK = """
import importlib, json, sys
from functools import partial
from pathlib import Path
import trio, relay
from relay import AsyncClient, Client, Settings, open_relay, errors

assert Path(relay.__file__).is_relative_to(Path.cwd()), relay.__file__

def blocking(url, session_id):
    with Client(url) as client:
        session = client.session(session_id)
        try:
            session.greet(nobody=1)
        except errors.InvalidRequest as refused:
            assert "name" in str(refused)
        return session.greet(name="Ada").text, client.request("GET", "/openapi.json")

async def main():
    from relay.faces.http.server import serve
    settings = Settings(port=0, state_dir=Path("state").absolute(), project_root=Path.cwd())
    async with open_relay(settings) as hub, trio.open_nursery() as nursery:
        url = await nursery.start(partial(serve, hub, settings))
        async with AsyncClient(url) as client:
            session = await client.create_session()
            over_http = await client.request(
                "POST", f"/sessions/{session.id}/greet", body={"name": "Ada"}
            )
            expected = f"{session.id} greets Ada"
            assert over_http == {"text": expected}
            assert (await session.greet(name="Ada")).text == expected
            text, document = await trio.to_thread.run_sync(blocking, url, session.id)
            assert text == expected
            operation = document["paths"]["/sessions/{session_id}/greet"]["post"]
            assert operation["summary"] == "Greet somebody from a session"
            assert operation["tags"] == ["Inspection"]
            assert (await client.info()).endpoints.count("/api/v1/sessions/{session_id}/greet") == 1
        nursery.cancel_scope.cancel()

trio.run(main)
"""


def add_verb(root: Path) -> set[str]:
    """Write the verb; gives the files that were touched, below `relay/`."""
    written = {"models/greeting.py": MODEL, "operations/inspect/greeting.py": OPERATION}
    for name, text in written.items():
        (root / name).write_text(text)
    edit(root, {TABLE: [("from relay.models.hangs", IMPORT)]})
    with (root / TABLE).open("a") as table:
        table.write(LINE)
    return {*written, TABLE}


def test_a_verb_is_one_model_one_function_and_one_line(tmp_path: Path) -> None:
    copy = copy_of(tmp_path, "relay", "tools", "docs/reference")
    touched = add_verb(copy)

    rooms = {name.rpartition("/")[0].partition("/")[0] for name in touched}
    listed = re.findall(r"^\d\. `(\w+)/", section("Add a verb"), re.MULTILINE)
    assert set(listed) == rooms
    assert len(listed) == len(touched)

    run(tmp_path, "-c", CHECK)
    run(tmp_path, "-m", "tools.generate_reference")
    reference = (tmp_path / "docs" / "reference" / "routes.md").read_text()
    assert "### POST /sessions/{session_id}/greet\n\nGreet somebody from a session." in reference
    assert "Whom to greet" in reference
