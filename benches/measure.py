#!/usr/bin/env python3
"""Measures the benches of `definitions` with the engines of `engines.toml`, and compares records.

`run` builds what needs a build on all cores, then measures on one. It writes
`record/<date>-<machine>/<family>.csv`: id, engine, version and median in ns, per element where the
unit says so. `rank` prints how many times as long as tarragon each peer takes. It needs no build.
"""

import argparse
import csv
import functools
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

try:
    import tomllib
except ImportError:
    sys.exit(f"measure.py: Python must be 3.11 or newer, got {sys.version.split()[0]}; use one")

BENCHES = Path(__file__).resolve().parent
ROOT = BENCHES.parent
SCRIPTS = Path(os.environ.get("TARRAGON_BENCH_SCRIPTS", ROOT / "../shared/bench")).resolve()
TARGET = (ROOT / os.environ.get("CARGO_TARGET_DIR", "target")).resolve()
HEADER = ["id", "engine", "version", "median_ns"]
OURS = "tarragon"
NANOSECONDS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
# Row id -> engine -> (version, median in ns).
Record = dict[str, dict[str, tuple[str, float]]]


def fail(message: str) -> NoReturn:
    sys.exit(f"measure.py: {message}")


@functools.cache
def expression(pattern: str) -> re.Pattern[str]:
    """The regular expression of a pattern whose parts in braces stand for any text."""
    text = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", re.escape(pattern))
    for group in set(re.findall(r"\(\?P<\w+>\.\+\?\)", text)):
        first, *others = text.split(group)
        text = first + group + group.replace("P<", "P=").replace(">.+?", "").join(others)
    return re.compile(text)


@dataclass
class Row:
    id: str
    does: str
    engines: list[str]
    chosen_by: str
    names: dict[str, str] = field(default_factory=dict)
    input: str = ""


@dataclass
class Family:
    name: str
    bench: str
    row: list[dict[str, Any]]
    filter: str = "."
    input: str = ""

    def __post_init__(self) -> None:
        self.rows = [Row(**row) for row in self.row]

    def engines(self) -> list[str]:
        return list(dict.fromkeys(e for row in self.rows for e in row.engines))

    def find(self, id: str) -> Row | None:
        rows = self.rows if re.search(self.filter, id) else []
        return next((row for row in rows if expression(row.id).fullmatch(id)), None)

    def ids(self, engine: str, printed: str) -> Iterable[str]:
        """The ids of the rows that a name stands for, as an engine has printed it."""
        for row in (row for row in self.rows if engine in row.engines):
            if match := expression(row.names.get(engine, row.id)).fullmatch(printed):
                id = row.id.format_map(match.groupdict())
                yield from [id] * (self.find(id) is row)


@dataclass
class Engine:
    name: str
    version: str = ""
    version_command: str = ""
    python: str = ""
    build: str = ""
    run: dict[str, list[str]] = field(default_factory=dict)

    def words(self, command: str, family: Family) -> list[str]:
        python = os.environ.get(self.python, "python3")
        values = dict(python=python, scripts=SCRIPTS, engines=BENCHES / "engines", target=TARGET)
        values |= dict(bench=family.bench, filter=family.filter)
        return [word.format_map(values) for word in shlex.split(command)]

    def execute(self, command: list[str], cure: str) -> str:
        """Runs a command, whose messages go to ours, and returns its standard output."""
        environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
        options = dict(cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            done = subprocess.run(command, **options)
            found = f"status {done.returncode}"
        except OSError as error:
            found = str(error)
        if found == "status 0":
            return done.stdout
        fail(f"engines.toml: {self.name}: {shlex.join(command)} must succeed, got {found}; {cure}")


def parse(path: Path, make: Callable[[dict[str, Any]], Any]) -> Any:
    try:
        return make(tomllib.loads(path.read_text()))
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        fail(f"{path}: must have the keys of its class in measure.py, got {error!r}; fix the file")


def families() -> dict[str, Family]:
    make = lambda path: parse(path, lambda text: Family(path.stem, **text))
    return {path.stem: make(path) for path in sorted((BENCHES / "definitions").glob("*.toml"))}


def engines() -> dict[str, Engine]:
    make = lambda text: {engine["name"]: Engine(**engine) for engine in text["engine"]}
    return parse(BENCHES / "engines.toml", make)


def named(family: str) -> Family:
    if family in (known := families()):
        return known[family]
    fail(f"definitions/{family}.toml: must exist, got none; families are {', '.join(known)}")


def read(path: Path) -> Record:
    record: Record = {}
    cure = f"`measure.py run {path.stem}` writes such a file"
    try:
        lines = list(csv.reader(path.read_text().splitlines())) or [[]]
    except OSError as error:
        fail(f"{path}: must be a record, got {error}; {cure}")
    for number, line in enumerate(lines, 1):
        if (number == 1 and line != HEADER) or len(line) != len(HEADER):
            fail(f"{path}:{number}: must be {','.join(HEADER)}, got {','.join(line)}; {cure}")
    for id, engine, version, median in lines[1:]:
        record.setdefault(id, {})[engine] = (version, float(median))
    return record


def write(path: Path, record: Record) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = ((id, e, v, f"{ns:.5g}") for id, f in sorted(record.items()) for e, (v, ns) in f.items())
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])


def criterion(family: Family, since: float) -> Iterable[tuple[str, float]]:
    """Medians that criterion has written since a time, per element where a bench says so."""
    for path in TARGET.glob("criterion/**/new/estimates.json"):
        about = json.loads((path.parent / "benchmark.json").read_text())
        if path.stat().st_mtime >= since and family.find(about["full_id"]):
            median = json.loads(path.read_text())["median"]["point_estimate"]
            elements = (about.get("throughput") or {}).get("Elements", 1)
            yield about["full_id"], median / elements


def printed(lines: str) -> Iterable[tuple[str, float]]:
    """Names and medians in ns from lines of JSON; lines of other kinds are left out."""
    for line in lines.splitlines():
        figure = json.loads(line) if line.startswith("{") else {}
        unit = re.match(r"\w+", figure.get("unit", ""))
        if unit and unit[0] in NANOSECONDS:
            yield f"{figure['bench']}/{figure['n']}", figure["median"] * NANOSECONDS[unit[0]]


def machine() -> str:
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    name = f"{model[1] if model else os.uname().machine} {os.cpu_count()} cores"
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def measure(engine: Engine, family: Family, core: int) -> Record:
    cure, version = f"install it, and name its Python in {engine.python}", engine.version
    if engine.version_command:
        version = engine.execute(engine.words(engine.version_command, family), cure).strip()
        if engine.version not in version:
            fail(f"engines.toml: {engine.name} must be {engine.version}, got {version}; {cure}")
    if engine.build:
        engine.execute(engine.words(engine.build, family), "read its messages")
    since, figures = time.time(), {}
    for command in engine.run.get(family.name, engine.run.get("every", [])):
        words = ["taskset", "-c", str(core), *engine.words(command, family)]
        figures |= dict(printed(engine.execute(words, "read its messages")))
    figures |= dict(criterion(family, since)) if engine.name == OURS else {}
    found = ((id, ns) for name, ns in figures.items() for id in family.ids(engine.name, name))
    record = {id: {engine.name: (version, ns)} for id, ns in found}
    if not record:
        fail(f"engines.toml: {engine.name} must measure {family.name}, got no row; see its `run`")
    print(f"{family.name}: {engine.name} {version}: {len(record)} rows", file=sys.stderr)
    return record


def run(args: argparse.Namespace) -> None:
    family, known = named(args.family), engines()
    names = [args.engine] if args.engine else family.engines()
    if wrong := [name for name in names if name not in family.engines() or name not in known]:
        file = f"engines.toml and a row of definitions/{family.name}.toml"
        fail(f"{file}: must have {wrong[0]}, got {', '.join(family.engines())}; add it there")
    folder = f"{time.strftime('%Y-%m-%d')}-{args.machine or machine()}"
    path = BENCHES / "record" / folder / f"{family.name}.csv"
    record = read(path) if path.exists() else {}
    for name in names:
        try:
            measured = measure(known[name], family, args.core)
        except SystemExit as error:
            if args.engine or name == OURS:
                raise
            measured = {}
            print(f"SKIPPED {name}: {error}", file=sys.stderr)
        for id, figures in measured.items():
            record.setdefault(id, {}).update(figures)
        write(path, record)
    print(path)


def chosen_by(family: Family, ids: Iterable[str]) -> str:
    choices = [row.chosen_by if (row := family.find(id)) else "?" for id in ids]
    some = sorted(set(choices))
    return some[0] if len(some) == 1 else ", ".join(f"{c}: {choices.count(c)}" for c in some)


def ranking(files: list[Path], with_rows: bool) -> list[str]:
    lines = ["| family | peer | rows | mean ratio | least | greatest | work by | record |"]
    lines += ["|---" * 8 + "|"]
    for path in files:
        family, record, at = named(path.stem), read(path), path.resolve().parent.name
        peers = {e for figures in record.values() for e in figures} - {OURS}
        for peer in (name for name in family.engines() if name in peers):
            both = {i: f for i, f in sorted(record.items()) if peer in f and OURS in f}
            ratios = {id: f[peer][1] / f[OURS][1] for id, f in both.items()}
            values = list(ratios.values()) or [float("nan")]
            numbers = (len(ratios), statistics.geometric_mean(values), min(values), max(values))
            shown = " | ".join([*(f"{x:.3g}" for x in numbers), chosen_by(family, ratios)])
            lines.append(f"| {path.stem} | {peer} | {shown} | {at} |")
            for id, ratio in ratios.items() if with_rows else ():
                lines.append(f"| `{id}` | | | {ratio:.3g} | | | {chosen_by(family, [id])} | |")
        if not peers:
            shown = f"none | {len(record)} | | | | {chosen_by(family, record)}"
            lines.append(f"| {path.stem} | {shown} | {at} |")
    return lines


def rank(args: argparse.Namespace) -> None:
    newest = {p.stem: p for p in sorted((BENCHES / "record").glob("*/*.csv"))}
    files = args.files or [newest[name] for name in families() if name in newest]
    lines = "\n".join(ranking(files, args.rows))
    if args.check and lines not in args.check.read_text():
        fail(f"{args.check}: must contain the table below, got another; copy it there\n{lines}")
    print(lines)


def show(_: argparse.Namespace) -> None:
    for family in families().values():
        print(family.name, f"(bench {family.bench}):", ", ".join(family.engines()))
        for row in family.rows:
            print(f"    {row.id} (chosen by {row.chosen_by})\n        {row.does}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(required=True)
    commands.add_parser("list", help="show all families").set_defaults(act=show)
    command = commands.add_parser("run", help="measure a family")
    command.add_argument("family")
    command.add_argument("--engine", help="only this one")
    command.add_argument("--core", type=int, default=1)
    command.add_argument("--machine", help="name in the folder of the record")
    command.set_defaults(act=run)
    command = commands.add_parser("rank", help="compare engines by their records")
    command.add_argument("files", nargs="*", type=Path)
    command.add_argument("--rows", action="store_true", help="also print each row")
    command.add_argument("--check", type=Path, help="fail if this page lacks the table")
    command.set_defaults(act=rank)
    args = parser.parse_args()
    args.act(args)


if __name__ == "__main__":
    main()
