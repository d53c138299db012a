"""What runs when a tool of the baseline is called."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from orjson import Fragment, dumps

from pegboard.builtins.baseline.baseline import BATCH_SIZE, Baseline
from pegboard.builtins.baseline.tools import BATCH_BASELINE_QUERY, QUERY_BASELINE, RECORD_FINDINGS, RESOLVE_FINDINGS
from pegboard.core.call import CallContext
from pegboard.core.errors import ExecutionFailed, FieldProblem, InvalidArguments
from pegboard.core.refusals import Invalid, Refusal

# A place in a list, which is told to a model as it is to a program.
_PLACE = re.compile(r"\.(\d+)")


def baseline_handlers(baseline: Baseline) -> Mapping[str, Callable[..., Awaitable[Any]]]:
    """A handler for each tool of the baseline, by its name."""

    async def query_baseline(
        context: CallContext,
        finding_id: str,
        composite_hash: str,
        query_type: str,
        additional_params: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """What the baseline knows of one finding."""
        with _refusals():
            (payload,) = await baseline.query(
                [finding_id], [composite_hash], context.caller, **_scope(additional_params)
            )
            return payload

    async def batch_baseline_query(
        *,
        context: CallContext,
        finding_ids: list[str],
        composite_hashes: list[str],
        query_type: str,
        batch_size: int = BATCH_SIZE,
        additional_params: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """What the baseline knows of each finding."""
        more = _scope(additional_params)
        with _refusals():
            # To JSON Schema 2.0 is an integer too.
            asked = baseline.query(finding_ids, composite_hashes, context.caller, batch_size=int(batch_size), **more)
            # As text: the board need not look through what is JSON already.
            return {"results": Fragment(dumps(await asked))}

    async def record_findings(
        context: CallContext, findings: list[dict[str, Any]], additional_params: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """How many of the findings were new, known, and open again."""
        with _refusals():
            return (await baseline.record(findings, context.caller, **_scope(additional_params)))._asdict()

    async def resolve_findings(
        context: CallContext,
        composite_hashes: list[str] | None = None,
        findings: list[dict[str, Any]] | None = None,
        additional_params: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """How many of the findings are resolved now, were already, and are not known."""
        more: dict[str, Any] = {"composite_hashes": composite_hashes, "findings": findings, **_scope(additional_params)}
        with _refusals():
            return (await baseline.resolve(context.caller, **more))._asdict()

    return {
        QUERY_BASELINE.name: query_baseline,
        BATCH_BASELINE_QUERY.name: batch_baseline_query,
        RECORD_FINDINGS.name: record_findings,
        RESOLVE_FINDINGS.name: resolve_findings,
    }


def _scope(additional_params: dict[str, Any] | None) -> dict[str, Any]:
    """What is known of the free object that the contract has here; the rest is ignored."""
    return {"scope": additional_params["scope"]} if additional_params and "scope" in additional_params else {}


@contextmanager
def _refusals() -> Iterator[None]:
    """What the baseline refuses, as the error of a call that did nothing."""
    try:
        yield
    except Invalid as error:
        named = [(_PLACE.sub(r"[\1]", it.field), it.message) for it in error.faults]
        problems = [FieldProblem("custom", f"Field '{field}' {message}", field) for field, message in named]
        listed = "; ".join(problem.message for problem in problems[:5])
        invalid = InvalidArguments(f"Invalid parameters: {listed}", problems=problems)
        invalid.did_run = False
        raise invalid from None
    except Refusal as error:
        refused = ExecutionFailed(error.message)
        refused.did_run = False
        raise refused from None
