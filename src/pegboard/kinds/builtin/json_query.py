"""`json_query`: selects and reshapes parts of a JSON value with a JMESPath query."""

from __future__ import annotations

import math
from difflib import get_close_matches
from typing import Any

import jmespath
from jmespath.exceptions import ArityError, JMESPathTypeError, ParseError, UnknownFunctionError
from jmespath.functions import TYPES_MAP, Functions
from jmespath.parser import Parser
from jmespath.visitor import Options, TreeInterpreter

from pegboard.kinds.builtin.base import Builtin, is_number, read_text_argument
from pegboard.model.call_errors import ExecutionFailed

MAX_QUERY_LENGTH = 2_000
MAX_CACHED_QUERY_LENGTH = 200
MAX_STEPS = 250_000
MAX_RESULT_CHARACTERS = 8 * 2**20


class _Budget:
    """Limits the steps of a query and the size of the values that it builds.

    A value may contain one list many times (`[@, @] | [@, @] | …`): small in memory, but gigabytes when it is
    serialised, compared or flattened. Therefore every operation that walks a whole value is charged for its size
    first.
    """

    def __init__(self) -> None:
        self._left = MAX_STEPS
        # The value is stored with its size, so that its id is not reused.
        self._sizes: dict[int, tuple[int, Any]] = {}

    def spend(self, steps: int) -> None:
        """Count these steps; raise ExecutionFailed if the budget is used up."""
        self._left -= steps
        if self._left < 0:
            raise ExecutionFailed("The query takes too many steps on this data; select less or query a smaller part")

    def walk(self, count: int) -> None:
        """Charge for reading that many elements or characters, which is cheaper than visiting a node for each."""
        self.spend(count // 16)

    def size(self, value: Any) -> int:
        """Return the approximate length of the value as JSON; raise ExecutionFailed if it is not JSON or too large."""
        if isinstance(value, str):
            size = len(value) + 2
        elif isinstance(value, list | dict):
            known = self._sizes.get(id(value))
            if known is not None:
                return known[0]
            self.walk(len(value))
            parts = value if isinstance(value, list) else [*value, *value.values()]
            size = 2 + len(value) + sum(self.size(part) for part in parts)
            self._sizes[id(value)] = (size, value)
        elif _is_json_number(value):
            size = 4
        else:
            raise ExecutionFailed("The query returns a number or an expression that is not JSON; select values only")
        if size > MAX_RESULT_CHARACTERS:
            raise ExecutionFailed(
                f"The query builds a value of more than {MAX_RESULT_CHARACTERS >> 20} MiB; select less"
            )
        return size


def _is_json_number(value: Any) -> bool:
    if isinstance(value, int):
        return -(2**63) <= value < 2**64
    return value is None or (isinstance(value, float) and math.isfinite(value))


class _Functions(Functions):
    def __init__(self, budget: _Budget) -> None:
        self._budget = budget

    def call_function(self, function_name: str, resolved_args: Any) -> Any:
        walked = (value for value in resolved_args if isinstance(value, str | list | dict))
        self._budget.walk(sum(self._budget.size(value) for value in walked))
        return super().call_function(function_name, resolved_args)


class _Interpreter(TreeInterpreter):
    def __init__(self, budget: _Budget) -> None:
        super().__init__(Options(custom_functions=_Functions(budget)))
        self._budget = budget

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        self._budget.spend(1)
        return super().visit(node, *args, **kwargs)

    def visit_flatten(self, node: Any, value: Any) -> Any:
        base = self.visit(node["children"][0], value)
        if not isinstance(base, list):
            return None
        self._budget.walk(sum(len(element) if isinstance(element, list) else 1 for element in base))
        return [inner for element in base for inner in (element if isinstance(element, list) else (element,))]

    def visit_slice(self, node: Any, value: Any) -> Any:
        if isinstance(value, list):
            self._budget.walk(len(value))
        return super().visit_slice(node, value)

    def visit_comparator(self, node: Any, value: Any) -> Any:
        left, right = [self.visit(child, value) for child in node["children"]]
        if type(left) is type(right) and isinstance(left, str | list | dict):
            self._budget.walk(min(self._budget.size(left), self._budget.size(right)))
        ordered = (is_number(left) and is_number(right)) or (isinstance(left, str) and isinstance(right, str))
        return self.COMPARATOR_FUNC[node["value"]](left, right) if ordered or node["value"] in ("eq", "ne") else None


def json_query(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the value that the query selects from the data under `result`; null if nothing matches."""
    if "data" not in arguments:
        raise ExecutionFailed("'data' is missing; give the JSON value to query")
    query = read_text_argument(arguments, "query", MAX_QUERY_LENGTH)
    budget = _Budget()
    try:
        result = _Interpreter(budget).visit(_parse_query(query), arguments["data"])
        budget.size(result)
    except RecursionError:
        raise ExecutionFailed("The query or the data is nested too deeply; simplify the query") from None
    except (ValueError, TypeError, ArithmeticError) as error:
        raise ExecutionFailed(_explain_error(error, query)) from None
    return {"result": result}


def _parse_query(query: str) -> Any:
    parsed = jmespath.compile(query).parsed
    if len(query) > MAX_CACHED_QUERY_LENGTH:
        # The package caches parsed queries; a few hundred long ones would take hundreds of megabytes.
        Parser.purge()
    return parsed


def _explain_error(error: Exception, query: str) -> str:
    if isinstance(error, JMESPathTypeError):
        wanted = " or ".join(error.expected_types).replace("array-", "array of ")
        given = TYPES_MAP.get(error.actual_type, error.actual_type)
        return f"{error.function_name}() in the query takes {wanted}, but was given {given}"
    if isinstance(error, UnknownFunctionError):
        name = str(error).removeprefix("Unknown function: ").removesuffix("()")[:40]
        close = get_close_matches(name, Functions.FUNCTION_TABLE, n=1)
        hint = f"did you mean '{close[0]}'? " if close else ""
        return f"Unknown function '{name}' in the query; {hint}available: {', '.join(sorted(Functions.FUNCTION_TABLE))}"
    if isinstance(error, ParseError) and not isinstance(error, ArityError):
        at = min(error.lex_position, len(query))
        what = f"Unexpected {query[at : at + 20]!r}" if at < len(query) else "The query ends too early"
        return f"{what} at position {at + 1} of the query; it must be JMESPath, like items[?price > `10`].name"
    return f"The query cannot be run: {str(error)[:200]}"


JSON_QUERY = Builtin(
    name="json_query",
    display_name="JSON Query",
    description=(
        "Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; "
        "null if nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. "
        "Numbers in a query stand in backticks (`10`), strings in single quotes ('red'). It has no arithmetic."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."},
            "query": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_QUERY_LENGTH,
                "description": "The JMESPath expression.",
                "examples": [
                    "items[0].name",
                    "items[?price > `10`].{name: name, price: price}",
                    "sort_by(items, &price)[-1]",
                    "length(items)",
                ],
            },
        },
        "required": ["data", "query"],
        "examples": [
            {
                "data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]},
                "query": "items[?price > `10`]",
            }
        ],
    },
    output_schema={
        "type": "object",
        "properties": {"result": {"description": "What the query selects; null if nothing matches."}},
        "required": ["result"],
    },
    run=json_query,
)
