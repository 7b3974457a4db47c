"""Turns the JSON lines of one run into a table, puts it into README, and appends the lines to the record of this machine and day.

    python table.py LINES RECORD [README]
"""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path
from typing import Any

MARK = "<!-- bench-python -->\n"
#: What a job is, and how many times less than each peer ours shall take.
JOBS: dict[str, tuple[str, dict[str, float]]] = {
    "arms": (
        "pull + update, K = 10",
        {"river": 6, "vowpalwabbit": 10, "mabwiser": 100, "bayesianbandits": 100},
    ),
    "contexts": ("pull + update, K = 10, d = 20", {"vowpalwabbit": 2, "river": 30, "mabwiser": 200}),
    "training": ("a round of a training, K = 2, n = 200", {}),
}


def cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def shown(number: float) -> str:
    """At least two digits."""
    return f"{number:.2g}" if number < 10 else f"{number:,.0f}"


def table(rows: list[dict[str, Any]]) -> str:
    """For each job ours, then the fastest policy of each peer."""
    lines = ["| job | library | policy | us | times ours | goal |", "|---|---|---|---|---|---|"]
    for job, (what, goals) in JOBS.items():
        of_job = sorted((row for row in rows if row["job"] == job), key=lambda row: row["cpu_us"])
        best = {row["lib"]: row for row in reversed(of_job)}
        ours = best.pop("gradband", None)
        for row in [*([ours] if ours else []), *sorted(best.values(), key=lambda row: row["cpu_us"])]:
            times = shown(row["cpu_us"] / ours["cpu_us"]) if ours and row is not ours else ""
            goal = f"{goals[row['lib']]:g}" if row["lib"] in goals else ""
            name = row["variant"].split(",")[0]
            lines.append(f"| {what} | {row['lib']} {row['version']} | {name} | {shown(row['cpu_us'])} | {times} | {goal} |")
    return "\n".join(lines) + "\n"


def put(text: str, readme: Path) -> None:
    """Between the marks."""
    before, _, after = readme.read_text(encoding="utf-8").split(MARK)
    readme.write_text(f"{before}{MARK}{text}{MARK}{after}", encoding="utf-8")


def main(lines: str, record: str, readme: str | None = None) -> None:
    rows = [json.loads(line) for line in Path(lines).read_text().splitlines() if line.startswith("{")]
    machine = {"bench": "machine", "cpu": cpu_name(), "system": platform.system(), "python": platform.python_version()}
    with open(record, "a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in [machine, *rows])
    text = table(rows)
    print(text)
    if readme is not None:
        put(text, Path(readme))
    print(f"record: {record}")


if __name__ == "__main__":
    main(*sys.argv[1:])
