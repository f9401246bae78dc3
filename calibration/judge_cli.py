"""`calibrate judge`: ask a judge about the project's items, in both orders."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

import click

from calibration.options import Number
from labels.errors import UserError
from labels.text import counted, storable

if TYPE_CHECKING:
    from collections.abc import Callable

    from calibration.engine import Ride
    from calibration.flow import Limits
    from calibration.ordering import Forecast, Order, Prepared
    from calibration.reference_metrics import ChosenThreshold

FILE = click.Path(path_type=Path)
NO_MODEL = "scripted:reads"  # what answers for a judge that is code: it is never asked
POSITIVE = Number(0, min_open=True)
NOTHING = "no chosen item lacks an answer; nothing to ask."
ASK_ABOVE_CALLS, ASK_ABOVE_DOLLARS = 200, 1.0  # a larger run wants a yes


@click.command("judge")
@click.argument("project", type=click.Path(path_type=Path))
@click.option("--rule", type=FILE, help="Rules in TOML or JSON; free, and never differs from itself.")
@click.option("--reference", metavar="METRIC", help="exact, normalised_exact, token_f1, rouge_l or bleu.")
@click.option("--command", metavar="PROGRAM", help="A program that reads JSON lines and writes votes.")
@click.option("--model", help="A litellm model, e.g. openai/gpt-5-mini, or scripted:longer, or local.")
@click.option("--api-base", default="", help="The address of an OpenAI-compatible server.")
@click.option("--questions", type=FILE, help="Ask the model these closed questions, one a line.")
@click.option("--score", is_flag=True, help="Ask the model for a score from 1 to 5.")
@click.option("--pass-from", type=Number(), help="The share of yes, or the score, that passes.")
@click.option("--margin", type=Number(), help="Scores of a pair that differ by less tie.")
@click.option("--separator", help="What parts a reference into alternatives, such as ' | '.")
@click.option("--kind", type=click.Choice(["pairwise", "binary"]), help="Which question, if there are two.")
@click.option("--rubric", default="", metavar="ID", help="A rubric version; by default the one in force.")
@click.option("--name", help="The judge's name in reports; by default the model and the rubric version.")
@click.option(
    "--orders", type=click.Choice(["both", "forward", "reverse"]), default="both", help="Which orders."
)
@click.option("--repeats", type=click.IntRange(1, 99), default=1, help="How often each order; odd.")
@click.option(
    "--only",
    type=click.Choice(["all", "new", "unanswered", "disputed"]),
    default="all",
    help="Which items: not judged yet, without a verdict, or where orders or people disagree.",
)
@click.option("--split", type=click.Choice(["develop", "holdout"]), help="Only this part of the items.")
@click.option("--where", multiple=True, metavar="NAME=VALUE", help="Only items with this metadata.")
@click.option("--limit", type=click.IntRange(1), help="At most so many items.")
@click.option("--temperature", type=Number(0), default=0.0, help="Left out where the model refuses it.")
@click.option("--max-tokens", type=click.IntRange(1), default=16_000, help="The longest answer.")
@click.option("--concurrency", type=click.IntRange(1, 512), default=8, help="Requests at the same time.")
@click.option("--rpm", type=POSITIVE, help="Requests per minute.")
@click.option("--tpm", type=POSITIVE, help="Tokens per minute.")
@click.option("--timeout", type=POSITIVE, help="Seconds for a request (120), or for all of a program (3600).")
@click.option("--budget", type=POSITIVE, help="Stop cleanly when this sitting has cost so many dollars.")
@click.option("--yes", is_flag=True, help="Do not ask before a large run.")
def judge_command(project: Path, *, yes: bool, **options: Any) -> None:
    """Ask a judge about the items, in both orders; what is answered already costs nothing.

    A judge is a rule, a metric, a program or a model. Ask a rule first where one will do.
    """
    from calibration.claims import claimed
    from calibration.ordering import check_name, prepare
    from calibration.run_end import print_end
    from calibration.thresholds import with_threshold

    prepared, threshold = with_threshold(prepare(_order(project, options)))
    if threshold is not None:
        click.echo(_threshold_in_words(threshold))
    with claimed(project, prepared.criterion.id, name=prepared.run.name):
        check_name(prepared)
        expected = _agreed(prepared, yes=yes)
        ride = _carried_out(prepared, expected) if expected.jobs else None
    print_end(prepared, ride)


def _agreed(prepared: Prepared, *, yes: bool) -> Forecast:
    """What the run will take, after it was shown and, for a large run, agreed to."""
    from calibration.judge import estimate_cost
    from calibration.ordering import forecast
    from calibration.ways import WAYS

    model, way = prepared.order.model, WAYS[prepared.order.mode]
    if rule := way.rule(prepared.brief):
        click.echo(rule)
    if not way.asks_a_model:
        expected = forecast(prepared, lambda *_: 0.0)
        what = f"{expected.jobs:,} answers, no model is asked." if expected.jobs else NOTHING
        click.echo(f"{prepared.run.name}: {what}")
        return expected
    expected = forecast(
        prepared, lambda tokens, answers: estimate_cost(model, tokens, completion_tokens=answers)
    )
    click.echo(f"{prepared.run.name}: {_in_words(expected)}")
    if expected.calls and expected.cost is None and prepared.order.budget is not None:
        raise UserError(
            f"The price of {model} is unknown, so no budget can be kept; leave the budget out (0 in the app)."
        )
    if expected.calls and not yes and _is_large(expected):
        click.confirm("Go on?", abort=True)
    return expected


def _carried_out(prepared: Prepared, expected: Forecast) -> Ride:
    from calibration.asking import Stopping

    if prepared.order.mode == "command":
        return _command_ride(prepared, expected.jobs)
    try:
        return asyncio.run(_ride(prepared, expected))
    except Stopping as error:
        raise UserError(str(error)) from error


def _order(project: Path, options: Mapping[str, Any]) -> Order:
    from calibration.judge_options import judge_from
    from calibration.ordering import Order
    from calibration.runs import Plan

    _check_texts(options)
    judge = judge_from(options)
    return Order(
        project=project,
        model=judge.model,
        plan=Plan(
            orders=options["orders"],
            repeats=options["repeats"],
            only=options["only"],
            where=dict(_pairs(options["where"])),
            limit=options["limit"],
            split=options["split"],
        ),
        limits=_limits(options),
        settings=judge.settings,
        kind=options["kind"],
        name=options["name"],
        mode=judge.mode,
        title=judge.title,
        rubric=options["rubric"],
        budget=options["budget"],
    )


def _check_texts(options: Mapping[str, Any]) -> None:
    """UserError for a name or a command that no file could hold, and for a name of nothing."""
    for option in ("name", "command", "model", "api_base"):
        text = options[option] or ""
        if storable(text) != text:
            raise UserError(f"--{option.replace('_', '-')} holds bytes that are no text; write it in UTF-8.")
    if options["name"] is not None and not options["name"].strip():
        raise UserError("--name is blank; leave it out, and the judge is called after its model.")


def _limits(options: Mapping[str, Any]) -> Limits:
    from calibration.command_judge import SECONDS
    from calibration.flow import Limits

    return Limits(
        concurrency=options["concurrency"],
        requests_per_minute=options["rpm"],
        tokens_per_minute=options["tpm"],
        timeout=options["timeout"] or (SECONDS if options["command"] else Limits().timeout),
    )


def _pairs(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UserError(f'--where "{text}" has no "="; write it as --where topic=returns.')
        yield name, value


def _threshold_in_words(chosen: ChosenThreshold) -> str:
    expected = chosen.balanced_accuracy
    between = "" if expected.low is None else f" (95 % interval {expected.low:.2f} to {expected.high:.2f})"
    return f"A response passes from {chosen.threshold:.3f}{between}. {chosen.note}"


def _in_words(expected: Forecast) -> str:
    if not expected.jobs:
        return NOTHING
    if not expected.calls:
        return f"{counted(expected.jobs, 'verdict')} from answers that are stored; nothing to ask."
    cost = "price unknown" if expected.cost is None else f"about ${expected.cost:.2f}"
    tokens = f"about {expected.prompt_tokens:,} tokens in, {expected.completion_tokens:,} out"
    return f"{expected.calls:,} calls, {tokens}, {cost}."


def _is_large(expected: Forecast) -> bool:
    return expected.calls > ASK_ABOVE_CALLS or (expected.cost or 0.0) > ASK_ABOVE_DOLLARS


async def _ride(prepared: Prepared, expected: Forecast) -> Ride:
    """Carry the run out with a progress bar; Ctrl-C stops it cleanly, a second one at once."""
    from calibration.crew import Meter
    from calibration.engine import Ride, carry_on
    from calibration.flow import Gatekeeper, Patient
    from calibration.judge import completion_for
    from calibration.ordering import open_jobs
    from calibration.progress import progress_bar
    from calibration.ways import WAYS

    order, way = prepared.order, WAYS[prepared.order.mode]
    meter = Meter(expected.jobs, foreseen=expected.cost_each)
    ride = Ride(order.project, prepared.run, prepared.criterion, meter, asyncio.Event(), order.budget)
    answering = order.model if way.asks_a_model else NO_MODEL
    completion = completion_for(
        answering, api_base=order.settings.get("api_base", ""), timeout=order.limits.timeout
    )
    patient = Patient(completion, Gatekeeper(order.limits, stop=ride.stop))
    _stop_on_interrupt(lambda: ride.end("stopped"))
    try:
        with progress_bar(expected.jobs) as show, open_jobs(prepared) as jobs:
            await carry_on(
                ride,
                jobs,
                way.asker(prepared.brief, patient),
                limits=order.limits,
                on_progress=show,
                reread=partial(way.reread, prepared.brief),
            )
    finally:
        await patient.close()
    return ride


def _command_ride(prepared: Prepared, wanted: int) -> Ride:
    """Carry the run of a program out; Ctrl-C ends it, and what has arrived is kept."""
    from calibration.command_run import carry_command
    from calibration.crew import Meter
    from calibration.engine import Ride
    from calibration.ordering import open_jobs
    from calibration.progress import progress_bar

    order = prepared.order
    ride = Ride(order.project, prepared.run, prepared.criterion, Meter(wanted), asyncio.Event())
    signal.signal(signal.SIGTERM, _interrupt)  # a polite kill ends the program too
    with progress_bar(wanted) as show, open_jobs(prepared) as jobs:
        stray = carry_command(ride, jobs, seconds=order.limits.timeout, on_progress=show)
    if stray:
        what = counted(stray, "line")
        click.echo(f"{what} of the program answered no request: left out.", err=True)
    return ride


def _interrupt(_signal: int, _frame: object) -> Never:
    raise KeyboardInterrupt


def _stop_on_interrupt(end: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()

    def first() -> None:
        click.echo("Stopping: waiting for what is under way; press Ctrl-C again to leave at once.", err=True)
        loop.remove_signal_handler(signal.SIGINT)
        end()

    loop.add_signal_handler(signal.SIGINT, first)
    loop.add_signal_handler(signal.SIGTERM, end)
