"""Credentials are masked by their shape: in values, in output, in reports; unless switched off."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from relay import Settings
from tests.e2e.api import Api, Session
from tests.e2e.conftest import running_relay
from tests.programs import Program

Write = Callable[..., Program]

TOKEN = "ghp_" + "a1B2" * 9
PASSWORD = "hunter2-hunter2"
KEY_LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7abcdefghijkl"

PROGRAM = f"""
    import sys
    import time

    class Client:
        def __init__(self, text):
            self.inner = [text]

        def __repr__(self):
            return "Client(with %s)" % self.inner[0]

    def print_slowly(text):
        for letter in text:
            sys.stdout.write(letter)
            sys.stdout.flush()
        sys.stdout.write("\\n")

    def give(text):
        return text

    def work():
        text = "{TOKEN}"
        data = text.encode()
        listed = ["plain", text]
        keyed = {{text: 1}}
        client = Client(text)
        address = "postgres://ann:{PASSWORD}@db/shop"
        key = "-----BEGIN PRIVATE KEY-----\\n" + "{KEY_LINE}\\n" * 20 + "-----END PRIVATE KEY-----\\n"
        digest = "d41d8cd98f00b204e9800998ecf8427e"
        print("one", text, "two", address)
        print(key)
        print_slowly("slow " + text + " " + address)
        print("three", digest, file=sys.stderr)
        print("stopped", text == "{TOKEN}")  # @here
        given = give(text)
        raise ValueError(text)  # @raise

    work()
"""

SECRETS = (TOKEN, PASSWORD, KEY_LINE)


async def stopped(api: Api, program: Write, **launch: Any) -> Session:
    written = program(PROGRAM)
    session = await api.session()
    await session.breakpoint(written.text, written.line("here"))
    launched = await session.launch(
        written.text, args=[TOKEN], env={"URL": f"a://b:{PASSWORD}@c"}, **launch
    )
    assert launched["status"] == "paused", launched
    return session


def without_secrets(answer: Any) -> str:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    for secret in SECRETS:
        assert secret not in text
    return text


async def printed(session: Session, category: str) -> str:
    page = await session.get("/output", category=category, limit=1000)
    return "".join(entry["output"] for entry in page["entries"])


SHOWN = {
    "text": "'***'",
    "data": "b'***'",
    "listed": "['plain', '***']",
    "keyed": "{'***': 1}",
    "client": "Client(with ***)",
    "address": "'postgres://ann:***@db/shop'",
    "key": repr("-----BEGIN PRIVATE KEY-----\n***\n-----END PRIVATE KEY-----\n"),
    "digest": "'d41d8cd98f00b204e9800998ecf8427e'",
}


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_in_values(api: Api, program: Write, mode: str) -> None:
    session = await stopped(api, program, launch_mode=mode)
    page = await session.get("/frames/0/variables")
    without_secrets(page)
    seen = {variable["name"]: variable for variable in page["variables"]}
    assert {name: seen[name]["value"] for name in SHOWN} == SHOWN
    masked = {name for name, variable in seen.items() if variable.get("redacted")}
    assert masked == {name for name, value in SHOWN.items() if "***" in value}
    for name in ("listed", "keyed", "client"):
        without_secrets(await session.get(f"/variables/{seen[name]['variables_reference']}"))
    for expression in ("text", "data", "[text]", "give(text)", "int(text)", "{address: text}"):
        found = await session.evaluate(expression)
        without_secrets(found)
        assert found["redacted"], expression
        assert (await session.evaluate(expression, reveal=True)).get("redacted") is None
    without_secrets(await session.get())
    over = await session.post("/step-over", include=["locals", "source", "stack", "report"])
    without_secrets(over)
    into = await session.post("/step-into")
    assert into["current_location"]["function"] == "give"
    out = await session.post("/step-out")
    assert (out["return_value"]["value"], out["return_value"]["redacted"]) == ("'***'", True)
    raised = await session.resume(include=["exception", "locals", "report"])
    assert raised["stop_reason"] == "exception"
    without_secrets(raised)
    without_secrets(await session.get("/exception"))


async def test_in_output_and_reports(api: Api, program: Write) -> None:
    session = await stopped(api, program, stop_on_exception=False)
    report = without_secrets((await session.get("/report"))["report"])
    assert "'***'" in report
    assert TOKEN in (await session.get("/report", reveal="true"))["report"]
    await session.resume()
    out = without_secrets(await printed(session, "stdout"))
    assert out == (
        "one *** two postgres://ann:***@db/shop\n"
        "-----BEGIN PRIVATE KEY-----\n***\n-----END PRIVATE KEY-----\n\n"
        "slow *** postgres://ann:***@db/shop\n"
        "stopped True\n"
    )
    errors = without_secrets(await printed(session, "stderr"))
    assert errors.startswith("three d41d8cd98f00b204e9800998ecf8427e\n")
    assert errors.endswith("ValueError: ***\n")
    without_secrets((await session.get("/report"))["report"])
    without_secrets(await session.get("/events", limit=1000))


async def test_in_what_breakpoints_log_and_capture(api: Api, program: Write) -> None:
    written = program(PROGRAM)
    session = await api.session()
    where = written.line("here")
    await session.breakpoint(written.text, where, log_message="it is {text}")
    capture = await session.breakpoint(
        written.text, where - 1, capture=["text", "digest", "int(text)"]
    )
    await session.launch(written.text, stop_on_exception=False)
    assert "it is ***" in without_secrets(await printed(session, "console"))
    found = await session.get(f"/breakpoints/{capture['id']}/captures")
    assert "'***'" in without_secrets(found)


@pytest.fixture
async def open_api(settings: Settings) -> AsyncIterator[Api]:
    """A relay that masks nothing by its shape."""
    changed = settings.model_copy(update={"redact_credentials": False})
    async with running_relay(changed) as api:
        yield api


async def test_the_mask_is_a_setting(open_api: Api, program: Write) -> None:
    assert (await open_api.get("/config"))["redact_credentials"] is False
    session = await stopped(open_api, program, stop_on_exception=False)
    assert (await session.evaluate("text"))["result"] == repr(TOKEN)
    await session.resume()
    assert (await printed(session, "stdout")).count(TOKEN) == 2
