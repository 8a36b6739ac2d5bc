"""Breakpoint profiles: named sets that outlive the relay."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from relay import Settings
from tests.e2e.api import Api, Refused
from tests.e2e.conftest import running_relay
from tests.programs import Program

Write = Callable[..., Program]

PLACES: list[dict[str, Any]] = [
    {"file": "main.py", "line": 1, "condition": "True"},
    {"file": "main.py", "line": 2, "log_message": "two", "enabled": False},
    {"function": "shop.total"},
    {"file": "later.py", "line": 3, "pending": True},
]


async def put(api: Api, name: str, breakpoints: Any) -> Any:
    path = f"/breakpoint-profiles/{name}"
    return await api.call("PUT", path, json={"breakpoints": breakpoints})


async def test_a_profile_is_kept_over_restarts_and_applied_to_sessions(
    settings: Settings, program: Write
) -> None:
    program("print(1)\nprint(2)\n")
    async with running_relay(settings) as api:
        await api.post("/breakpoint-profiles", name="shop", breakpoints=PLACES)
    async with running_relay(settings) as api:
        assert await api.get("/breakpoint-profiles") == {
            "profiles": [{"name": "shop", "breakpoint_count": 4}],
            "total": 1,
        }
        session = await api.session()
        await session.breakpoint("main.py", 1)
        applied = await session.post("/breakpoint-profiles/shop/apply")
        assert [b["id"] for b in applied["breakpoints"]] == ["bp_1", "bp_2", "bp_3", "bp_4"]
        assert [b["verified"] for b in applied["breakpoints"]] == [True, True, False, False]
        assert (await session.get("/breakpoints/bp_1"))["condition"] == "True"
        assert (await session.get("/breakpoints/bp_3"))["function"] == "shop.total"


async def test_a_file_that_cannot_be_read_is_named(api: Api, settings: Settings) -> None:
    settings.state_dir.mkdir(exist_ok=True)
    (settings.state_dir / "breakpoint-profiles.json").mkdir()  # which root cannot read either
    session = await api.session()
    path = "/breakpoint-profiles"
    for method, where in (
        ("GET", path),
        *((method, f"{path}/a") for method in ("GET", "DELETE", "PUT")),
        ("POST", f"{session.path}{path}/a/apply"),
    ):
        with pytest.raises(Refused) as refused:
            await api.call(
                method, where, **({"json": {"breakpoints": []}} if method == "PUT" else {})
            )
        assert (refused.value.status, refused.value.code) == (500, "INTERNAL_ERROR"), where
        assert refused.value.message.startswith("cannot read or write breakpoint-profiles.json: Is")
        assert "state directory" in refused.value.details["suggestion"]


async def test_profiles_are_replaced_shown_and_forgotten(api: Api) -> None:
    await put(api, "a", PLACES[:1])
    await put(api, "b.2_x-y", [])
    await put(api, "a", PLACES[1:3])
    shown = await api.get("/breakpoint-profiles/a")
    kept = [{k: b[k] for k in p} for b, p in zip(shown["breakpoints"], PLACES[1:3], strict=True)]
    assert kept == PLACES[1:3]
    session = await api.session()
    applied = await session.post("/breakpoint-profiles/b.2_x-y/apply")
    assert applied["breakpoints"] == []
    assert await api.delete("/breakpoint-profiles/a") == {"name": "a", "deleted": True}
    listed = await api.get("/breakpoint-profiles")
    assert [item["name"] for item in listed["profiles"]] == ["b.2_x-y"]


async def test_a_bad_place_refuses_the_whole_profile_when_it_is_applied(
    api: Api, program: Write
) -> None:
    program("print(1)\n")
    await put(api, "bad", [{"file": "main.py", "line": 1}, {"file": "nowhere.py", "line": 1}])
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.post("/breakpoint-profiles/bad/apply")
    assert refused.value.code == "BREAKPOINT_FILE_NOT_FOUND"
    assert (await session.get("/breakpoints"))["total"] == 0


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/breakpoint-profiles/none", None, 404, "PROFILE_NOT_FOUND"),
        ("DELETE", "/breakpoint-profiles/none", None, 404, "PROFILE_NOT_FOUND"),
        ("POST", "{session}/breakpoint-profiles/none/apply", None, 404, "PROFILE_NOT_FOUND"),
        ("PUT", "/breakpoint-profiles/a%20b", {"breakpoints": []}, 400, "INVALID_PARAMETER"),
        ("PUT", "/breakpoint-profiles/.a", {"breakpoints": []}, 400, "INVALID_PARAMETER"),
        ("PUT", "/breakpoint-profiles/a", {}, 400, "INVALID_REQUEST"),
        ("PUT", "/breakpoint-profiles/a", {"breakpoints": [{"line": 1}]}, 400, "INVALID_REQUEST"),
        ("POST", "/breakpoint-profiles", {"breakpoints": []}, 400, "INVALID_REQUEST"),
        (
            "POST",
            "/breakpoint-profiles",
            {"name": "../x", "breakpoints": []},
            400,
            "INVALID_REQUEST",
        ),
        (
            "POST",
            "/breakpoint-profiles",
            {"name": "taken", "breakpoints": []},
            400,
            "INVALID_REQUEST",
        ),
    ],
)
async def test_a_bad_request_is_refused_and_changes_nothing(
    api: Api, method: str, path: str, body: Any, status: int, code: str
) -> None:
    session = await api.session()
    await put(api, "taken", PLACES)
    before = await api.get("/breakpoint-profiles")
    with pytest.raises(Refused) as refused:
        await api.call(method, path.replace("{session}", session.path), json=body)
    assert (refused.value.status, refused.value.code) == (status, code)
    assert await api.get("/breakpoint-profiles") == before


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"format": 9}', '{"format": 1, "profiles": {"a": 3}}']
)
async def test_a_damaged_file_is_moved_aside_and_nothing_else_suffers(
    settings: Settings, damage: str
) -> None:
    settings.state_dir.mkdir(parents=True)
    file = settings.state_dir / "breakpoint-profiles.json"
    file.write_text(damage)
    async with running_relay(settings) as api:
        assert (await api.get("/breakpoint-profiles"))["total"] == 0
        await put(api, "fresh", PLACES)
    assert list(json.loads(file.read_text())["profiles"]) == ["fresh"]
    aside = list(settings.state_dir.glob("breakpoint-profiles.json.damaged-*"))
    assert [path.read_text() for path in aside] == [damage]
