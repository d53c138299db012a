"""A pytest fixture for the compliance tests; it imports nothing else until a test uses it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pegboard.contract.compliance_report import Report
    from pegboard.contract.send_envelope import Send

_OPTION = "--pegboard-contract"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the URL of the tools."""
    parser.getgroup("pegboard").addoption(
        _OPTION, metavar="URL", help="Where envelopes are posted to that the fixture contract_check sends"
    )


@pytest.fixture
def contract_check(pytestconfig: pytest.Config) -> Callable[..., Awaitable[Report]]:
    """Run the compliance tests against a tool: fails the test with the report, or gives it."""

    async def run_check(
        tool: str, args: Mapping[str, Any] | None = None, *, send: Send | None = None, **options: Any
    ) -> Report:
        from pegboard.contract.compliance_check import check  # noqa: PLC0415 -- other test runs do without
        from pegboard.contract.send_envelope import sender  # noqa: PLC0415 -- other test runs do without

        __tracebackhide__ = True
        if send is not None:
            report = await check(send, tool, args, **options)
        else:
            url = pytestconfig.getoption(_OPTION)
            if url is None:
                pytest.skip(f"no server to check: give {_OPTION} URL, or a `send` of your own")
            async with sender(url) as over_http:
                report = await check(over_http, tool, args, **options)
        if not report.passed:
            pytest.fail(report.text, pytrace=False)
        return report

    return run_check
