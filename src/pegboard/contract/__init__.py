"""Whether a tool keeps the contract of envelopes: the checks, for programs and for pytest."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pegboard.contract.checking import check
    from pegboard.contract.report import Failure, Report, Test
    from pegboard.contract.sending import NoEnvelope, sender

__all__ = ["Failure", "NoEnvelope", "Report", "Test", "check", "sender"]

_HOME = {
    "Failure": "report",
    "NoEnvelope": "sending",
    "Report": "report",
    "Test": "report",
    "check": "checking",
    "sender": "sending",
}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first asked for: pytest loads this package in every run."""
    if name not in _HOME:
        raise AttributeError(f"module 'pegboard.contract' has no attribute '{name}'")
    return getattr(import_module(f"pegboard.contract.{_HOME[name]}"), name)
