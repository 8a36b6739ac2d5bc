"""The page in a real browser, beside a client that is not the page."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.programs import Program
from tests.ui.conftest import Relay, keep_picture, serving

AXE = Path(__file__).parents[1] / "editor" / "js" / "node_modules" / "axe-core" / "axe.min.js"

SHOP = """
    import json

    class Evil:
        def __repr__(self):
            return "<img src=x onerror=alert(1)><script>alert(2)</script>"

    def total(prices):
        evil = Evil()
        rows = [{"price": one, "count": 2} for one in prices]
        result = 0
        for price in prices:
            result += price  # @sum
        return result

    print("computing", flush=True)
    print(total([3, 4]))
    try:
        json.loads("{")
    except ValueError as error:
        raise RuntimeError("no shop") from error  # @raise
"""

SECONDS = 10.0
"""Within so long the page answers on a machine that runs other tests; alone, within one."""


@pytest.fixture
def shop(relay: Relay, tmp_path: Path) -> Iterator[tuple[Program, str]]:
    """A program that stands in its loop: its source, and the id of its session."""
    source = Program.write(tmp_path / "shop.py", SHOP)
    made = relay.post(
        "/sessions",
        name="shop",
        project_root=str(tmp_path),
        breakpoints=[{"file": "shop.py", "line": source.line("sum")}],
        launch={"script": "shop.py", "wait": 30, "stop_on_exception": "uncaught"},
    )
    yield source, made["session_id"]
    relay.call("DELETE", f"/sessions/{made['session_id']}")


def region(page: Any, name: str) -> Any:
    return page.get_by_role("region", name=name, exact=True)


def opened(page: Any, relay: Relay, session_id: str) -> None:
    page.goto(f"{relay.page}#session={session_id}")
    page.locator("[aria-current]").wait_for()


def current_line(page: Any) -> int:
    return int(page.locator("[aria-current]").get_attribute("data-line"))


def line_at(relay: Relay, place: str) -> int | None:
    """Where the program of a session stands; None while it runs."""
    location = relay.get(place)["current_location"]
    return None if location is None else int(location["line"])


def until(page: Any, condition: Callable[[], object]) -> None:
    """Until the page shows it, as a reader waits: each look lets the page work."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        page.wait_for_timeout(20)


def test_a_stop_is_seen_and_stepped_from(
    relay: Relay, shop: tuple[Program, str], page: Any
) -> None:
    source, session_id = shop
    page.goto(relay.page)
    page.get_by_role("link", name="shop").click()
    assert f"session={session_id}" in page.url
    page.locator("[aria-current]").wait_for()
    assert current_line(page) == source.line("sum")
    assert "result += price" in region(page, "Source").locator("[aria-current]").inner_text()
    assert region(page, "Source").locator(".hl-k").first.is_visible()
    assert "total" in region(page, "Stack").inner_text()
    assert "MainThread" in region(page, "Threads").inner_text()
    region(page, "Output").get_by_text("computing").wait_for()

    # What a program says of itself is text, whatever it looks like.
    region(page, "Variables").get_by_text("<img src=x onerror=alert(1)>").first.wait_for()
    assert page.locator("img, script:not([src])").count() == 0

    page.get_by_role("button", name="Step over").click()
    until(page, lambda: current_line(page) == source.line("sum") - 1)
    page.get_by_role("textbox", name="Console").fill("result + 40")
    page.keyboard.press("Enter")
    page.get_by_text("43", exact=True).wait_for()
    page.keyboard.press("F10")
    until(page, lambda: current_line(page) == source.line("sum"))

    # The frame has an address, and it can be gone back to.
    region(page, "Stack").get_by_role("button", name="<module>").click()
    until(page, lambda: "total([3, 4])" in page.locator("[aria-current]").inner_text())
    assert "frame=1" in page.url
    page.go_back()
    until(page, lambda: current_line(page) == source.line("sum"))
    page.go_forward()
    until(page, lambda: "frame=1" in page.url)
    page.reload()
    until(page, lambda: "total([3, 4])" in page.locator("[aria-current]").inner_text())
    page.keyboard.press("F10")
    until(page, lambda: current_line(page) == source.line("sum") - 1)
    assert "frame" not in page.url


LATE_STOPS = """
    const quick = window.fetch;
    window.until = null; // word of a stop waits for it
    window.fetch = async (path, options) => {
        const response = await quick(path, options);
        if (!String(path).endsWith("/timeline/stream")) return response;
        const pass = new TransformStream({
            async transform(text, into) {
                for (const block of text.split(/(?<=\\n\\n)/)) {
                    if (/"what": ?"stopped"/.test(block)) await window.until;
                    into.enqueue(block);
                }
            },
        });
        const body = response.body
            .pipeThrough(new TextDecoderStream()).pipeThrough(pass).pipeThrough(new TextEncoderStream());
        return new Response(body, response);
    };
"""


def test_a_frame_stays_chosen_when_word_of_the_stop_comes_later_than_the_stop(
    relay: Relay, shop: tuple[Program, str], page: Any
) -> None:
    source, session_id = shop
    page.add_init_script(LATE_STOPS)
    opened(page, relay, session_id)
    page.evaluate("() => { window.until = new Promise((pass) => { window.letPass = pass; }); }")

    page.keyboard.press("F10")
    place = f"/sessions/{session_id}"
    until(page, lambda: line_at(relay, place) == source.line("sum") - 1)
    # What it learned by word of the step may be of before the stop: this has it look again.
    page.get_by_role("button", name=f"Breakpoint at line {source.line('raise')}").click()
    until(page, lambda: current_line(page) == source.line("sum") - 1)
    region(page, "Stack").get_by_role("button", name="<module>").click()
    until(page, lambda: "total([3, 4])" in page.locator("[aria-current]").inner_text())
    stops = region(page, "Timeline").locator(".entry", has_text="stopped")
    before = stops.count()
    page.evaluate("window.letPass()")
    until(page, lambda: stops.count() > before)
    relay.call("PATCH", f"/sessions/{session_id}", name="store")

    until(page, lambda: page.title() == "paused: store")
    assert "frame=1" in page.url
    assert "total([3, 4])" in page.locator("[aria-current]").inner_text()


def test_the_timeline_says_who_did_what_and_each_entry_has_an_address(
    relay: Relay, shop: tuple[Program, str], page: Any
) -> None:
    _, session_id = shop
    opened(page, relay, session_id)
    timeline = region(page, "Timeline")
    timeline.get_by_text("POST /sessions").wait_for()
    relay.post(f"/sessions/{session_id}/evaluate", expression="price * 7")
    asked = timeline.locator(".entry", has_text="POST evaluate")
    assert "http · other" in asked.inner_text()
    assert "price * 7" in asked.inner_text()
    asked.get_by_role("link").click()
    timeline.get_by_text("by http · other").wait_for()
    entry = re.search(r"entry=(r\d+)", page.url)
    assert entry is not None
    page.reload()
    timeline.get_by_label(f"Entry {entry[1]}").wait_for()
    timeline.get_by_label("Entries").focus()
    page.keyboard.press("ArrowUp")
    until(page, lambda: entry[0] not in page.url)


def test_a_click_sets_a_breakpoint_and_takes_it_away(
    relay: Relay, shop: tuple[Program, str], page: Any
) -> None:
    source, session_id = shop
    opened(page, relay, session_id)
    line = source.line("raise")

    def lines() -> list[int]:
        found = relay.get(f"/sessions/{session_id}/breakpoints")["breakpoints"]
        return sorted(one["line"] for one in found)

    button = page.get_by_role("button", name=f"Breakpoint at line {line}")
    button.click()
    until(page, lambda: lines() == [source.line("sum"), line])
    until(page, lambda: button.get_attribute("aria-pressed") == "true")
    listed = region(page, "Breakpoints")
    listed.get_by_text(f"shop.py:{line}").click()
    listed.get_by_label("Stop if").last.fill("False")
    page.keyboard.press("Enter")
    until(page, lambda: "False" in str(relay.get(f"/sessions/{session_id}/breakpoints")))
    # One that another client sets is seen at once.
    relay.post(f"/sessions/{session_id}/breakpoints", file="shop.py", line=source.line("sum") + 1)
    listed.get_by_text(f"shop.py:{source.line('sum') + 1}").wait_for()
    button.click()
    until(page, lambda: line not in lines())
    region(page, "Source").get_by_label("Lines").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("F9")
    until(page, lambda: source.line("sum") + 1 not in lines())


def exceptions_shown(
    relay: Relay, session_id: str, page: Any, on_request: Callable[[Any], None]
) -> tuple[Any, Any, Any]:
    """The region of the session's breakpoints, and its boxes of raised and of uncaught exceptions."""
    opened(page, relay, session_id)
    page.route("**/exception-breakpoints", on_request)
    listed = region(page, "Breakpoints")
    boxes = [listed.get_by_label(f"{kind} exceptions") for kind in ("Raised", "Uncaught")]
    return listed, *boxes


def test_what_is_chosen_stays_chosen_until_the_relay_has_answered(
    relay: Relay, shop: tuple[Program, str], page: Any
) -> None:
    _, session_id = shop
    held: list[Any] = []

    def hold_changes(route: Any) -> None:
        held.append(route) if route.request.method == "POST" else route.continue_()

    listed, raised, uncaught = exceptions_shown(relay, session_id, page, hold_changes)

    raised.click()
    until(page, lambda: len(held) == 1)
    relay.post(f"/sessions/{session_id}/data-breakpoints", expression="result")
    listed.get_by_text("changes of result").wait_for()  # all was drawn anew
    assert raised.is_checked()
    uncaught.click()
    assert (raised.is_checked(), uncaught.is_checked()) == (True, False)
    assert len(held) == 1  # two at once might come in any order
    held[0].continue_()
    until(page, lambda: len(held) == 2)
    assert (raised.is_checked(), uncaught.is_checked()) == (True, False)
    held[1].continue_()
    path = f"/sessions/{session_id}/exception-breakpoints"
    until(page, lambda: relay.get(path)["filters"] == ["raised"])
    until(page, lambda: (raised.is_checked(), uncaught.is_checked()) == (True, False))


def test_what_another_client_has_chosen_since_is_shown(
    relay: Relay, shop: tuple[Program, str], page: Any
) -> None:
    _, session_id = shop
    answers: list[tuple[Any, Any]] = []

    def hold_answers(route: Any) -> None:
        if route.request.method == "POST":
            answers.append((route, route.fetch()))
        else:
            route.continue_()

    listed, raised, uncaught = exceptions_shown(relay, session_id, page, hold_answers)

    raised.click()
    until(page, lambda: len(answers) == 1)
    path = f"/sessions/{session_id}/exception-breakpoints"
    relay.post(path, filters=["raised"], types=["KeyError"])
    listed.get_by_text("only KeyError").wait_for()
    assert (raised.is_checked(), uncaught.is_checked()) == (True, False)
    for route, answer in answers:
        route.fulfill(response=answer)
    until(page, lambda: (raised.is_checked(), uncaught.is_checked()) == (True, False))


def test_breakpoints_of_every_kind_are_set_shown_and_taken_away(
    relay: Relay, shop: tuple[Program, str], page: Any
) -> None:
    source, session_id = shop
    opened(page, relay, session_id)
    listed = region(page, "Breakpoints")

    listed.get_by_label("Function to stop in").fill("Evil.__repr__")
    page.keyboard.press("Enter")
    listed.get_by_text("Evil.__repr__").click()
    listed.get_by_role("button", name="Remove").last.click()
    listed.get_by_text("Evil.__repr__").wait_for(state="detached")

    uncaught = listed.get_by_label("Uncaught exceptions")
    assert uncaught.is_checked()
    listed.get_by_label("Raised exceptions").check()
    path = f"/sessions/{session_id}/exception-breakpoints"
    until(page, lambda: relay.get(path)["filters"] == ["uncaught", "raised"])
    relay.post(path, filters=["raised"], types=["KeyError"])  # by another client
    listed.get_by_text("only KeyError").wait_for()
    assert not uncaught.is_checked()

    relay.post(f"/sessions/{session_id}/data-breakpoints", expression="result")
    listed.get_by_text("changes of result").wait_for()
    listed.get_by_role("button", name="Let result change").click()
    listed.get_by_text("changes of result").wait_for(state="detached")
    assert relay.get(f"/sessions/{session_id}/data-breakpoints")["data_breakpoints"] == []

    listed.get_by_text(f"shop.py:{source.line('sum')}").click()
    listed.get_by_label("Record").fill("price; result")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("exit code 1").first.wait_for()
    listed.get_by_role("button", name="Show what it has recorded").click()
    rows = listed.get_by_role("table").get_by_role("row")
    rows.nth(1).wait_for()
    assert [one.split() for one in rows.all_inner_texts()] == [
        ["hit", "price", "result"],
        ["1", "4", "3"],
    ]


def test_a_breakpoint_can_be_set_while_the_program_runs(
    relay: Relay, tmp_path: Path, page: Any
) -> None:
    source = Program.write(
        tmp_path / "loop.py",
        """
        import sys
        for line in sys.stdin:
            print(line)  # @inside
        """,
    )
    made = relay.post("/sessions", launch={"script": str(source.path)})
    page.goto(f"{relay.page}#session={made['session_id']}")
    page.get_by_role("button", name=f"Breakpoint at line {source.line('inside')}").click()
    region(page, "Breakpoints").get_by_text(f"loop.py:{source.line('inside')}").wait_for()
    page.get_by_label("Input of the program").fill("hello")
    page.keyboard.press("Enter")
    page.locator("[aria-current]").wait_for()
    assert current_line(page) == source.line("inside")
    assert page.title().startswith("paused: ")
    page.get_by_label("File to open").fill(__file__)
    page.keyboard.press("Enter")
    region(page, "Source").get_by_text("The page in a real browser").wait_for()
    page.get_by_role("link", name="back to the program").click()
    page.locator("[aria-current]").wait_for()
    relay.call("DELETE", f"/sessions/{made['session_id']}")


def test_output_is_shown_as_a_terminal_leaves_it_and_an_entry_takes_one_row(
    relay: Relay, tmp_path: Path, page: Any
) -> None:
    source = Program.write(
        tmp_path / "bar.py",
        r"""
        import sys
        sys.stdout.write("one\n\x1b[31mtwo\x1b[0m\r\nthree\n 10%\r 20%\r100%\n")
        sys.stdout.flush()
        here = 1  # @here
        """,
    )
    place = {"file": str(source.path), "line": source.line("here")}
    page.goto(relay.page)
    page.get_by_text("Launch a program here").wait_for()
    made = relay.post("/sessions", breakpoints=[place], launch={"script": str(source.path)})
    page.get_by_text("Choose a session.").wait_for()
    opened(page, relay, made["session_id"])
    output = region(page, "Output").locator(".line")
    region(page, "Output").get_by_text("100%").wait_for()
    assert [one.strip() for one in output.all_inner_texts()] == ["one", "two", "three", "100%"]
    region(page, "Breakpoints").get_by_text("hit once").wait_for()
    entry = region(page, "Timeline").locator(".entry.event", has_text="output")
    assert "one ⏎ two ⏎ three" in entry.inner_text()
    assert entry.get_by_role("link").bounding_box()["height"] <= entry.bounding_box()["height"]
    relay.call("DELETE", f"/sessions/{made['session_id']}")


THREADS = """
    import threading

    lock = threading.Lock()

    def work(number):
        with lock:  # @wait
            pass

    with lock:
        worker = threading.Thread(target=work, args=[77], name="Worker", daemon=True)
        worker.start()
        here = 1  # @here
        worker.join()
"""


def test_threads_show_where_they_are_and_what_they_wait_for(
    relay: Relay, tmp_path: Path, page: Any
) -> None:
    source = Program.write(tmp_path / "dead.py", THREADS)
    place = {"file": str(source.path), "line": source.line("here")}
    made = relay.post("/sessions", breakpoints=[place], launch={"script": str(source.path)})
    opened(page, relay, made["session_id"])
    threads = region(page, "Threads")
    threads.get_by_role("button", name="Worker").click()
    begins = source.line("wait") - 1  # it may have come no further yet
    until(page, lambda: current_line(page) in {begins, source.line("wait")})
    region(page, "Variables").get_by_text("77").wait_for()
    page.get_by_role("button", name="Continue").click()
    until(page, lambda: not page.locator("[aria-current]").count())
    report = threads.get_by_label("Hang report")

    def waits() -> bool:
        """Whether it is seen to wait; it may not have come to its lock yet."""
        threads.get_by_role("button", name="Hang report").click()
        report.wait_for()
        return "Worker: waits for lock lock, held by MainThread" in report.inner_text()

    until(page, waits)
    relay.call("DELETE", f"/sessions/{made['session_id']}")
    page.get_by_role("alert").get_by_text("not found").wait_for()


def test_who_holds_the_session_runs_it(relay: Relay, shop: tuple[Program, str], page: Any) -> None:
    source, session_id = shop
    opened(page, relay, session_id)
    page.get_by_role("button", name="Hold").click()
    page.get_by_text("held by you").wait_for()
    refused = relay.call("POST", f"/sessions/{session_id}/continue")
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "SESSION_HELD"
    region(page, "Timeline").get_by_text("SESSION_HELD").first.wait_for()
    page.get_by_role("button", name="Step over").click()
    until(page, lambda: current_line(page) == source.line("sum") - 1)
    page.get_by_role("button", name="Release").click()
    until(page, lambda: not page.get_by_text("held by").count())
    assert relay.call("POST", f"/sessions/{session_id}/step-over").status_code == 200
    until(page, lambda: current_line(page) == source.line("sum"))

    relay.post(f"/sessions/{session_id}/hold", by="an agent")
    page.get_by_role("strong").filter(has_text="held by an agent").wait_for()
    page.get_by_role("button", name="Step over").click()
    page.get_by_role("alert").filter(has_text="an agent holds the session").wait_for()
    relay.call("DELETE", f"/sessions/{session_id}/hold")


def test_a_value_answers_questions_and_an_exception_shows_its_causes(
    relay: Relay, shop: tuple[Program, str], page: Any
) -> None:
    source, session_id = shop
    opened(page, relay, session_id)
    variables = region(page, "Variables")
    variables.get_by_role("treeitem", name=re.compile("prices")).focus()
    page.keyboard.press("ArrowRight")
    variables.get_by_role("treeitem", level=2).first.wait_for()
    variables.get_by_text("result", exact=True).locator("..").locator(".value").click()
    variables.get_by_role("button", name="Why").click()
    variables.get_by_text(f"shop.py:{source.line('sum') - 2}").wait_for()
    variables.get_by_text("result", exact=True).locator("..").locator(".value").click()

    variables.get_by_text("rows", exact=True).locator("..").locator(".value").click()
    variables.get_by_role("button", name="Table").click()
    table = variables.get_by_role("table")
    table.get_by_role("cell", name="4").wait_for()
    assert table.get_by_role("columnheader").all_inner_texts() == ["rows", "'price'", "'count'"]

    relay.call("DELETE", f"/sessions/{session_id}/breakpoints")
    page.get_by_role("button", name="Continue").click()
    raised = region(page, "Exception")
    raised.get_by_text("no shop", exact=True).wait_for()
    assert "JSONDecodeError" in raised.inner_text()
    assert "raised from" in raised.inner_text()
    keep_picture(page, "page-exception")
    assert current_line(page) == source.line("raise")
    page.keyboard.press("F8")
    page.get_by_text("exit code 1").first.wait_for()


@pytest.fixture
def full_relay(tmp_path: Path) -> Iterator[Relay]:
    """A relay with 200 sessions."""
    with serving(tmp_path / "relay") as relay, ThreadPoolExecutor(20) as pool:
        names = [f"other {number}" for number in range(200)]
        made = list(pool.map(lambda name: relay.post("/sessions", name=name), names))
        assert len(made) == 200
        yield relay


def test_much_of_everything_is_shown_at_once(full_relay: Relay, tmp_path: Path, page: Any) -> None:
    relay = full_relay
    lines = [f"# comment {number}" for number in range(1, 100_001)]
    lines[0] = "print(('x' * 99 + '\\n') * 10_500, end='', flush=True)"
    lines[59_999:60_010] = ["here = 1  # @here", *["here += 1"] * 10]
    source = Program(tmp_path / "long.py")
    source.path.write_text("\n".join(lines))
    big = relay.post("/sessions", name="the big one", project_root=str(tmp_path))["session_id"]
    relay.post(f"/sessions/{big}/breakpoints", file="long.py", line=source.line("here"))
    relay.post(f"/sessions/{big}/launch", script="long.py", wait=60)
    page.goto(relay.page)
    page.get_by_text("201", exact=True).wait_for()

    def seconds(act: Callable[[], object]) -> float:
        before = time.monotonic()
        act()
        return time.monotonic() - before

    def show() -> None:
        page.get_by_role("link", name="the big one").click()
        page.locator("[aria-current]").wait_for()

    def scroll() -> None:
        code = region(page, "Source").get_by_label("Lines")
        code.evaluate("box => box.scrollTop = 20 * 90000")
        page.get_by_text("# comment 90000").wait_for()

    def step() -> None:
        line = current_line(page) + 1
        page.get_by_role("button", name="Step over").click()
        until(page, lambda: current_line(page) == line)

    def ask() -> None:
        page.get_by_role("textbox", name="Console").fill("here + 40")
        page.keyboard.press("Enter")
        page.get_by_text("43", exact=True).nth(asked.pop()).wait_for()

    took = {"show": seconds(show)}
    page.get_by_text("10500 lines").wait_for()
    took |= {"step": min(seconds(step) for _ in range(3))}
    asked = [1, 0]
    took["ask"] = min(seconds(ask) for _ in range(2))
    took["scroll"] = seconds(scroll)
    assert max(took.values()) < SECONDS, took
    assert page.locator("main *").count() < 3000, "only what is in sight is in the document"


def test_a_relay_that_says_nothing_is_gone_too(tmp_path: Path, page: Any) -> None:
    with serving(tmp_path / "relay") as relay:
        made = relay.post("/sessions", name="kept")
        page.goto(f"{relay.page}#session={made['session_id']}")
        region(page, "Sessions").get_by_role("link", name="kept").wait_for()
        os.kill(relay.pid, signal.SIGSTOP)
        try:
            page.get_by_text("The relay is gone").wait_for()
        finally:
            os.kill(relay.pid, signal.SIGCONT)
        page.get_by_text("The relay is gone").wait_for(state="hidden")


def test_it_says_when_the_relay_is_gone_and_comes_back_by_itself(tmp_path: Path, page: Any) -> None:
    with serving(tmp_path / "relay") as relay:
        made = relay.post("/sessions", name="kept")
        page.goto(f"{relay.page}#session={made['session_id']}")
        region(page, "Sessions").get_by_role("link", name="kept").wait_for()
    page.get_by_text("The relay is gone").wait_for()
    port = relay.url.rpartition(":")[2]
    with serving(tmp_path / "relay", "--port", port) as again:
        until(page, lambda: not page.get_by_text("The relay is gone").count())
        again.post("/sessions", name="new")
        page.get_by_role("link", name="new").wait_for()
        region(page, "Sessions").get_by_role("link", name="kept").wait_for()
        again.post(f"/sessions/{made['session_id']}/breakpoints", file=__file__, line=1)
        region(page, "Timeline").get_by_text("POST breakpoints").wait_for()


def test_a_token_is_asked_for_once_and_is_in_no_address(tmp_path: Path, page: Any) -> None:
    with serving(tmp_path / "relay", token="secret-of-the-relay") as relay:
        addresses: list[str] = []
        page.on("request", lambda request: addresses.append(request.url))
        page.goto(relay.page)
        page.get_by_label("Token").fill("wrong")
        assert page.get_by_role("alert").count() == 0
        page.keyboard.press("Enter")
        page.get_by_role("alert").get_by_text("refuses the token").wait_for()
        page.get_by_label("Token").fill("secret-of-the-relay")
        page.keyboard.press("Enter")
        region(page, "Sessions").wait_for()
        made = relay.post("/sessions", name="behind a token")
        page.get_by_role("link", name="behind a token").click()
        region(page, "Timeline").get_by_text("POST /sessions").wait_for()  # streams have it, too
        page.reload()
        region(page, "Timeline").get_by_text("POST /sessions").wait_for()
        assert page.evaluate("sessionStorage.getItem('relay.token')") == "secret-of-the-relay"
        assert page.evaluate("JSON.stringify(localStorage)") == "{}"
        assert addresses
        assert not [one for one in addresses if "secret" in one or not one.startswith(relay.url)]
        relay.call("DELETE", f"/sessions/{made['session_id']}")


def test_a_data_frame_is_a_table(relay: Relay, tmp_path: Path, page: Any) -> None:
    """Names of columns and labels of rows may repeat; what is secret has no cells."""
    source = Program.write(
        tmp_path / "frames.py",
        """
        import pandas
        rows = [[n, n * 2, "x"] for n in range(40)]
        frame = pandas.DataFrame(rows, ["same"] * 40, ["n", "n", "password"])
        done = True  # @done
        """,
    )
    made = relay.post(
        "/sessions",
        project_root=str(tmp_path),
        breakpoints=[{"file": "frames.py", "line": source.line("done")}],
        launch={"script": "frames.py", "wait": 60},
    )
    opened(page, relay, made["session_id"])
    variables = region(page, "Variables")
    variables.get_by_text("frame", exact=True).locator("..").locator(".value").click()
    variables.get_by_role("button", name="Table").click()
    table = variables.get_by_role("table")
    table.get_by_role("cell", name="(48)").wait_for()
    assert table.get_by_role("row").count() == 26
    heads = table.get_by_role("columnheader").all_inner_texts()
    assert heads == ["frame", "'n'", "'n'", "'password'"]
    variables.get_by_role("button", name="More rows").click()
    last = table.get_by_role("row").nth(40)
    last.wait_for()
    assert last.inner_text().split() == ["'same'", "np.int64(39)", "np.int64(78)", "***"]
    assert variables.get_by_role("button", name="More rows").count() == 0
    relay.call("DELETE", f"/sessions/{made['session_id']}")


def serious_findings(page: Any) -> list[Any]:
    """What axe finds serious on the page."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("Runtime.evaluate", {"expression": AXE.read_text()})
    found = devtools.send(
        "Runtime.evaluate",
        {
            "expression": "axe.run().then(found => JSON.stringify(found.violations))",
            "awaitPromise": True,
            "returnByValue": True,
        },
    )
    return [
        (one["id"], one["impact"], [node["html"] for node in one["nodes"]][:3])
        for one in json.loads(found["result"]["value"])
        if one["impact"] in {"serious", "critical"}
    ]


def is_wider_than_the_window(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


@pytest.mark.skipif(not AXE.exists(), reason="needs npm ci --prefix tests/editor/js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(
    scheme: str, relay: Relay, shop: tuple[Program, str], page: Any
) -> None:
    _, session_id = shop
    page.emulate_media(color_scheme=scheme)
    opened(page, relay, session_id)
    region(page, "Timeline").get_by_role("link").first.click()
    region(page, "Variables").get_by_text("rows", exact=True).locator("..").locator(
        ".value"
    ).click()
    region(page, "Variables").get_by_role("button", name="Table").click()
    region(page, "Variables").get_by_role("cell", name="4").wait_for()
    pictures = {
        ("light", 1400): "page",
        ("dark", 1400): "page-dark",
        ("light", 390): "page-telephone",
    }
    for width in (1400, 390):
        page.set_viewport_size({"width": width, "height": 844})
        if (scheme, width) in pictures:
            keep_picture(page, pictures[scheme, width])
        assert serious_findings(page) == [], width
        assert not is_wider_than_the_window(page)


def test_everybody_can_read_the_page_of_the_api(relay: Relay, page: Any) -> None:
    """What axe asks of it: it is too long a page for axe itself."""
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{relay.url}/api/v1/docs")
    page.get_by_role("main").get_by_role("heading", name="POST /sessions", exact=True).wait_for()
    assert not is_wider_than_the_window(page)
    assert page.locator("pre:not([tabindex])").count() == 0, "what is scrolled is reached by keys"
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(13, 17, 23)", "contrast is that with the page's own background"
