"""Small checked expressions over named numbers, as experiments write them: "a / b >= 3.9".

Arithmetic, comparisons, and/or/not, a few functions; nothing that could reach further.  What is
wrong with a text is said when it is read, not when it is used.  Numbers have a size that they cannot
exceed, so that no expression takes long.
"""

import ast
import math
import operator

from .machine import UsageError

FUNCTIONS = {"abs": abs, "ceil": math.ceil, "floor": math.floor, "log2": math.log2, "max": max,
             "min": min, "round": round, "sqrt": math.sqrt}
LARGEST_BITS = 1024  # of whole numbers; about where those with a fraction end


def _bounded(value):
    if isinstance(value, int) and value.bit_length() > LARGEST_BITS:
        raise OverflowError("the number is too large")
    return value


def _power(base, exponent):
    if isinstance(base, int) and isinstance(exponent, int) and exponent > 0 \
            and base.bit_length() * exponent > 2 * LARGEST_BITS:
        raise OverflowError("the power is too large")
    return base ** exponent


def _product(left, right):
    if isinstance(left, str) or isinstance(right, str):
        raise TypeError("a text has no multiples")
    return left * right


def _remainder(left, right):
    if isinstance(left, str):
        raise TypeError("a text has no remainder")
    return left % right


ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: _product,
              ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: _remainder,
              ast.Pow: _power}
COMPARISONS = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
               ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne}
UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}


class Formula:
    """A text, read; names: what its values must hold."""

    def __init__(self, text):
        self.text = text
        self.names = set()
        try:
            self._tree = ast.parse(text, mode="eval").body
            self._check(self._tree)
        except (SyntaxError, ValueError) as error:
            raise UsageError(f"{text!r} is no expression") from error
        except (MemoryError, RecursionError) as error:
            raise UsageError("an expression is nested too deeply") from error

    def _check(self, node):
        """Collects the names; a UsageError on what is not for experiments."""
        kind, inner = type(node), list(ast.iter_child_nodes(node))
        if kind is ast.Name:
            self.names.add(node.id)
            return
        if kind is ast.Call:
            if (node.keywords or not isinstance(node.func, ast.Name)
                    or node.func.id not in FUNCTIONS):
                raise UsageError(f"{self.text!r}: the functions are {', '.join(FUNCTIONS)}")
            inner = node.args
        elif kind is ast.BinOp:
            known = type(node.op) in ARITHMETIC
            inner = [node.left, node.right] if known else None
        elif kind is ast.Compare:
            known = all(type(op) in COMPARISONS for op in node.ops)
            inner = [node.left, *node.comparators] if known else None
        elif kind is ast.UnaryOp:
            inner = [node.operand] if type(node.op) in UNARY else None
        elif kind is ast.BoolOp:
            inner = node.values
        elif kind is ast.Constant and isinstance(node.value, (int, float, str)):
            inner = []
        elif kind is not ast.IfExp:
            inner = None
        if inner is None:
            raise UsageError(f"{self.text!r}: {ast.unparse(node)!r} has no place in an expression")
        for one in inner:
            self._check(one)

    def __call__(self, values):
        """Its value with these; a UsageError if it has none."""
        try:
            return self._value(self._tree, values)
        except KeyError as error:
            raise UsageError(f"{self.text!r}: there is no {error.args[0]!r}") from error
        except (ArithmeticError, TypeError, ValueError) as error:
            raise UsageError(f"{self.text!r}: {error}") from error

    def _value(self, node, values):
        def value(one):
            return self._value(one, values)

        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return values[node.id]
            case ast.Call():
                return FUNCTIONS[node.func.id](*map(value, node.args))
            case ast.BinOp():
                return _bounded(ARITHMETIC[type(node.op)](value(node.left), value(node.right)))
            case ast.UnaryOp():
                return UNARY[type(node.op)](value(node.operand))
            case ast.BoolOp():
                parts = map(value, node.values)
                return all(parts) if isinstance(node.op, ast.And) else any(parts)
            case ast.IfExp():
                return value(node.body if value(node.test) else node.orelse)
        sides = [value(one) for one in (node.left, *node.comparators)]
        return all(COMPARISONS[type(op)](left, right)
                   for op, left, right in zip(node.ops, sides, sides[1:]))
