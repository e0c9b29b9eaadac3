"""What comes from the environment (or .env): places, the zone, endpoints and secrets."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, available_timezones

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
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


class TelegramSettings(BaseModel):
    """The bot, and whom it serves. Updates are asked for, unless an address is given that Telegram may call."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    token: SecretStr = Field(description="what BotFather gave you")
    owners: str = Field("", description="Telegram user ids it serves, each perhaps with a user's name: 4711=anna, 4712")
    webhook_url: str = Field("", description="where Telegram calls; empty for long polling")
    webhook_secret: SecretStr = Field(SecretStr(""), description="what Telegram must send along")
    listen: str = Field("127.0.0.1", description="where the webhook's own server listens")
    port: int = Field(8443, ge=0, le=65535)
    api_url: str = Field("https://api.telegram.org", description="another server that speaks the Bot API")

    @field_validator("owners")
    @classmethod
    def _ids(cls, owners: str) -> str:
        for entry in filter(None, map(str.strip, owners.split(","))):
            number, named, name = entry.partition("=")
            if not number.strip().isdecimal() or (named and not name.strip()):
                raise ValueError("write ids, each perhaps with a name, such as 4711=anna, 4712")
        return owners

    @model_validator(mode="after")
    def _guarded(self) -> TelegramSettings:
        host = urlsplit(self.webhook_url).hostname
        if host and host not in ("127.0.0.1", "localhost", "::1") and not self.webhook_secret.get_secret_value():
            raise ValueError("a webhook that others can reach needs NIGHTKEEPER_TELEGRAM__WEBHOOK_SECRET")
        return self

    @property
    def users(self) -> dict[int, str]:
        """The user of each owner; without a name it is user<id>, as in an import of Telegram's own export."""
        entries = (entry.strip().partition("=") for entry in self.owners.split(",") if entry.strip())
        return {int(number): name.strip() or f"user{int(number)}" for number, _, name in entries}


class AlertSettings(BaseModel):
    """Where alerts go. What is left out is the bot's: its token, its first owner, its server."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    token: SecretStr = Field(SecretStr(""), description="a bot of its own, so that alerts need nothing of the chat's")
    chat: str = Field("", pattern=r"^(-?\d+|@\w+)?$", description="the Telegram chat that is told")
    api_url: str = Field("", description="another server that speaks the Bot API")


class BackupSettings(BaseModel):
    """Where backups go besides the home's own folder, and what locks them."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    folder: Path | None = Field(None, description="the local folder, another disk perhaps; <home>/backups if unset")
    bucket: str = Field("", pattern=r"^(s3://[^/\s]+(/\S*)?)?$", description="s3://bucket/folder, to keep copies there")
    endpoint: str = Field("", description="the address of a service that speaks S3; Amazon's if unset")
    region: str = ""
    key: SecretStr = SecretStr("")
    secret: SecretStr = SecretStr("")
    passphrase: SecretStr = Field(SecretStr(""), description="encrypts every backup; without it none can be restored")


class ApiSettings(BaseModel):
    """Where the HTTP API listens, and the key it asks for; without a key only this machine may reach it."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    host: str = Field("127.0.0.1", min_length=1)
    port: int = Field(8765, ge=0, le=65535)
    key: SecretStr = Field(SecretStr(""), description="what a caller sends as Authorization: Bearer …")


class Environment(BaseSettings):
    """Settings read once at an entrypoint. Nested ones are spelt NIGHTKEEPER_CHAT__URL and so on."""

    model_config = SettingsConfigDict(
        env_prefix="NIGHTKEEPER_",
        env_nested_delimiter="__",
        env_file=".env",
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
        populate_by_name=True,
    )

    home: Path = Path("data")
    zone: str = "Asia/Shanghai"
    now: datetime | None = Field(None, description="freezes the clock, for simulations")
    chat: ChatEndpoint | None = None
    summary: ChatEndpoint | None = Field(None, description="for batches and nights; the chat model if unset")
    embed: EmbedEndpoint | None = None
    rerank: RerankEndpoint | None = None
    vision: ChatEndpoint | None = Field(None, description="describes pictures; without it they stay undescribed")
    telegram: TelegramSettings | None = None
    alerts: AlertSettings = AlertSettings()
    backup: BackupSettings = BackupSettings()
    api: ApiSettings = ApiSettings()
    user: str = Field("", description="whose chat it is where nobody says; the only user there is if unset")
    prefect_url: str = Field(
        "http://127.0.0.1:4200/api",
        validation_alias=AliasChoices("NIGHTKEEPER_PREFECT_URL", "PREFECT_API_URL"),
        description="the API of the Prefect server that is asked for micro-batches",
    )
    prefect_host: str = Field("127.0.0.1", description="where the server started by `nightkeeper up` listens")

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
