"""The config of internal tools."""

from __future__ import annotations

from pydantic import model_validator

from pegboard.kinds.config_fields import NonEmptyText
from pegboard.model.base_model import Model
from pegboard.model.chain import CHAIN_HANDLER, Chain


class InternalConfig(Model):
    """A handler that the process running the board provides; `chain` is what the handler of that name runs."""

    handler: NonEmptyText
    chain: Chain | None = None

    @model_validator(mode="after")
    def _check_chain_handler(self) -> InternalConfig:
        if (self.chain is not None) != (self.handler == CHAIN_HANDLER):
            raise ValueError(f"chain is only for the handler '{CHAIN_HANDLER}', which requires it")
        return self
