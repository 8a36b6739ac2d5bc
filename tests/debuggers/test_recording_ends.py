"""Programs whose writes and calls are recorded end as they would without: no crash, no word more.

Before 3.12 recordings are trace functions of pydevd's, and nothing of C's is left to end.
"""

from __future__ import annotations

from pathlib import Path

from tests.debuggers.bare_ends import assert_ends_well, in_each_way

PROGRAM = """
def move(point, by=1):
    point.x += by
    return point.x
states = [probe.WatchedState(kind, key) for kind, key in (
    ("attribute", "x"), ("global", "rate"), ("item", "k"), ("list_item", 0), ("cell", "shared"))]
recorder = probe.WriteRecorder(states)
assert recorder.listener.start()
record = probe.CallRecord(probe.CallScope([], [__file__], None), None)
assert probe.CallsMonitor(record).start()
point, rate, prices, queue = Point(), 1, {"k": 1}, [0]
for turn in range(20):
    prices["k"] = queue[0] = move(point, turn)
def counted():
    log = recorder.watches[0].log.of(point)
    return log.count, recorder.watches[0].failure, record.answer(10)["calls"] > 20
assert counted() == (20, None, True), counted()
"""
ENDS = {
    "quiet": "",
    "exit": "sys.exit(0)",
    "deletes": """
        class Late:
            def __del__(self):
                move(point)
                globals()["rate"] = prices["k"] = 9
        late = Late()
        point.late = late
        """,
    "threads": """
        import threading
        def work():
            while True:
                move(point)
                prices["k"] = queue[0] = point.x
        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        """,
    "atexit": """
        import atexit
        def last():
            prices["k"] = queue[0] = move(point)
        atexit.register(last)
        """,
    "generator": """
        def steps():
            shared = 0
            try:
                while True:
                    shared += move(point)
                    yield lambda: shared
            finally:
                shared = move(point)
        left = steps()
        next(left)
        """,
    "fork": """
        import os, warnings
        warnings.simplefilter("ignore")
        child = os.fork()
        move(point)
        if child:
            assert os.waitpid(child, 0)[1] == 0
        """,
}


@in_each_way(ENDS)
def test_a_process_ends_well_while_it_is_recorded(version: str, end: str, tmp_path: Path) -> None:
    assert_ends_well(version, PROGRAM + end, tmp_path)
