"""Compliance tests for tools that use the envelope contract, for programs and for pytest."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pegboard.contract.compliance_check import check
    from pegboard.contract.compliance_report import Failure, Report, Test
    from pegboard.contract.send_envelope import NoEnvelope, sender

__all__ = ["Failure", "NoEnvelope", "Report", "Test", "check", "sender"]

_MODULE_BY_NAME = {
    "Failure": "compliance_report",
    "NoEnvelope": "send_envelope",
    "Report": "compliance_report",
    "Test": "compliance_report",
    "check": "compliance_check",
    "sender": "send_envelope",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first access: pytest loads this package in every run."""
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module 'pegboard.contract' has no attribute '{name}'")
    return getattr(import_module(f"pegboard.contract.{_MODULE_BY_NAME[name]}"), name)
