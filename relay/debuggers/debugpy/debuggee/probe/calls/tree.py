"""The tree of recorded calls: equal siblings are one with a count, and its size has a bound.

Each call is a node below the call that made it, in the order in which they began. When a call ends
it is compared with its siblings: of equal ones only the first node is kept, and stands where the
last of them began, since the last calls led to where the recording ends. Beyond the bounds the middle
of long rows and the depths of what ended well are only counted; calls left by an exception are kept
longest.
"""

from __future__ import annotations

import itertools
import re
import threading
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact

CALL_OPEN, CALL_RETURNED, CALL_RAISED, CALL_STOPPED, CALL_UNSEEN = range(5)
"""Not over; it returned; an exception left it; one that is an answer did, as at an iteration's end; it is over,
and nobody knows how."""
_MOST_WITH_FAILURES = 25_000  # nodes: beyond it failures are thinned out, too
_MOST_ROOTS = 30
_SHOWN_THREADS = 2  # of threads that ran one after another
_NUMBER_IN_NAME = re.compile(r"[0-9a-f]*[0-9][0-9a-f]*")  # in a name: of a counter, or an address
_WIDTHS = ((4_000, 400), (10_000, 60), (15_000, 20), (18_000, 8))
"""Different calls that one call keeps below it, by how many the tree has."""
_LEAST_WIDTH = 4
_THIN_FROM = 12_000
"""Nodes: from here on calls that ended well keep only what they called themselves."""


class CallNode:
    """One call, or several equal ones."""

    __slots__ = (
        "arguments",
        "below",
        "calls",
        "children",
        "count",
        "fails",
        "function",
        "gone",
        "gone_calls",
        "gone_names",
        "is_handling",
        "kind",
        "known",
        "limit",
        "line",
        "outcome",
        "parent",
        "sign",
        "size",
        "yielded",
        "yields",
    )

    def __init__(self, function: Any, arguments: Any, parent: Any) -> None:
        self.function, self.arguments, self.parent = function, arguments, parent
        self.kind, self.outcome, self.line = CALL_OPEN, "", 0
        self.count = self.calls = self.size = 1
        self.children: list[CallNode] | None = None
        self.known: dict[int, CallNode] | None = None  # children that ended, by their signs
        self.sign: int | None = None  # equal for equal calls; None while it, or one below, is open
        self.gone = 0  # a sign of the children that are only counted
        self.gone_calls = 0  # those and all below them
        self.gone_names: dict[Any, int] | None = None  # their functions
        self.yields = 0
        self.yielded: tuple[str, ...] = ()  # the first values
        self.fails = False  # an exception left it, or one below
        self.limit = 0  # children below which none can be left out
        self.is_handling = False  # an exception, while it waits or has yielded; before 3.12


class ThreadRoot:
    """What the calls of a thread are below, or of several that ran one after another.

    The system gives the ident of a thread that is over to another one: a thread is known by its
    object. Of those whose names differ by a number, one that begins when another is over has the same
    root: so a thread for each request is no root for each.
    """

    __slots__ = ("ident", "kind", "more", "names", "node", "thread")

    def __init__(self, kind: str) -> None:
        self.kind, self.node = kind, CallNode(None, (), None)
        self.names: list[str] = []
        self.more = 0  # threads with other names than these
        self.ident, self.thread = 0, _no_thread

    def take(self, ident: int, thread: Any, name: str) -> None:
        """The thread makes calls from now on."""
        self.ident, self.thread = ident, _no_thread if thread is None else weakref.ref(thread)
        if name not in self.names:
            if len(self.names) < _SHOWN_THREADS:
                self.names.append(name)
            else:
                self.more += 1

    def is_over(self) -> bool:
        thread = self.thread()
        return thread is None or _thread_of_ident(self.ident) is not thread

    def name(self) -> str:
        more = [f"… {self.more} more"] if self.more else []
        return ", ".join(self.names + more)


def _no_thread() -> Any:
    """In place of a reference to a thread, where there is no object of one."""


def _thread_of_ident(ident: int) -> Any:
    return threading._active.get(ident)  # type: ignore[attr-defined]


def next_number(count: Any) -> int:
    """The number that an `itertools.count` gives next. To ask its `__reduce__` is deprecated: that warns,
    and a program may have warnings raised."""
    return int(repr(count)[len("count(") : -1])


class CallTree:
    """The calls of one recording, each below its caller, by threads."""

    def __init__(self) -> None:
        self.roots: dict[int, ThreadRoot] = {}  # by the idents of threads, which may be over
        self.all_roots: list[ThreadRoot] = []
        self.size = 0
        self._begun = itertools.count()  # counts in C: two threads never get the same

    def root_of(self, ident: int) -> CallNode:
        """What stands for the thread: what nobody of the program's own has called is below it."""
        root, thread = self.roots.get(ident), _thread_of_ident(ident)
        if root is None or (thread is not None and root.thread() is not thread):
            root = self.roots[ident] = self._root_for(ident, thread)
        return root.node

    def _root_for(self, ident: int, thread: Any) -> ThreadRoot:
        name = exact(str(thread.name)) if thread is not None else f"thread {ident}"
        kind = _NUMBER_IN_NAME.sub("#", name)
        for root in self.all_roots:
            if root.kind == kind and root.is_over():
                root.take(ident, thread, name)
                return root
        if len(self.all_roots) >= _MOST_ROOTS:
            name = kind = "other threads"
        if len(self.all_roots) <= _MOST_ROOTS:
            self.all_roots.append(ThreadRoot(kind))
        root = self.all_roots[-1]
        root.take(ident, thread, name)
        return root

    def total(self) -> int:
        """How many calls have begun, those that were folded included."""
        return next_number(self._begun)

    def begin(self, function: Any, arguments: Any, parent: CallNode) -> CallNode:
        """The node of a call that has begun, the last of its parent's children."""
        next(self._begun)
        node = CallNode(function, arguments, parent)
        if parent.children is None:
            parent.children = [node]
        else:
            parent.children.append(node)
        self.size += 1
        return node

    def end(self, node: CallNode, kind: int, outcome: str, line: int = 0) -> None:
        """A call ends: it is counted with an equal one, or stays."""
        node.kind, node.outcome, node.line = kind, outcome, line
        parent, node.parent = node.parent, None
        self._sum(node)
        if parent is None:
            return
        siblings = parent.children
        if not siblings or (siblings[-1] is not node and node not in siblings):
            return  # it was left out: its row had become too long
        equal = self._equal_sibling(node, parent, siblings)
        if equal is not None:
            equal.count += 1
            self._put_in_place(equal, node, siblings)
            self.size -= node.size
            return
        if self.size > _THIN_FROM and kind != CALL_RAISED and node.size > _LEAST_WIDTH:
            self._thin(node)
        if len(siblings) > _LEAST_WIDTH:
            self._narrow(parent, siblings)

    def _sum(self, node: CallNode) -> None:
        sign = (node.function.number, node.arguments, node.kind, node.outcome, node.line)
        children = node.children
        if children is None and not node.gone_calls and not node.yields:
            node.sign, node.fails = hash(sign), node.kind == CALL_RAISED
            return
        node.known = None
        calls, size, is_over, fails = 1 + node.gone_calls, 1, True, node.kind == CALL_RAISED
        parts: list[Any] = [node.gone, node.yields]
        for child in children or ():
            calls += child.count * child.calls
            size += child.size
            fails = fails or child.fails
            if child.sign is None:
                is_over = False
            else:
                parts += (child.sign, child.count)
        node.calls, node.size, node.fails = calls, size, fails
        node.sign = hash((sign, node.yielded, tuple(parts))) if is_over else None

    def _equal_sibling(self, node: CallNode, parent: CallNode, siblings: list[Any]) -> Any:
        sign = node.sign
        if sign is None:
            return None
        if node.kind == CALL_RAISED:  # where it failed among its siblings is a fact of its own
            last = siblings[-2] if len(siblings) > 1 and siblings[-1] is node else None
            return last if last is not None and last.sign == sign else None
        known = parent.known
        if known is None:
            parent.known = {sign: node}
            return None
        found = known.setdefault(sign, node)
        if found is node or found.arguments != node.arguments or found.outcome != node.outcome:
            return None
        return found

    def _put_in_place(self, equal: CallNode, node: CallNode, siblings: list[Any]) -> None:
        """Of the places of the two the later one is left, to the one that stays."""
        at = len(siblings) - 1
        if siblings[at] is not node:
            at = siblings.index(node)
        siblings[at] = equal
        siblings.remove(equal)  # the first of its two places

    # Bounds

    def _width(self) -> int:
        size = self.size
        for most, width in _WIDTHS:
            if size < most:
                return width
        return _LEAST_WIDTH

    def _narrow(self, parent: CallNode, siblings: list[Any]) -> None:
        """Of a long row the first and the last stay."""
        width = self._width()
        if len(siblings) <= max(width + width // 2, parent.limit):
            return
        first, last = width // 2, len(siblings) - (width - width // 2)
        kept = siblings[:first]
        for child in siblings[first:last]:
            if self._must_stay(child):
                kept.append(child)
            else:
                self._count_only(parent, child)
        siblings[:last] = kept
        parent.limit = len(siblings) + width

    def _must_stay(self, child: CallNode) -> bool:
        if self.size >= _MOST_WITH_FAILURES:
            return child.kind == CALL_OPEN and not child.function.suspends
        return child.sign is None or child.fails

    def _thin(self, node: CallNode) -> None:
        """Of a call that ended well stays what it called itself."""
        for child in node.children or ():
            if child.sign is None or child.children is None:
                continue
            kept = []
            for one in child.children:
                if self._must_stay(one):
                    kept.append(one)
                else:
                    self._count_only(child, one)
            child.children = kept or None
            child.size = 1 + sum(one.size for one in kept)
        node.size = 1 + sum(child.size for child in node.children or ())

    def _count_only(self, parent: CallNode, child: CallNode) -> None:
        parent.gone = hash((parent.gone, child.sign, child.count))
        parent.gone_calls += child.count * child.calls
        if parent.gone_names is None:
            parent.gone_names = {}
        names = parent.gone_names
        names[child.function] = names.get(child.function, 0) + child.count
        self.size -= child.size
        if parent.known is not None and child.sign is not None:
            parent.known.pop(child.sign, None)


def _calls_of(node: CallNode) -> int:
    """The call and all below it; a call that is not over has not been summed up."""
    calls, waiting = 0, [node]
    while waiting:
        one = waiting.pop()
        if one.sign is not None:
            calls += one.count * one.calls
        else:  # one of its kind: only calls that are over have equal ones
            calls += 1 + one.gone_calls
            waiting += one.children or ()
    return calls


class CallRows:
    """A tree as rows for the relay: at most so many calls, each after the one that made it.

    What is nearest to the roots is taken, and what an exception left ahead of the rest, the last first.
    """

    def __init__(self, tree: CallTree, most: int) -> None:
        self.functions: dict[Any, int] = {}
        self.chosen: set[int] = set()
        self.rows: list[list[Any]] = []
        roots = list(tree.all_roots)
        self._choose([root.node for root in reversed(roots)], most)
        for root in roots:
            self._write(root.node, root.name() if len(roots) > 1 else "")

    def _choose(self, level: list[CallNode], most: int) -> None:
        while level and len(self.chosen) < most:
            below = [child for node in level for child in list(node.children or ())[::-1]]
            below.sort(key=lambda child: not child.fails and child.kind != CALL_OPEN)
            level = below[: most - len(self.chosen)]
            self.chosen.update(map(id, level))

    def _write(self, root: CallNode, thread: str) -> None:
        waiting = [(root, -1)]
        while waiting:
            node, depth = waiting.pop()
            children = list(node.children or ())
            shown = [child for child in children if id(child) in self.chosen]
            names, gone_calls = dict(node.gone_names or {}), node.gone_calls
            for child in children:
                if id(child) not in self.chosen:
                    names[child.function] = names.get(child.function, 0) + child.count
                    gone_calls += _calls_of(child)
            if node.function is not None or names or thread:
                self.rows.append([*self._row(node, depth, names, thread), gone_calls])
            waiting += [(child, depth + 1) for child in reversed(shown)]

    def _row(self, node: CallNode, depth: int, names: dict[Any, int], thread: str) -> list[Any]:
        number = -1 if node.function is None else self._number(node.function)
        head = [thread] if node.function is None else list(node.arguments)
        row = [depth, number, head, node.kind, node.outcome, node.line, node.count]
        gone = [[self._number(function), count] for function, count in names.items()]
        return [*row, node.yields, list(node.yielded), gone]

    def _number(self, function: Any) -> int:
        return self.functions.setdefault(function, len(self.functions))
