"""The answer to anything in an envelope is an envelope."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.dialects.envelope import REQUIRED_FIELDS
from pegboard.model.json_text import json_text
from pegboard.model.timestamps import read_instant
from pegboard.testing import calls_of, memory_board
from tests.unit.dialects.framework_payloads import JSON

TOOLS = st.sampled_from(["echo", "math_eval", "query_baseline", "batch_baseline_query", "record_findings", "nothing"])
REQUESTS = st.fixed_dictionaries(
    {"tool_name": TOOLS | JSON},
    optional={
        "args": st.dictionaries(st.sampled_from(["expression", "finding_id", "findings", "x"]), JSON) | JSON,
        "request_id": st.uuids().map(str) | JSON,
        "timestamp": st.sampled_from(["2026-01-01T00:00:00Z", "1970-01-01T00:00Z", "9999-01-01T00:00Z"]) | JSON,
        "version": st.sampled_from(["1.0", "1.1", "2.0"]) | JSON,
        "chain": st.sampled_from([{"id": "c"}, {"id": "c", "step": "s"}]) | JSON,
        "progress": JSON,
        "status": JSON,
    },
).filter(lambda item: item.keys() & set(REQUIRED_FIELDS[1:]))


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(requests=st.lists(REQUESTS, min_size=1, max_size=8))
async def test_every_object_with_a_tools_name_and_any_other_field_is_answered_with_an_envelope(
    requests: list[dict[str, Any]],
) -> None:
    async with memory_board() as board:
        for request in requests:
            answer = orjson.loads(json_text(await board.run(request)))
            assert answer["status"] in ("new", "existing", "error"), answer
            assert (answer["payload"] is None) == (answer["status"] == "error") == bool(answer["error_msg"])
            assert type(answer["processing_time_ms"]) is int and answer["processing_time_ms"] >= 1
            assert answer["version"] in ("1.0", "1.1") and ("attempts" in answer) == (answer["version"] == "1.1")
            assert isinstance(answer["tool_name"], str) and isinstance(answer["request_id"], str)
            if answer["status"] != "error":
                assert read_instant(answer["timestamp"]) > read_instant(request["timestamp"])
        assert len(await calls_of(board)) == len(requests)
