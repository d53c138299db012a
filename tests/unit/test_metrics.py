"""What Prometheus is told of broken contracts."""

from __future__ import annotations

from pegboard.telemetry.metrics import Metrics


def test_violations_are_counted_by_tool() -> None:
    metrics = Metrics()
    metrics.violated("a", 3)
    metrics.violated("b", 1)
    metrics.violated("a", 1)
    text = metrics.text().decode()
    assert 'pegboard_contract_violations_total{tool="a"} 4.0' in text
    assert 'pegboard_contract_violations_total{tool="b"} 1.0' in text


def test_beyond_a_thousand_tools_the_others_share_one_count() -> None:
    metrics = Metrics()
    for number in range(1200):
        metrics.violated(f"tool-{number}", 1)
    metrics.violated("tool-5", 1)
    text = metrics.text().decode()
    assert text.count("pegboard_contract_violations_total{") == 1001
    assert 'pegboard_contract_violations_total{tool="other"} 200.0' in text
    assert 'pegboard_contract_violations_total{tool="tool-5"} 2.0' in text
