"""What the face says about itself is valid, whole, and true."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from relay.errors import catalog
from relay.faces.http.docs_page import render
from relay.faces.http.openapi import openapi
from relay.faces.http.routes import ROUTES as REAL_ROUTES
from relay.faces.http.table import Route
from tests.http.conftest import Served
from tests.http.fake import ROUTES


def operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in document["paths"].values():
        yield from methods.values()


@pytest.mark.parametrize("routes", [ROUTES, REAL_ROUTES, ()], ids=["fake", "real", "none"])
def test_document_is_valid(routes: tuple[Route, ...]) -> None:
    document = openapi(routes)
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    names = [operation["operationId"] for operation in operations(document)]
    assert len(names) == len(set(names))
    assert len(names) == len(routes) + 2
    json.dumps(document)


def test_every_reference_leads_somewhere() -> None:
    document = openapi(REAL_ROUTES)
    for reference in set(re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(document))):
        place: Any = document
        for part in reference.split("/"):
            place = place[part]


def test_query_becomes_parameters() -> None:
    operation = openapi(ROUTES)["paths"]["/things"]["get"]
    parameters = {item["name"]: item for item in operation["parameters"] if "name" in item}
    assert parameters["reference"] == {
        "name": "reference",
        "in": "query",
        "required": True,
        "description": "What to show",
        "schema": {"type": "integer", "minimum": 0},
    }
    assert parameters["limit"]["schema"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 1000,
        "default": 100,
    }
    assert parameters["verified"]["schema"] == {"type": "boolean"}
    assert parameters["types"]["explode"] is False
    assert parameters["types"]["schema"]["type"] == "array"
    assert "Query" not in openapi(ROUTES)["components"]["schemas"]


def test_path_parameters() -> None:
    path = "/sessions/{session_id}/frames/{frame_id}/{name}"
    operation = openapi(ROUTES)["paths"][path]["get"]
    schemas = {p["name"]: p["schema"]["type"] for p in operation["parameters"] if "name" in p}
    assert schemas == {"session_id": "string", "frame_id": "integer", "name": "string"}


def test_bodies_are_optional_if_all_fields_are() -> None:
    paths = openapi(ROUTES)["paths"]
    assert paths["/things"]["post"]["requestBody"]["required"] is False
    assert paths["/needed"]["post"]["requestBody"]["required"] is True


def test_every_error_has_its_status_and_code() -> None:
    for route in (*ROUTES, *REAL_ROUTES):
        responses = openapi([route])["paths"][route.path][route.method.lower()]["responses"]
        documented = {
            (code, int(status))
            for status, response in responses.items()
            if int(status) >= 400
            for code in codes(response)
        }
        assert documented == {(error.code, error.status) for error in route.all_errors}
        assert str(route.status) in responses


def codes(response: dict[str, Any]) -> list[str]:
    schema = response["content"]["application/json"]["schema"]
    found: list[str] = schema["allOf"][1]["properties"]["error"]["properties"]["code"]["enum"]
    return found


def test_general_errors() -> None:
    errors = {error.code for error in ROUTES[0].all_errors}
    assert {"FORBIDDEN", "UNAUTHORIZED", "INTERNAL_ERROR", "SHUTTING_DOWN"} <= errors
    assert errors <= set(catalog())
    session = next(route for route in ROUTES if "session_id" in route.path)
    assert {"SESSION_NOT_FOUND", "SESSION_EXPIRED"} <= {e.code for e in session.all_errors}


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.targets: set[str] = set()
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag != "meta":
            self.open.append(tag)
        for name, value in attrs:
            assert name not in {"src", "onclick", "srcset"}
            if name == "href" and value:
                self.targets.add(value)
            if name == "id" and value:
                self.anchors.add(value)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("routes", [ROUTES, REAL_ROUTES], ids=["fake", "real"])
def test_page_is_whole_and_offline(routes: tuple[Route, ...]) -> None:
    page, links = render(openapi(routes)), Links()
    links.feed(page)
    assert not links.open
    assert not links.tags & {"script", "link", "img", "iframe"}
    assert "@import" not in page
    assert "url(" not in page
    local = {target[1:] for target in links.targets if target.startswith("#")}
    assert local <= links.anchors
    assert links.targets - {"#" + name for name in local} == {"/api/v1/openapi.json"}
    for route in routes:
        assert route.path in page
        assert f'id="{route.name}"' in page


def test_page_escapes_and_explains() -> None:
    page = render(openapi(ROUTES))
    assert "A second paragraph with <code>code</code> and &lt;tags&gt;." in page
    assert "curl -X POST &#x27;http://127.0.0.1:5679/api/v1/needed&#x27;" in page
    assert "&#x27;{&quot;expression&quot;: &quot;…&quot;}&#x27;" in page
    assert "integer (at least 1, at most 1000)" in page


def test_page_begins_with_an_index_of_every_route() -> None:
    page = render(openapi(REAL_ROUTES))
    index = page[page.index("<nav") : page.index("</nav>")]
    for route in REAL_ROUTES:
        assert f'<a href="#{route.name}"><code>{route.method} {route.path}</code></a>' in index


def test_backticks_are_code_wherever_they_stand() -> None:
    page = re.sub(r"<pre>.*?</pre>", "", render(openapi(REAL_ROUTES)), flags=re.DOTALL)
    assert "`" not in page


async def test_both_are_served(served: Served) -> None:
    response = await served.client.get("/openapi.json")
    assert response.headers["content-type"].startswith("application/json")
    assert response.json() == openapi(ROUTES)
    response = await served.client.get("/docs")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    own = f"http://127.0.0.1:{served.port}"
    assert response.text == render(openapi(ROUTES), own)
    assert f"curl &#x27;{own}/api/v1/" in response.text
    assert ":5679" not in response.text
    response = await served.client.get("/docs", headers={"Host": "localhost:1"})
    assert "curl &#x27;http://localhost:1/api/v1/" in response.text
