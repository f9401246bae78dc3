"""From the options of `calibrate judge` to the judge that is meant: its way of asking and what decides it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from calibration.judging import Mode
from labels.errors import UserError
from labels.files import read_utf8

JUDGES = ("model", "rule", "reference", "command")
RANGES: Mapping[Mode, tuple[float, float]] = {
    "questions": (0.0, 1.0),
    "score": (1.0, 5.0),
    "reference": (0.0, 1.0),
}
WIDEST: Mapping[Mode, float] = {"score": 4.0, "reference": 1.0}


@dataclass(frozen=True, slots=True)
class Judge:
    """Which judge is asked: its way of asking, its model, all that decides its answers, its title."""

    mode: Mode
    model: str
    title: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


def judge_from(options: Mapping[str, Any]) -> Judge:
    """The judge that the options name; UserError for none, for two, and for options of another way."""
    named = [name for name in JUDGES if options.get(name)]
    if len(named) != 1:
        raise UserError(
            "Choose one judge: --model NAME, --rule FILE, --reference METRIC or --command 'PROGRAM ...'."
        )
    makers = {"model": _model, "rule": _rule, "reference": _reference, "command": _command}
    judge = makers[named[0]](options)
    _check(judge.mode, options)
    return judge


def _model(options: Mapping[str, Any]) -> Judge:
    settings = {name: str(options[name]) for name in ("temperature", "max_tokens", "api_base")}
    model = str(options["model"])
    if options.get("questions") and options.get("score"):
        raise UserError("Choose --questions FILE or --score, not both.")
    if options.get("questions"):
        settings |= {"questions": _lines(options["questions"])} | _chosen(options, "pass_from")
        return Judge("questions", model, f"{model} questions", settings)
    if options.get("score"):
        settings |= _chosen(options, "pass_from", "margin")
        return Judge("score", model, f"{model} score", settings)
    return Judge("verdict", model, model, settings)


def _rule(options: Mapping[str, Any]) -> Judge:
    from calibration.rules import rules_from_text, rules_version

    path = Path(options["rule"])
    text = read_utf8(path)
    try:
        version = rules_version(rules_from_text(text))
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    return Judge("rule", f"rule:{version}", f"rule {path.stem} ({version[:6]})", {"rules": text})


def _reference(options: Mapping[str, Any]) -> Judge:
    from calibration.reference_metrics import METRICS, metric_version

    metric = str(options["reference"])
    if metric not in METRICS:
        raise UserError(f'There is no metric "{metric}"; choose one of {", ".join(METRICS)}.')
    threshold, margin = options.get("pass_from"), options.get("margin") or 0.0
    separator = options.get("separator") or ""
    version = metric_version(metric, threshold=threshold, margin=margin, separator=separator)
    settings = {"metric": metric, "separator": separator} | _chosen(options, "pass_from", "margin")
    return Judge("reference", f"reference:{version}", f"reference {metric} ({version[:6]})", settings)


def _command(options: Mapping[str, Any]) -> Judge:
    from calibration.command_judge import command_version

    command = str(options["command"])
    version = command_version(command)
    title = f"command {Path(command.rsplit(maxsplit=1)[-1]).name} ({version[:6]})"
    return Judge("command", f"command:{version}", title, {"command": command})


def _chosen(options: Mapping[str, Any], *names: str) -> dict[str, str]:
    """The options that were given, as texts."""
    return {name: repr(float(options[name])) for name in names if options.get(name) is not None}


def _check(mode: Mode, options: Mapping[str, Any]) -> None:
    """UserError for a limit that this way does not know, or that lies where nothing can be."""
    pass_from, margin = options.get("pass_from"), options.get("margin")
    if pass_from is not None:
        low, high = RANGES.get(mode, (1.0, 0.0))
        if not low <= pass_from <= high:
            raise UserError(_out_of_range("pass-from", RANGES, low=low, high=high, mode=mode))
    if margin is not None and not 0 <= margin <= WIDEST.get(mode, -1.0):
        raise UserError(_out_of_range("margin", WIDEST, low=0.0, high=WIDEST.get(mode, -1.0), mode=mode))


def _out_of_range(name: str, known: Mapping[Mode, object], *, low: float, high: float, mode: Mode) -> str:
    if mode in known:
        return f"--{name} lies between {low:g} and {high:g} for this judge."
    ways = {"questions": "--questions", "score": "--score", "reference": "--reference"}
    return f"--{name} goes with {' or '.join(ways[way] for way in known)}; leave it out."


def _lines(path: Path) -> str:
    from calibration.ways import questions_of

    questions = questions_of(read_utf8(path))
    if not questions:
        raise UserError(
            f"{path} holds no question; write one closed question a line, each so that yes is good."
        )
    return "\n".join(questions)
