"""Reports as text: what they say, that they fit, and that every cut is marked."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.dap.lifecycle import Phase
from relay.models.execution import SourceLine
from relay.models.report import (
    REPORT_BYTES,
    Report,
    ReportCause,
    ReportChange,
    ReportException,
    ReportFrame,
    ReportLocal,
)
from relay.operations.report.report_text import CUT, cut, cut_within, one_line, render

SOURCE = [
    SourceLine(line=9, text="    for item in items:"),
    SourceLine(line=10, text="        total += price(item)"),
    SourceLine(line=11, text="    return total"),
]
TOP = ReportFrame(name="total", path="shop.py", line=10, shown=True)
MAIN = ReportFrame(name="main", path="app/run.py", line=4)
LIBRARY = ReportFrame(name="call", path="lib/call.py", line=7, own=False)
DEEP = LIBRARY.model_copy(update={"left_out": 5})

BREAKPOINT = Report(
    status=Phase.PAUSED,
    reason="breakpoint",
    breakpoints=["bp_1"],
    hits=3,
    thread_id=1,
    source=SOURCE,
    locals=[
        ReportLocal(name="discount", value="None"),
        ReportLocal(name="items", value="['tea', 'milk', ... (100 items)]", cut=True, named=True),
        ReportLocal(name="total", value="30", named=True, news="changed", before="20"),
        ReportLocal(name="item", value="'milk'", named=True, news="new"),
    ],
    stack=[TOP, MAIN, MAIN.model_copy(update={"name": "<module>", "line": 9})],
)

SAYS = {
    "breakpoint": (
        BREAKPOINT,
        """\
breakpoint bp_1 (hit 3): shop.py:10 in total
  9 for item in items:
>10     total += price(item)
 11 return total
locals:
 total = 30 (was 20)
 item = 'milk' (new)
 items = ['tea', 'milk', … (100 items)]
 discount = None
stack: total shop.py:10 < main app/run.py:4 < <module> :9""",
    ),
    "change that others came before": (
        Report(
            status=Phase.PAUSED,
            reason="data_breakpoint",
            thread_id=1,
            change=ReportChange(expression="total", old="0", new="30", place=TOP, merged=True),
            locals=[],
            stack=[TOP],
        ),
        """\
total changed: shop.py:10 in total
0 -> 30, written at shop.py:10 in total, with other values in between
locals: none""",
    ),
    "change of values that are cut": (
        Report(
            status=Phase.PAUSED,
            reason="data_breakpoint",
            thread_id=1,
            change=ReportChange(expression="names", old=None, new=f"['{'tea' * 99}']", place=TOP),
            locals=[],
            stack=[TOP],
        ),
        f"""\
names changed: shop.py:10 in total
nothing -> ['{"tea" * 61}te…, written at shop.py:10 in total
locals: none""",
    ),
    "exception from a library": (
        Report(
            status=Phase.PAUSED,
            reason="exception",
            thread_id=7,
            exception=ReportException(type="ValueError", message="a\nb", raised=LIBRARY),
            locals=[],
            stack=[LIBRARY, LIBRARY, TOP, MAIN, DEEP, *[LIBRARY] * 30],
        ),
        """\
exception ValueError: a\\nb
at shop.py:10 in total, frame 2, thread 7
raised at lib/call.py:7 in call
locals: none
stack: (2 library frames) < total shop.py:10 < main app/run.py:4 < … +5 more < (31 library frames)""",
    ),
    "step with a repr that hangs": (
        Report(
            status=Phase.PAUSED,
            reason="step",
            returned="by price: 3",
            trouble="report did not end within 5 s",
            stack=[TOP],
        ),
        """\
step: shop.py:10 in total
returned by price: 3
locals: report did not end within 5 s""",
    ),
    "running": (
        Report(status=Phase.RUNNING, prompt="Name: ", printed={"stdout": "hello\nName: "}),
        "running: waits for input on stdin, after 'Name: '\nstdout ends:\n hello\n Name: ",
    ),
    "ended": (
        Report(
            status=Phase.TERMINATED,
            end="ended: exit code 1",
            printed={
                "stdout": "10%\r20%\r\x1b[2Kdone\n\x1b]0;title\x07bold\n",
                "stderr": "Traceback\n\x1b[31mred\x1b[0m\x00\n",
            },
            failed=True,
            never_hit=["shop.py:3 (No executable code at line 3)", "Cart.total"],
        ),
        "ended: exit code 1\nnever hit: shop.py:3 (No executable code at line 3); Cart.total\n"
        "stdout ends:\n done\n bold\nstderr ends:\n Traceback\n red",
    ),
    "created": (Report(status=Phase.CREATED), "created: no program has been started"),
}


def test_of_a_stack_that_does_not_fit_the_outermost_frame_of_the_program_stays() -> None:
    """It is that of the test that fails."""
    test = MAIN.model_copy(update={"name": "test_total", "path": "tests/test_shop.py"})
    deep = [TOP.model_copy(update={"line": line, "shown": line == 1}) for line in range(1, 201)]
    report = Report(status=Phase.PAUSED, locals=[], stack=[*deep, test, *[LIBRARY] * 50])
    for room, said in (
        (150, " < total :2 < … +198 more < test_total tests/test_shop.py:4 < (50 library frames)"),
        (130, " < … +199 more < test_total tests/test_shop.py:4 < …"),
        (110, "stack: total shop.py:1 < total :2 < total :3 < … +248 more"),
    ):
        text = render(report, room)
        assert len(text.encode()) <= room
        assert text.endswith(said)
    long = test.model_copy(
        update={"name": "test_the_total_of_a_cart_with_a_voucher_that_has_run_out"}
    )
    text = render(report.model_copy(update={"stack": [deep[0], long, *[LIBRARY] * 50]}), 140)
    assert text.endswith("stack: total shop.py:1 < test_the_total_of… tests/test_shop.py:4 < …")
    same = report.model_copy(update={"stack": [*deep, deep[0]]})
    assert render(same, 300).endswith(" more < total :1")


def test_the_text_of_a_stack_is_put_together_once_however_deep_it_is() -> None:
    """It took the square of its depth: twelve seconds for 5,000 frames."""
    deep = [TOP.model_copy(update={"line": line, "shown": line == 0}) for line in range(40_000)]
    report = Report(status=Phase.PAUSED, locals=[], stack=[*deep, MAIN])
    text = render(report, 200)
    left = 40_000 - text.count("total ")
    assert text.endswith(f" < … +{left} more < main app/run.py:4")


CALLED = ReportFrame(name="visit", path="tree.py", line=3)
OTHER = ReportFrame(name="walk", path="node.py", line=8)
TWICE = [CALLED, CALLED]


@pytest.mark.parametrize(
    ("stack", "said"),
    [
        ([CALLED] * 900, "900 x visit tree.py:3 < main app/run.py:4"),
        ([TOP, *[CALLED] * 3], "total shop.py:10 < 3 x visit tree.py:3 < main app/run.py:4"),
        (TWICE, "visit tree.py:3 < visit :3 < main app/run.py:4"),
        (
            [OTHER, *[CALLED, OTHER] * 40],
            "40 x [walk node.py:8 < visit tree.py:3] < walk node.py:8 < main app/run.py:4",
        ),
        (
            [*[CALLED, LIBRARY] * 5, CALLED],
            "5 x [visit tree.py:3 < (1 library frame)] < visit :3 < main app/run.py:4",
        ),
        (
            [*[CALLED] * 5, DEEP, *[CALLED] * 4],
            "5 x visit tree.py:3 < … +5 more < (1 library frame) < 4 x visit tree.py:3 < main app/run.py:4",
        ),
    ],
    ids=["straight", "below another", "twice", "circle", "through a library", "cut"],
)
def test_a_recursion_is_told_once(stack: list[ReportFrame], said: str) -> None:
    text = render(Report(status=Phase.PAUSED, locals=[], stack=[*stack, MAIN]), REPORT_BYTES)
    assert text.splitlines()[-1] == f"stack: {said}"


@pytest.mark.parametrize("name", SAYS)
def test_a_report_says_what_an_agent_asks_next(name: str) -> None:
    report, text = SAYS[name]
    assert render(report, REPORT_BYTES) == text


def test_what_matters_less_is_cut_first() -> None:
    """The place and what has changed are there to the last."""
    many = [ReportLocal(name=f"other_{n}", value="x" * 300) for n in range(60)]
    full = BREAKPOINT.model_copy(
        update={"locals": [*many, *(BREAKPOINT.locals or [])], "more_locals": 40}
    )
    for room in (700, 400, 300):
        text = render(full, room)
        assert len(text.encode()) <= room
        assert text.startswith("breakpoint bp_1 (hit 3): shop.py:10 in total\n")
        assert ">10 " in text
        assert " total = 30 (was 20)\n item = 'milk' (new)\n" in text
        shown = sum(line.startswith(" ") and " = " in line for line in text.splitlines())
        assert f" +{104 - shown} more…" in text


def test_of_what_does_not_fit_the_class_of_a_plain_object_is_the_last_to_go() -> None:
    values = {
        "self": "<tests.test_cart.TestCart object at 0x7f1906e716a0>",
        "kind": "<class 'shop.cart.test_total.<locals>.Cart'>",
        "takes_no_vouchers_at_all": "False",
        "items": "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]",
    }
    locals_ = [ReportLocal(name=name, value=v, named=name == "items") for name, v in values.items()]
    report = BREAKPOINT.model_copy(update={"locals": locals_, "stack": [TOP]})
    assert " self = <tests.test_cart.TestCart object at 0x7f1906e716a0>\n" in render(report, 700)
    shown = render(report, 260).splitlines()
    assert " self = <…TestCart>" in shown
    assert " kind = <class '…Cart'>" in shown
    assert " takes_no_vouchers_at_all = False" in shown
    assert " items = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]" in shown


def test_a_message_that_ends_with_its_cause_keeps_it() -> None:
    """As trial's does, of a Deferred that failed: the traceback is in the message."""
    said = "no result:\n" + "  File 'x.py', line 3\n" * 100 + "LookupError: tf-16"
    raised = ReportException(type="FailTest", message=said)
    text = render(BREAKPOINT.model_copy(update={"exception": raised}), 700)
    first = text.splitlines()[0]
    assert first.startswith("exception FailTest: no result:\\n")
    assert first.endswith("LookupError: tf-16")
    assert CUT in first


def test_a_long_message_of_a_cause_leaves_room_for_places_and_source() -> None:
    """As those of `subprocess`, which have a whole command: the line at which it failed was not shown."""
    command = ", ".join(f"'--option-{number}'" for number in range(40))
    report = BREAKPOINT.model_copy(
        update={
            "exception": ReportException(
                type="TimeoutExpired",
                message=f"3 second timeout expired running: ({command})",
                raised=LIBRARY,
                ended="fails tests/test_shop.py::test_that_it_does_not_hang_where_it_did",
                chain=[
                    ReportCause(
                        relation="context",
                        type="TimeoutExpired",
                        message=f"Command '({command})' timed out after 3 seconds",
                        place=DEEP,
                    )
                ],
            )
        }
    )
    text = render(report, REPORT_BYTES)
    assert "\n>10     total += price(item)" in text
    assert "… at lib/call.py:7 in call\n" in text


def test_the_end_of_what_was_printed_is_what_counts() -> None:
    printed = "".join(f"line {n}\n" for n in range(1000)) + "KeyError: 'x'\n"
    ended = Report(
        status=Phase.TERMINATED, end="ended: exit code 1", failed=True, printed={"stderr": printed}
    )
    text = render(ended, 100)
    assert text.startswith("ended: exit code 1\nstderr ends: …\n")
    assert text.endswith("\n line 999\n KeyError: 'x'")


def test_no_stream_takes_the_place_of_another() -> None:
    """A flood on one leaves the other its share; the one that says why it failed gets more."""
    flood = "".join(f"line {n}\n" for n in range(1000))
    for failed in (False, True):
        for one, other in (("stdout", "stderr"), ("stderr", "stdout")):
            ended = Report(
                status=Phase.TERMINATED,
                end="ended",
                failed=failed,
                printed={one: flood, other: "short\n"},
            )
            text = render(ended, 300)
            assert text.endswith(f"\n line 999\n{other} ends:\n short")
            assert len(text.encode()) > 280
    both = {"stdout": flood, "stderr": flood}
    report = Report(status=Phase.TERMINATED, end="ended", printed=both)
    half, _, rest = render(report, 700).partition("stderr ends: …\n")
    assert abs(len(half) - len(rest)) < 60
    half, _, rest = render(report.model_copy(update={"failed": True}), 700).partition("stderr")
    assert len(rest) > 1.7 * len(half)


frames = st.lists(
    st.builds(
        ReportFrame,
        name=st.text(max_size=40),
        path=st.none() | st.text(max_size=80),
        line=st.integers(0, 10**6),
        own=st.booleans(),
        shown=st.booleans(),
    ),
    max_size=12,
)
variables = st.lists(
    st.builds(
        ReportLocal,
        name=st.text(min_size=1, max_size=30),
        value=st.text(max_size=300),
        cut=st.booleans(),
        named=st.booleans(),
        news=st.sampled_from([None, "new", "changed"]),
        before=st.none() | st.text(max_size=60),
    ),
    max_size=12,
)
lines = st.integers(1, 10**5).flatmap(
    lambda first: st.lists(st.text(max_size=150), max_size=3).map(
        lambda texts: [SourceLine(line=n, text=t) for n, t in enumerate(texts, first)]
    )
)
reports = st.builds(
    Report,
    status=st.sampled_from(Phase),
    reason=st.none() | st.text(max_size=40),
    breakpoints=st.lists(st.text(max_size=6), max_size=3),
    returned=st.none() | st.text(max_size=200),
    exception=st.none()
    | st.builds(
        ReportException,
        type=st.text(max_size=50),
        message=st.text(max_size=500),
        raised=st.none() | st.just(LIBRARY),
    ),
    source=lines,
    locals=st.none() | variables,
    more_locals=st.integers(0, 1000),
    trouble=st.none() | st.text(max_size=200),
    stack=frames,
    end=st.none() | st.text(max_size=200),
    printed=st.dictionaries(st.sampled_from(["stdout", "stderr", "log"]), st.text(max_size=1000)),
    failed=st.booleans(),
    unwatched=st.none() | st.text(max_size=80),
    lost=st.none() | st.text(max_size=80),
    stopped_before=st.none() | st.text(max_size=80),
    never_hit=st.lists(st.text(max_size=80), max_size=5),
    misspelt=st.lists(st.text(max_size=80), max_size=2),
)


@settings(max_examples=60)
@given(report=reports, room=st.integers(100, 1500))
def test_a_report_always_fits_and_every_cut_is_marked(report: Report, room: int) -> None:
    text = render(report, room)
    whole = render(report, 10**6)
    assert len(text.encode()) <= room
    assert all(line == one_line(line) for line in text.split("\n"))
    if text != whole:
        assert CUT in text
        wanted = set(whole.split("\n"))
        assert all(CUT in line or line in wanted for line in text.split("\n"))


@given(text=st.text(), room=st.integers(3, 60))
def test_a_cut_text_is_its_beginning_and_a_mark(text: str, room: int) -> None:
    found = cut(text, room)
    assert len(found.encode()) <= room
    assert found == text or (found.endswith(CUT) and text.startswith(found[:-1]))


@given(text=st.text(st.characters(codec="utf-8", exclude_characters=CUT)), room=st.integers(3, 60))
def test_what_is_cut_within_has_its_beginning_a_mark_and_its_end(text: str, room: int) -> None:
    found = cut_within(text, room)
    beginning, _, end = found.rpartition(CUT)
    assert len(found.encode()) <= room
    assert found == text or (text.startswith(beginning) and text.endswith(end))
