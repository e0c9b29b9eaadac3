"""Keeps Prefect's schedules on the business zone, and the night's on the hour it is set to."""

from __future__ import annotations

from datetime import time
from typing import Any

import httpx

from flows import runs
from storage.home import Home


def keep_schedules(home: Home, url: str) -> list[str]:
    """Bring every schedule up to date; one line for each one changed. Raises AwayError."""
    done, hour = [], home.knobs().night_hour
    with runs.api(url) as client:
        found = client.post("/deployments/filter", json={}).raise_for_status().json()
        for deployment in found:
            for schedule in deployment["schedules"]:
                if "cron" in schedule["schedule"]:
                    done += _kept(client, deployment["id"], schedule, home.environment.zone, hour)
    return done


def cron_of(hour: time) -> str:
    """Every day at an hour and minute."""
    return f"{hour.minute} {hour.hour} * * *"


def _kept(client: httpx.Client, deployment: str, schedule: dict[str, Any], zone: str, hour: time) -> list[str]:
    now = schedule["schedule"]
    cron = cron_of(hour) if schedule["slug"] == "night" else now["cron"]
    if (now["cron"], now["timezone"]) == (cron, zone):
        return []
    wanted = {"schedule": {"cron": cron, "timezone": zone, "day_or": True}}
    client.patch(f"/deployments/{deployment}/schedules/{schedule['id']}", json=wanted).raise_for_status()
    return [f"the schedule {schedule['slug']} is {cron} in {zone} now"]
