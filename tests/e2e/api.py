"""The tests' hand on the API: every call checks the envelope, and that the document has the status of an error."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import httpx
import trio

from tests.e2e.witness import is_documented


class Refused(Exception):
    """The relay answered with an error."""

    def __init__(self, status: int, error: dict[str, Any]) -> None:
        super().__init__(f"{status} {error['code']}: {error['message']} {error['details']}")
        self.status = status
        self.code: str = error["code"]
        self.message: str = error["message"]
        self.details: dict[str, Any] = error["details"]


class Api:
    """A client of one relay."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    @classmethod
    @asynccontextmanager
    async def connect(cls, url: str) -> AsyncIterator[Self]:
        # Nothing of the environment's proxies between us and loopback, and no certificates:
        # to read them takes as long as ten calls.
        async with httpx.AsyncClient(
            base_url=f"{url}/api/v1", timeout=180, trust_env=False, verify=False
        ) as client:
            yield cls(client)

    async def call(self, method: str, path: str, **kwargs: Any) -> Any:
        """The `data` of a success; raises Refused on an error. Both must have the envelope."""
        response = await self.client.request(method, path, **kwargs)
        answer = response.json()
        assert set(answer) == {"success", "data", "error", "meta"}, answer
        assert response.headers["x-request-id"] == answer["meta"]["request_id"]
        if answer["success"]:
            assert response.status_code < 300
            assert answer["error"] is None
            return answer["data"]
        assert answer["data"] is None
        assert answer["error"]["details"]["suggestion"], answer
        assert is_documented(response), (
            f"{method} {path}: the document has no {response.status_code}"
        )
        raise Refused(response.status_code, answer["error"])

    async def get(self, path: str, **params: Any) -> Any:
        return await self.call(
            "GET", path, params=params or None
        )  # {} would drop a query in the path

    async def post(self, path: str, **body: Any) -> Any:
        return await self.call("POST", path, json=body)

    async def delete(self, path: str) -> Any:
        return await self.call("DELETE", path)

    async def session(self, **body: Any) -> Session:
        data = await self.post("/sessions", **body)
        return Session(self, data["session_id"])


class Session:
    """One session of a relay, with the calls that tests make most."""

    def __init__(self, api: Api, session_id: str) -> None:
        self.api = api
        self.id = session_id
        self.path = f"/sessions/{session_id}"

    async def get(self, path: str = "", **params: Any) -> Any:
        return await self.api.get(self.path + path, **params)

    async def post(self, path: str, **body: Any) -> Any:
        return await self.api.post(self.path + path, **body)

    async def delete(self, path: str = "") -> Any:
        return await self.api.delete(self.path + path)

    async def breakpoint(self, path: str, line: int, **more: Any) -> Any:
        data = await self.post(
            "/breakpoints", breakpoints=[{"source": {"path": path}, "line": line, **more}]
        )
        return data["breakpoints"][0]

    async def launch(self, script: str, wait: float = 30, **more: Any) -> Any:
        return await self.post("/launch", script=script, wait=wait, **more)

    async def resume(self, wait: float = 30, **more: Any) -> Any:
        return await self.post("/continue", wait=wait, **more)

    async def until_paused(self) -> dict[str, Any]:
        """The session as it is then."""
        with trio.fail_after(30):
            while True:
                answer: dict[str, Any] = await self.get()
                if answer["status"] == "paused":
                    return answer
                await trio.sleep(0.02)

    async def evaluate(self, expression: str, **more: Any) -> Any:
        return await self.post("/evaluate", expression=expression, **more)

    async def locals(self, frame_id: int = 0) -> dict[str, Any]:
        scopes = await self.get("/scopes", frame_id=frame_id)
        reference = scopes["scopes"][0]["variables_reference"]
        data = await self.get("/variables", variables_reference=reference)
        return {v["name"]: v for v in data["variables"]}

    async def printed(self, category: str = "stdout") -> str:
        text, cursor = "", None
        while True:
            params: dict[str, Any] = {"category": category, "limit": 1000}
            if cursor:
                params["cursor"] = cursor
            page = await self.get("/output", **params)
            text += "".join(entry["output"] for entry in page["entries"])
            cursor = page["next_cursor"]
            if not page["has_more"]:
                return text

    async def until_printed(self, text: str) -> str:
        """Everything printed so far, once `text` is in it."""
        cursor: dict[str, str] = {}
        with trio.fail_after(60):
            while text not in (printed := await self.printed()):
                page = await self.get("/events", types="output", timeout=30, **cursor)
                cursor = {"cursor": page["next_cursor"]}
            return printed

    async def events(self, *types: str) -> list[dict[str, Any]]:
        """Every event so far, of these types if given."""
        found: list[dict[str, Any]] = []
        params: dict[str, Any] = {"limit": 1000}
        if types:
            params["types"] = ",".join(types)
        while True:
            page = await self.get("/events", **params)
            found += page["events"]
            params["cursor"] = page["next_cursor"]
            if not page["has_more"]:
                return found
