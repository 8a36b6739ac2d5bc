"""Sources that differ from a module's in one point, drawn by lot: another operator, a number that is one more, a
statement or a result left out, the other branch, another exception."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


class Point:
    """A place in the source, and what stands there instead."""

    def __init__(self, node: ast.expr | ast.stmt, text: str, kind: str) -> None:
        self.node, self.text, self.kind = node, text, kind

    def applied(self, source: str) -> str:
        """The source with it, line by line the same but for this."""
        lines = source.encode().splitlines(keepends=True)
        first, last = self.node.lineno - 1, (self.node.end_lineno or 0) - 1
        before = lines[first][: self.node.col_offset]
        after = lines[last][self.node.end_col_offset :]
        lines[first : last + 1] = [before + self.text.encode() + after]
        return b"".join(lines).decode()


def mutants(source: str, dice: random.Random) -> Iterator[tuple[str, str]]:
    """Where and what, and the source; each kind of point as often as another."""
    kinds: dict[str, list[Point]] = {}
    for point in _points(ast.parse(source)):
        kinds.setdefault(point.kind, []).append(point)
    while kinds:
        kind = dice.choice(sorted(kinds))
        points = kinds[kind]
        point = points.pop(dice.randrange(len(points)))
        if not points:
            del kinds[kind]
        yield f"{kind} in line {point.node.lineno}: {point.text}", point.applied(source)


def _points(tree: ast.Module) -> Iterator[Point]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                for node in ast.walk(statement):
                    yield from _of(node)


def _of(node: ast.AST) -> Iterator[Point]:
    match node:
        case ast.Compare(left, [operator], [right]) if type(operator) in COMPARISONS:
            other = ast.Compare(left, [COMPARISONS[type(operator)]()], [right])
            yield Point(node, ast.unparse(other), "comparison")
        case ast.BinOp(left, ast.Add() | ast.Sub() as operator, right):
            swapped = ast.Sub() if isinstance(operator, ast.Add) else ast.Add()
            other_sum = ast.BinOp(left, swapped, right)
            yield Point(node, f"({ast.unparse(other_sum)})", "arithmetic")
        case ast.Constant(bool(value)):
            yield Point(node, repr(not value), "constant")
        case ast.Constant(int(value)):
            yield Point(node, repr(value + 1), "constant")
        case ast.If(test):
            yield Point(test, f"(not ({ast.unparse(test)}))", "branch")
        case ast.Return(ast.expr() as value):
            yield Point(value, "None", "result")
        case ast.Raise(ast.Call(function)):
            yield Point(function, "RuntimeError", "exception")
        case ast.Assign([ast.Attribute() | ast.Subscript()]) | ast.AugAssign():
            yield Point(node, "pass", "state")
        case ast.Expr(ast.Call()):
            yield Point(node, "pass", "statement")
