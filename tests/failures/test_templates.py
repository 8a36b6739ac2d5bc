"""Frames that render a template: stops, failures, reports and histories show the template's own lines."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.api import Api, Refused, Session
from tests.failures.runs import run
from tests.programs import Program

Write = Callable[..., Program]
Place = tuple[str, str, int]

BASE = """
    <html>
    {% block body %}{% endblock %}  # @block
    </html>
"""
CART = """
    {% extends "base.html" %}  # @extends

    {% macro row(item) %}
    <tr><td>{{ item.name }}</td>
    <td>{{ price(item) }}</td></tr>  # @cell
    {% endmacro %}

    {% block body %}
    {% for item in items %}
    {% set doubled = item.number * 2 %}
    {{ row(item) }}  # @row
    {% endfor %}
    {% include "foot.html" %}  # @include
    {% endblock %}
"""
FOOT = """
    foot
    {{ total / count }}  # @divide
"""
JINJA2 = """
    import sys
    import jinja2

    class Item:
        def __init__(self, name, number):
            self.name, self.number = name, number

    def price(item):
        return {"bread": 3}[item.name]  # @price

    def main(name, count):
        environment = jinja2.Environment(loader=jinja2.FileSystemLoader(sys.path[0]))
        template = environment.get_template("cart.html")
        items = [Item(name, 1)]
        template.render(items=items, price=price, total=3, count=count)  # @render

    main(sys.argv[1], int(sys.argv[2]))
"""


@pytest.fixture
def shop(program: Write) -> Callable[..., Any]:
    """A program that renders cart.html, with the template files."""

    def write(source: str, **templates: str) -> Any:
        files = {name: program(text, f"{name}.html") for name, text in templates.items()}
        return program(source), files

    return write


def jinja2_places(files: dict[str, Program]) -> list[Place]:
    """Of the templates' frames when a cell is rendered, innermost first."""
    return [
        ("template", "cart.html", files["cart"].line("cell")),
        ("block 'body'", "cart.html", files["cart"].line("row")),
        ("top-level template code", "base.html", files["base"].line("block")),
        ("top-level template code", "cart.html", files["cart"].line("extends")),
    ]


def template_frames(frames: list[dict[str, Any]]) -> list[Place]:
    sources = [one["source"] or {"path": ""} for one in frames]
    places = [
        (one["name"], Path(source["path"]).name, one["line"])
        for one, source in zip(frames, sources, strict=True)
    ]
    return [one for one in places if not one[1].endswith(".py")]


async def stopped(api: Api, main: Program, mark: str, *args: str) -> Session:
    session = await api.session(project_root=str(main.path.parent))
    await session.breakpoint(main.text, main.line(mark))
    answer = await session.launch(main.text, args=list(args), wait=30)
    assert answer["status"] == "paused", answer
    return session


async def frames_of(session: Session) -> list[dict[str, Any]]:
    return list((await session.get("/stacktrace", levels=0))["frames"])


async def test_a_stop_below_jinja2_shows_lines_of_templates(
    api: Api, shop: Callable[..., Any]
) -> None:
    main, files = shop(JINJA2, base=BASE, cart=CART, foot=FOOT)
    session = await stopped(api, main, "price", "bread", "1")
    frames = await frames_of(session)
    assert template_frames(frames) == jinja2_places(files)
    report = (await session.get("/report", max_chars=4000))["report"]
    assert f"template cart.html:{files['cart'].line('cell')} < " in report
    number = next(i for i, one in enumerate(frames) if one["name"] == "block 'body'")
    source = await session.get(f"/frames/{number}/source")
    assert source["current_line"] == files["cart"].line("row")
    answer = await session.post("/evaluate", expression="l_1_doubled", frame_id=number)
    assert answer["result"] == "2"
    await session.post("/step-out", wait=30)
    while (await session.get())["current_location"]["path"] != files["cart"].text:
        await session.post("/step-out", wait=30)
    location = (await session.get())["current_location"]
    assert location["line"] == files["cart"].line("cell")


async def test_a_failure_below_jinja2_shows_lines_of_templates(
    api: Api, shop: Callable[..., Any]
) -> None:
    """jinja2's own traceback has another line where a template goes on to the one that it extends."""
    main, files = shop(JINJA2, base=BASE, cart=CART, foot=FOOT)
    found = await run(api, script=main.text, args=["milk", "1"])
    (stop,) = found.stops
    assert stop.line == main.line("price")
    assert template_frames(stop.frames) == jinja2_places(files)


async def test_a_failure_in_a_template_is_shown_there(api: Api, shop: Callable[..., Any]) -> None:
    main, files = shop(JINJA2, base=BASE, cart=CART, foot=FOOT)
    found = await run(api, script=main.text, args=["bread", "0"])
    (stop,) = found.stops
    line = files["foot"].line("divide")
    assert stop.what == ("process", "ZeroDivisionError", line)
    assert stop.locals["count"] == "0"
    assert f"at foot.html:{line} in top-level template code\n" in stop.report
    assert "raised at" not in stop.report
    assert template_frames(stop.frames)[1][2] == files["cart"].line("include")


async def test_a_text_as_template_of_jinja2(api: Api, program: Write) -> None:
    main = program("""
        import jinja2

        class Cart:
            total = 1

        def add(cart):
            cart.total = cart.total + 1  # @add

        def main(**more):
            texts = {"cart": "\\n\\n{{ add(cart) }}\\n{{ 1 / by }}\\n"}
            environment = jinja2.Environment(loader=jinja2.DictLoader(texts))
            cart = Cart()
            template = environment.get_template("cart")
            template.render(add=add, cart=cart, **more)
            return cart  # @end

        main(by=1)
        main(by=0)
    """)
    session = await stopped(api, main, "add")
    place = ("top-level template code of 'cart'", "<template>", 3)
    assert template_frames(await frames_of(session)) == [place]
    report = (await session.get("/report", max_chars=4000))["report"]
    assert "(1 library frame) < top-level template code of 'cart' <template>:3 < " in report
    await session.delete()
    session = await stopped(api, main, "end")
    (write,) = (await session.post("/history", expression="cart.total"))["writes"][:1]
    places = [(one["function"], one["path"], one["line"]) for one in write["stack"]]
    assert [one for one in places if one[1] == "<template>"] == [place]
    await session.delete()
    found = await run(api, script=main.text)
    (stop,) = found.stops
    assert "raised at <template>:4 in top-level template code of 'cart'\n" in stop.report


async def test_a_text_as_template_is_named_where_a_library_raised(api: Api, program: Write) -> None:
    main = program("""
        import jinja2

        def main():
            jinja2.Template("\\n{{ missing.name }}").render()  # @render

        main()
    """)
    found = await run(api, script=main.text)
    (stop,) = found.stops
    assert stop.line == main.line("render")
    assert "raised at jinja2/environment.py:" in stop.report
    assert "\nby <template>:2 in top-level template code\n" in stop.report


async def test_calls_of_a_template_end_at_its_lines(api: Api, shop: Callable[..., Any]) -> None:
    main, files = shop(JINJA2, base=BASE, cart=CART, foot=FOOT)
    session = await stopped(api, main, "render", "milk", "1")
    text = (await session.post("/calls", wait=30, max_chars=4000))["text"]
    ends = re.findall(r"^ *([^(\n]+)\(.*raised.* at line (\d+)", text, re.MULTILINE)
    top = "top-level template code of"
    wanted = [
        (f"{top} cart.html", "cart", "extends"),
        (f"{top} base.html", "base", "block"),
        ("block 'body' of cart.html", "cart", "row"),
        ("template of cart.html", "cart", "cell"),
    ]
    assert ends == [
        *((name, str(files[file].line(mark))) for name, file, mark in wanted),
        ("price", str(main.line("price"))),
    ]


async def test_a_task_that_waits_below_a_template(api: Api, program: Write) -> None:
    page = program("<html>\n\n{{ wait() }}  # @wait\n", "page.html")
    main = program("""
        import asyncio
        import sys
        import jinja2

        async def ready(entered):
            await entered.wait()
            await asyncio.sleep(0)
            print()  # @print

        async def main():
            entered, never = asyncio.Event(), asyncio.Event()
            loader = jinja2.FileSystemLoader(sys.path[0])
            template = jinja2.Environment(loader=loader, enable_async=True).get_template("page.html")

            async def wait():
                entered.set()
                await never.wait()

            task = asyncio.create_task(template.render_async(wait=wait), name="page")
            await ready(entered)
            task.cancel()

        asyncio.run(main())
    """)
    session = await stopped(api, main, "print")
    tasks = (await session.get("/tasks"))["tasks"]
    (task,) = [one for one in tasks if one["name"] == "page"]
    lines = [one["line"] for one in task["frames"] if one["path"].endswith("page.html")]
    assert lines == [page.line("wait")]


DJANGO = """
    import sys
    import django
    from django.conf import settings

    backend = "django.template.backends.django.DjangoTemplates"
    settings.configure(TEMPLATES=[{"BACKEND": backend, "DIRS": [sys.path[0]]}])
    django.setup()
    from django.template import Context, Template
    from django.template.loader import get_template

    class Item:
        def __init__(self, name):
            self.name = name

        def price(self):
            return {"bread": 3}[self.name]  # @price

    def main(name, number):
        get_template("cart.html").render({"items": [Item(name)], "number": number})
        Template("\\n\\n{{ item.price }}").render(Context({"item": Item("wine")}))

    main(sys.argv[1], sys.argv[2])
"""
DJANGO_CART = """
    {% extends "base.html" %}  # @extends

    {% block body %}
    {% for item in items %}  # @for
    <td>{{ item.price }}</td>  # @cell
    {% endfor %}
    {{ number|divisibleby:number }}  # @divide
    {% endblock %}
"""


def django_places(files: dict[str, Program]) -> list[Place]:
    cart, base = files["cart"], files["base"]
    return [
        ("{{ item.price }}", "cart.html", cart.line("cell")),
        ("{% for item in items %}", "cart.html", cart.line("for")),
        ("{% block body %}", "base.html", base.line("block")),
        ('{% extends "base.html" %}', "cart.html", cart.line("extends")),
    ]


async def test_a_stop_below_django_shows_lines_of_templates(
    api: Api, shop: Callable[..., Any]
) -> None:
    main, files = shop(DJANGO, base=BASE, cart=DJANGO_CART)
    session = await stopped(api, main, "price", "bread", "3")
    assert template_frames(await frames_of(session)) == django_places(files)
    report = (await session.get("/report", max_chars=4000))["report"]
    assert f"< {{{{ item.price }}}} cart.html:{files['cart'].line('cell')} < " in report
    await session.resume(wait=30)
    place = ("{{ item.price }}", "<template>", 3)
    assert template_frames(await frames_of(session)) == [place]


async def test_a_failure_below_django_shows_lines_of_templates(
    api: Api, shop: Callable[..., Any]
) -> None:
    main, files = shop(DJANGO, base=BASE, cart=DJANGO_CART)
    found = await run(api, script=main.text, args=["milk", "3"])
    (stop,) = found.stops
    assert stop.line == main.line("price")
    assert template_frames(stop.frames) == django_places(files)


async def test_a_failure_in_a_template_of_django_is_shown_there(
    api: Api, shop: Callable[..., Any]
) -> None:
    main, files = shop(DJANGO, base=BASE, cart=DJANGO_CART)
    found = await run(api, script=main.text, args=["bread", "0"])
    (stop,) = found.stops
    line = files["cart"].line("divide")
    assert stop.what == ("process", "ZeroDivisionError", line)
    assert f"at cart.html:{line} in {{{{ number|divisibleby:number }}}}\n" in stop.report
    assert "raised at django/template/defaultfilters.py:" in stop.report


async def test_a_stop_in_the_code_of_django_itself_stays_there(
    api: Api, shop: Callable[..., Any]
) -> None:
    main, _ = shop(DJANGO, base=BASE, cart=DJANGO_CART)
    session = await api.session(project_root=str(main.path.parent))
    node = importlib.import_module("django.template.base").Node
    file = inspect.getsourcefile(node)
    lines, first = inspect.getsourcelines(node.render_annotated)
    line = next(number for number, text in enumerate(lines, first) if "self.render(" in text)
    await session.breakpoint(str(file), line)
    answer = await session.launch(main.text, args=["bread", "3"], wait=30)
    location = answer["current_location"]
    assert (location["function"], Path(location["path"]).name) == ("render_annotated", "base.py")
    top = (await frames_of(session))[0]
    assert (top["name"], Path(top["source"]["path"]).name) == ("render_annotated", "base.py")


@pytest.mark.parametrize(
    ("name", "text", "is_refused"),
    [
        ("notes.txt", "{{ total | shown('\\d') }}  # @line\n", True),
        ("notes.txt", "print(f'{{{1}}}')  # @line\n", False),
        ("tool", "shown = {'{{': 1}  # @line\n", False),
        ("odd.py", "{{1}}  # @line\n", False),
    ],
)
async def test_a_file_of_any_name_is_a_template_by_what_no_program_has(
    api: Api, program: Write, name: str, text: str, is_refused: bool
) -> None:
    file = program(text, name)
    session = await api.session(project_root=str(file.path.parent))
    placed = await session.breakpoint(file.text, file.line("line"))
    assert placed["verified"] is not is_refused
    assert ("the file is a template" in (placed["message"] or "")) is is_refused


async def test_a_breakpoint_in_a_template_says_why_it_cannot_be(api: Api, program: Write) -> None:
    """A line such as `{{ total }}` would be one of Python by itself."""
    page = program(FOOT, "foot.html")
    session = await api.session(project_root=str(page.path.parent))
    placed = await session.breakpoint(page.text, page.line("divide"))
    assert placed["verified"] is False
    assert placed["message"] == (
        f"No Python code at line {page.line('divide')}: the file is a template, and breakpoints"
        " stop in Python code"
    )
    assert "function that the template calls" in placed["suggestion"]
    with pytest.raises(Refused) as refused:
        await session.post(
            "/launch", script=page.text, record=[f"{page.text}:{page.line('divide')}:a"]
        )
    assert placed["message"] in refused.value.message


async def test_a_breakpoint_in_a_source_of_cython_says_why_it_cannot_be(
    api: Api, program: Write
) -> None:
    """Some of them are Python, too: the lines of both never run."""
    for text in ("cdef f(n):\n    return n  # @line\n", "def f(n):\n    return n  # @line\n"):
        file = program(text, "fast.pyx")
        session = await api.session(project_root=str(file.path.parent))
        placed = await session.breakpoint(file.text, file.line("line"))
        why = "the file is Cython's, and breakpoints stop in Python code"
        assert placed["message"] == f"No Python code at line {file.line('line')}: {why}"
        assert "Set it in a function that calls it" in placed["suggestion"]
