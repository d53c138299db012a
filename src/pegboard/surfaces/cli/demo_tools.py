"""The tools, users and agents of `pegboard demo traffic`: those of a shop's customer support."""

from __future__ import annotations

from typing import Any

# On each tool, so that a later run and `pegboard demo remove` find them.
DEMO_TAG = "demo-traffic"
SERVER_NAME = "demo-warehouse"
PREFIX = "shop_"
THREAD_TITLE = "Where is order 1042?"
KEY_NAME = "demo traffic"
AGENT_DESCRIPTION = "Made by pegboard demo traffic"

CITIES = ("Lisbon", "Oslo", "Bern", "Kyoto", "Quito")
ORDERS = ("1042", "1043", "1050", "1077")
ARTICLES = ("LAMP-2", "DESK-1", "CHAIR-7")
# The agents of each user, with the tools of each agent.
USERS: dict[str, dict[str, tuple[str, ...]]] = {
    "demo-ana": {"demo-support": ("shop_find_order", "shop_refund", "shop_total", "shop_answer_time")},
    "demo-ben": {"demo-warehouse": ("shop_find_order", "shop_total", "shop_notify")},
}

_ORDER = {"type": "string", "description": "Number of the order, e.g. 1042", "pattern": "^[0-9]{4}$"}


def _build_mock(
    name: str, description: str, properties: dict[str, Any], config: dict[str, Any], **fields: Any
) -> dict[str, Any]:
    required = [key for key, schema in properties.items() if "default" not in schema]
    return {
        "name": f"{PREFIX}{name}",
        "description": description,
        "tool_type": "mock",
        "config": config,
        "input_schema": {"type": "object", "properties": properties, "required": required},
        "is_public": True,
        "tags": [DEMO_TAG],
        **fields,
    }


TOOLS: tuple[dict[str, Any], ...] = (
    _build_mock(
        "find_order",
        "Find an order by its number: its articles, where it goes and its state.",
        {"order": _ORDER},
        {
            "mock_response": {"found": False},
            "mock_responses": [
                {
                    "when": {"order": number},
                    "respond": {"found": True, "articles": [article], "city": city, "state": state},
                }
                for number, article, city, state in zip(
                    ORDERS, (*ARTICLES, ARTICLES[0]), CITIES, ("packed", "sent", "paid", "returned"), strict=False
                )
            ],
        },
        display_name="Find order",
        read_only=True,
        keep_arguments=True,
        keep_result=True,
    ),
    _build_mock(
        "refund",
        "Pay the price of an order back to the customer. Ask the customer first.",
        {
            "order": _ORDER,
            "reason": {"type": "string", "enum": ["returned", "damaged", "late"]},
            "percent": {"type": "integer", "minimum": 1, "maximum": 100, "default": 100},
        },
        {"mock_response": {"refunded": True}},
        display_name="Refund",
        destructive=True,
        keep_arguments=True,
        keep_result=True,
        rate_limit={"max_calls": 10, "period": "minute", "burst": 2},
    ),
    {
        "name": f"{PREFIX}total",
        "display_name": "Total",
        "description": "Compute a price, such as 3 * 79.5.",
        "tool_type": "builtin",
        "config": {"operation": "math_eval"},
        "input_schema": {
            "type": "object",
            "properties": {"expression": {"type": "string"}},
            "required": ["expression"],
        },
        "is_public": True,
        "read_only": True,
        "keep_arguments": True,
        "keep_result": True,
        "tags": [DEMO_TAG],
    },
    _build_mock(
        "answer_time",
        "How long a customer in a city waits for an answer, in minutes.",
        {"city": {"type": "string"}},
        {
            "mock_response": {"minutes": 12},
            "mock_responses": [{"when": {"city": "Quito"}, "respond": {"minutes": "not known"}}],
        },
        display_name="Answer time",
        read_only=True,
        keep_arguments=True,
        output_schema={"type": "object", "properties": {"minutes": {"type": "integer"}}, "required": ["minutes"]},
    ),
    _build_mock(
        "notify",
        "Send a text message to the customer of an order.",
        {"order": _ORDER, "text": {"type": "string", "maxLength": 160}},
        {"mock_response": {"sent": False}},
        display_name="Notify",
        is_active=False,
    ),
)

# A tool that its owner has made fail on purpose: a carrier that never answers, with a second attempt and a fallback.
CARRIER_PATCH: dict[str, Any] = {
    "retry": {"max_attempts": 2, "on": ["execution_failed"], "backoff_ms": 10},
    "fallback": {"value": {"cost": None, "note": "The carrier did not answer; ask again tomorrow"}},
}

CHAIN: dict[str, Any] = {
    "steps": [
        {"id": "order", "tool": "shop_find_order", "arguments": {"order": "{{input.order}}"}},
        {
            "id": "wait",
            "tool": "shop_answer_time",
            "arguments": {"city": "{{steps.order.output.city}}"},
            "when": "{{steps.order.output.found}}",
        },
        {"id": "total", "tool": "shop_total", "arguments": {"expression": "79.5 * {{input.pieces}}"}},
    ],
    "output": {"order": "{{steps.order.output}}", "minutes": "{{steps.wait.output.minutes}}"},
}
CHAIN_TOOL: dict[str, Any] = {
    **CHAIN,
    "save": True,
    "name": "shop_order_summary",
    "description": "An order with its price, and how long its customer waits for an answer.",
    "input_schema": {
        "type": "object",
        "properties": {"order": _ORDER, "pieces": {"type": "integer", "minimum": 1}},
        "required": ["order", "pieces"],
    },
    "is_public": True,
    "tags": [DEMO_TAG],
}
