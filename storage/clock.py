"""The one module that owns "now", the zone and the business day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

NOON = time(12, 0)


@dataclass(frozen=True)
class Clock:
    """The zone everything is dated in, and the moment it is (frozen in simulations)."""

    zone: ZoneInfo
    frozen: datetime | None = None

    def now(self) -> datetime:
        """The present moment in the business zone, with its offset."""
        return (self.frozen or datetime.now(UTC)).astimezone(self.zone)

    def local(self, moment: datetime) -> datetime:
        """A moment in the business zone; a moment without an offset is taken to be there already."""
        if moment.tzinfo is None:
            return moment.replace(tzinfo=self.zone)
        return moment.astimezone(self.zone)

    def business_day(self, moment: datetime, night_hour: time) -> date:
        """The day whose night closes `moment`: that of the first cutoff at or after it.

        A cutoff before noon belongs to the calendar day before, so 23:30 and 02:00 both work.
        """
        local = self.local(moment)
        on = local.date() if local.time().replace(tzinfo=None) <= night_hour else local.date() + timedelta(days=1)
        return on if night_hour >= NOON else on - timedelta(days=1)

    def cutoff(self, day: date, night_hour: time) -> datetime:
        """The moment at which business day `day` closes."""
        on = day if night_hour >= NOON else day + timedelta(days=1)
        return datetime.combine(on, night_hour, tzinfo=self.zone)
