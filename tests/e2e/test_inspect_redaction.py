"""Secrets are masked by their names in every reply, unless they are asked for."""

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

SECRET = "hunter2-hunter2"

ACCOUNTS = f"""
    import collections
    import dataclasses
    import os

    SHIPPING_TOKEN = "{SECRET}"

    @dataclasses.dataclass
    class Account:
        user: str
        password: str

    class Client:
        def __init__(self, secret):
            self.host = "example.org"
            self.client_secret = secret

        def __repr__(self):
            return "Client(%s, %r)" % (self.host, self.client_secret)

    class Written:
        def __init__(self, key):
            self.inner = [key]

        def __repr__(self):
            return "Written(user='ann', api_key=%r, port=8080)" % self.inner[0]

    Pair = collections.namedtuple("Pair", "user passwd")

    def get_token(text):
        return text[:]

    def work(text):
        password = text
        apiKey = [text]
        token_offset, access_token, token_type, password_length = 9, 12345, "name", len(password)
        empty_password, password_known, secret_none = "", True, None
        settings = {{"user": "ann", "db_password": text, "nested": {{"API-KEY": text}}}}
        headers = [(b"host", b"x"), (b"authorization", text.encode())]
        account = Account("ann", text)
        pair = Pair("ann", text)
        client = Client(text)
        written = Written(text)
        environ = os.environ
        tokens = ["a", "b"]
        print("stopped")  # @here
        value = get_token(text)  # @call
        text = "gone"
        number = int(password)  # @raise

    work(SHIPPING_TOKEN)
"""


async def stopped(api: Api, program: Write, **launch: Any) -> Session:
    written = program(ACCOUNTS)
    session = await api.session()
    await session.breakpoint(written.text, written.line("here"))
    env = {"SHOP_API_KEY": SECRET, "SHOP_NAME": "corner"}
    launched = await session.launch(written.text, env=env, args=["--token", SECRET], **launch)
    assert launched["status"] == "paused", launched
    return session


def values(variables: list[dict[str, Any]]) -> dict[str, str]:
    return {variable["name"]: variable["value"] for variable in variables}


SHOWN = {
    "password": "***",
    "apiKey": f"['{SECRET}']",  # no text: what is in it has no secret name
    "token_offset": "9",
    "access_token": "12345",
    "token_type": "'name'",
    "password_length": "15",
    "empty_password": "''",
    "password_known": "True",
    "secret_none": "None",
    "settings": "{'user': 'ann', 'db_password': ***, 'nested': {'API-KEY': ***}}",
    "headers": "[(b'host', b'x'), (b'authorization', ***)]",
    "account": "Account(user='ann', password=***)",
    "pair": "Pair(user='ann', passwd=***)",
    "client": "Client(example.org, '***')",
    "written": "Written(user='ann', api_key=***, port=8080)",
    "tokens": "['a', 'b']",
}


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_variables_are_masked_by_name_wherever_they_stand(
    api: Api, program: Write, mode: str
) -> None:
    session = await stopped(api, program, launch_mode=mode)
    page = await session.get("/frames/0/variables")
    seen = {variable["name"]: variable for variable in page["variables"]}
    shown = values(page["variables"])
    assert {name: shown[name] for name in SHOWN} == SHOWN
    masked = {name for name, variable in seen.items() if variable.get("redacted")}
    assert masked >= {name for name, value in SHOWN.items() if "***" in value}
    assert not masked & {"empty_password", "password_known", "secret_none", "tokens"}
    assert seen["password"]["type"] == "str"
    assert seen["password"]["variables_reference"] == 0
    assert "length" not in seen["password"]
    # `text` and `value` have no secret names: what is in them is shown.
    assert shown["text"] == repr(SECRET)


async def test_children_are_masked_as_well(api: Api, program: Write) -> None:
    session = await stopped(api, program)
    seen = (await session.get("/frames/0/variables"))["variables"]
    references = {v["name"]: v["variables_reference"] for v in seen if v["variables_reference"]}
    for name in ("settings", "headers", "account", "pair", "client", "environ"):
        text = json.dumps(await session.get(f"/variables/{references[name]}", limit=1000))
        assert SECRET not in text, name
    entries = (await session.get(f"/variables/{references['environ']}", limit=1000))["items"]
    assert values(entries)["'SHOP_API_KEY'"] == "***"
    assert values(entries)["'SHOP_NAME'"] == "'corner'"
    headers = (await session.get(f"/variables/{references['headers']}"))["items"]
    pair = (await session.get(f"/variables/{headers[1]['variables_reference']}"))["items"]
    assert [(item["value"], item.get("redacted")) for item in pair] == [
        ("b'authorization'", None),
        ("***", True),
    ]


NAMING = [
    "password",
    "password + '!'",
    "account.password",
    "settings['db_password']",
    "settings.get('db_password')",
    "os.environ['SHOP_API_KEY']",
    "get_token(text)",
    "password[:3]",
]


async def test_an_expression_that_names_a_secret_is_masked(api: Api, program: Write) -> None:
    session = await stopped(api, program)
    for expression in NAMING:
        for context in ("repl", "watch", "hover"):
            found = await session.evaluate(expression, context=context)
            assert (found["result"], found["redacted"]) == ("***", True), expression
        hovered = await session.post("/hover", expression=expression)
        assert (hovered["result"], hovered["redacted"]) == ("***", True), expression
        revealed = await session.evaluate(expression, reveal=True)
        assert SECRET[:3] in revealed["result"]
        assert "redacted" not in revealed
    failed = await session.evaluate("int(password)")
    assert (failed["error"], failed["redacted"]) == ("ValueError: ***", True)
    assert SECRET in (await session.evaluate("int(password)", reveal=True))["error"]
    assert (await session.evaluate("password is None"))["result"] == "False"
    assert (await session.evaluate("account"))["result"] == SHOWN["account"]
    assert (await session.evaluate("len(password)"))["result"] == "15"
    listed = await session.evaluate("[password, 1]")
    assert (listed["result"], listed["redacted"]) == ("['***', 1]", True)


async def test_stops_watches_and_return_values_are_masked(api: Api, program: Write) -> None:
    session = await stopped(api, program)
    watch = await session.post("/watch", expression="password")
    (shown,) = (await session.get("/watch"))["watches"]
    assert (shown["id"], shown["result"], shown["redacted"]) == (watch["id"], "***", True)
    (revealed,) = (await session.get("/watch", reveal="true"))["watches"]
    assert revealed["result"] == repr(SECRET)
    over = await session.post("/step-over", include=["locals", "watches"])
    assert values(over["stop"]["locals"])["password"] == "***"
    assert over["stop"]["watches"][0]["result"] == "***"
    inside = await session.post("/step-into")
    assert inside["current_location"]["function"] == "get_token"
    out = await session.post("/step-out")
    assert (out["return_value"]["value"], out["return_value"]["redacted"]) == ("***", True)
    # Step to the statement that raises, and over it.
    include = ["locals", "exception"]
    raised = await session.resume(include=include)
    assert raised["stop_reason"] == "exception"
    assert SECRET not in json.dumps(raised["stop"]["exception"])
    assert raised["stop"]["exception"]["message"].endswith("with base 10: '***'")
    assert SECRET not in json.dumps(await session.get("/exception"))
    assert SECRET not in json.dumps((await session.get())["exception"])
    told = await session.get("/exception", reveal="true")
    assert SECRET in told["exception"]["message"]


async def test_a_return_value_is_revealed_on_request(api: Api, program: Write) -> None:
    session = await stopped(api, program)
    await session.post("/step-over")
    await session.post("/step-into")
    out = await session.post("/step-out", reveal=True, include=["locals"])
    assert out["return_value"]["value"] == repr(SECRET)
    assert values(out["stop"]["locals"])["password"] == repr(SECRET)


async def test_what_was_revealed_once_is_masked_the_next_time(api: Api, program: Write) -> None:
    session = await stopped(api, program)
    open_ = values((await session.get("/frames/0/variables", reveal="true"))["variables"])
    assert open_["password"] == repr(SECRET)
    assert open_["client"] == f"Client(example.org, '{SECRET}')"
    closed = values((await session.get("/frames/0/variables"))["variables"])
    assert closed["password"] == "***"


async def test_environment_and_arguments_are_masked_where_they_are_echoed(
    api: Api, program: Write
) -> None:
    session = await stopped(api, program)
    shown = (await session.get())["program"]
    assert shown["env"] == {"SHOP_API_KEY": "***", "SHOP_NAME": "corner"}
    assert shown["args"] == ["--token", "***"]
    revealed = (await session.get(reveal="true"))["program"]
    assert revealed["env"]["SHOP_API_KEY"] == revealed["args"][1] == SECRET
    # The program itself has what it was given.
    found = await session.evaluate("os.environ['SHOP_API_KEY']", reveal=True)
    assert found["result"] == repr(SECRET)


async def test_setting_a_secret_works_and_shows_none(api: Api, program: Write) -> None:
    session = await stopped(api, program)
    reference = (await session.get("/frames/0/variables"))["variables_reference"]
    where = f"/variables/{reference}/set"
    changed = await session.post(where, name="password", value="'another one'")
    assert (changed["value"], changed["redacted"]) == ("***", True)
    assert (await session.evaluate("password", reveal=True))["result"] == "'another one'"


@pytest.fixture(params=[("user*",), ()], ids=["own", "none"])
async def other(
    settings: Settings, request: pytest.FixtureRequest
) -> AsyncIterator[tuple[Api, tuple[str, ...]]]:
    """A relay with other patterns, and these."""
    changed = settings.model_copy(update={"redact_patterns": request.param})
    async with running_relay(changed) as api:
        yield api, request.param


async def test_the_patterns_are_a_setting(
    other: tuple[Api, tuple[str, ...]], program: Write
) -> None:
    api, patterns = other
    session = await stopped(api, program)
    shown = values((await session.get("/frames/0/variables"))["variables"])
    assert shown["password"] == repr(SECRET)
    user = "***" if patterns else "'ann'"
    assert shown["account"] == f"Account(user={user}, password='{SECRET}')"
