"""The config of http tools."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from pegboard.kinds.config_fields import NonEmptyText, Seconds, StringMap, check_header, check_url, list_placeholders
from pegboard.model.base_model import Bounded, Model


class ParameterStyle(Model):
    """How an array or object is written into a URL, a header or a form."""

    style: Literal["form", "simple", "label", "matrix", "spaceDelimited", "pipeDelimited", "deepObject", "json"]
    explode: bool | None = Field(None, description="One entry an element; true for form, false otherwise if absent")
    allow_reserved: bool = Field(False, description="Whether :/?#[]@!$&'()*+,;= stay as they are in a query")


class HttpConfig(Model):
    """A request to a URL; `{param}` in the URL is filled from the arguments."""

    url: NonEmptyText
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    headers: StringMap = {}
    timeout: Seconds | None = None
    params_in: Annotated[dict[str, Literal["path", "query", "header", "cookie", "body"]], Bounded] = {}
    styles: Annotated[dict[str, ParameterStyle], Bounded] = {}
    wire_names: Annotated[dict[str, NonEmptyText], Bounded] = Field(
        {}, description="The name of a parameter upstream, if it differs"
    )
    body_format: Literal["json", "form", "multipart", "text", "binary"] = "json"
    body_param: NonEmptyText | None = Field(None, description="The one parameter that is the whole body")
    content_type: NonEmptyText | None = Field(None, description="The body's Content-Type, if it is not the usual one")
    part_types: Annotated[dict[str, NonEmptyText], Bounded] = Field(
        {}, description="Content-Type of single parts of a multipart body"
    )
    response: Literal["body", "full"] = "body"
    max_response_bytes: int | None = Field(None, ge=1, le=2**30)

    @model_validator(mode="before")
    @classmethod
    def _uppercase_method(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("method"), str):
            return {**data, "method": data["method"].upper()}
        return data

    @field_validator("url")
    @classmethod
    def _check_url(cls, url: str) -> str:
        return check_url(url, "url")

    @model_validator(mode="after")
    def _check_parts(self) -> HttpConfig:
        for name, value in self.headers.items():
            check_header(name, value)
        for media_type in (self.content_type, *self.part_types.values()):
            check_header("Content-Type", media_type)
        for name, place in self.params_in.items():
            if place == "header":
                check_header(self.wire_names.get(name, name))
        in_url = set(self.placeholders)
        for name, place in self.params_in.items():
            if place == "path" and name not in in_url:
                raise ValueError(f"params_in puts '{name}' in the path, but url has no {{{name}}}")
        if self.body_param is not None and self.body_param in in_url:
            raise ValueError(f"body_param '{self.body_param}' is in the url already")
        return self

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names of the placeholders in the URL."""
        return list_placeholders(self.url)
