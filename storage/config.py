"""What comes from the environment (or .env): places, the zone, endpoints and secrets."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from storage.errors import NightkeeperError


class ChatEndpoint(BaseModel):
    """A chat model: its wire, address, name and key."""

    model_config = ConfigDict(frozen=True)

    wire: Literal["openai", "anthropic"] = "openai"
    url: str = Field(min_length=1, description="base address, with /v1 where the service has it")
    model: str = Field(min_length=1)
    key: SecretStr = SecretStr("")
    context_tokens: int = Field(32_000, ge=2_000)
    timeout_seconds: float = Field(180.0, gt=0, description="how long one answer may take to come")
    gap_seconds: float = Field(90.0, gt=0, description="how long a stream may be silent")
    tools_gap_seconds: float = Field(180.0, gt=0, description="how long it may be while the model has tools")


class EmbedEndpoint(BaseModel):
    """An embedder behind the OpenAI wire (/embeddings)."""

    model_config = ConfigDict(frozen=True)

    url: str = Field(min_length=1)
    model: str = Field(min_length=1)
    key: SecretStr = SecretStr("")


class RerankEndpoint(BaseModel):
    """A reranker behind Jina's and Cohere's wire (/rerank)."""

    model_config = ConfigDict(frozen=True)

    url: str = Field(min_length=1, description="base address; /rerank is put behind it unless it ends so")
    model: str = Field(min_length=1)
    key: SecretStr = SecretStr("")


class Environment(BaseSettings):
    """Settings read once at an entrypoint. Nested ones are spelt NIGHTKEEPER_CHAT__URL and so on."""

    model_config = SettingsConfigDict(
        env_prefix="NIGHTKEEPER_",
        env_nested_delimiter="__",
        env_file=".env",
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    home: Path = Path("data")
    zone: str = "Asia/Shanghai"
    now: datetime | None = Field(None, description="freezes the clock, for simulations")
    chat: ChatEndpoint | None = None
    summary: ChatEndpoint | None = Field(None, description="for batches and nights; the chat model if unset")
    embed: EmbedEndpoint | None = None
    rerank: RerankEndpoint | None = None

    @field_validator("zone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        if name not in available_timezones():
            raise ValueError(f"{name} is no time zone of the IANA list")
        return name

    @property
    def zoneinfo(self) -> ZoneInfo:
        """The business zone."""
        return ZoneInfo(self.zone)

    @property
    def batch_model(self) -> ChatEndpoint | None:
        """The endpoint of batches and nights, or None for the extractive engine."""
        return self.summary or self.chat


def read_environment() -> Environment:
    """The environment as it is now; one clear sentence when something in it is wrong."""
    try:
        return Environment()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = "NIGHTKEEPER_" + "__".join(str(part) for part in first["loc"]).upper()
        raise NightkeeperError(f"{name}: {first['msg']}") from None
