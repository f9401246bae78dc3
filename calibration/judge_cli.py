"""`calibrate judge`: ask a judge about the project's items, in both orders."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from labels.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from calibration.engine import Ended, Ride
    from calibration.ordering import Forecast, Order, Prepared

ASK_ABOVE_CALLS, ASK_ABOVE_DOLLARS = 200, 1.0  # a larger run wants a yes


@click.command("judge")
@click.argument("project", type=click.Path(path_type=Path))
@click.option("--model", required=True, help="A litellm model, e.g. openai/gpt-5-mini, or scripted:longer.")
@click.option("--api-base", default="", help="The address of an OpenAI-compatible server.")
@click.option("--kind", type=click.Choice(["pairwise", "binary"]), help="Which question, if there are two.")
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
@click.option("--where", multiple=True, metavar="NAME=VALUE", help="Only items with this metadata.")
@click.option("--limit", type=click.IntRange(1), help="At most so many items.")
@click.option("--temperature", type=float, default=0.0, help="Left out where the model refuses it.")
@click.option("--max-tokens", type=click.IntRange(1), default=16_000, help="The longest answer.")
@click.option("--concurrency", type=click.IntRange(1, 512), default=8, help="Requests at the same time.")
@click.option("--rpm", type=float, help="Requests per minute.")
@click.option("--tpm", type=float, help="Tokens per minute.")
@click.option("--timeout", type=float, default=120.0, help="Seconds for one request.")
@click.option("--budget", type=float, help="Stop cleanly when so many dollars are spent.")
@click.option("--yes", is_flag=True, help="Do not ask before a large run.")
def judge_command(project: Path, *, model: str, yes: bool, **options: Any) -> None:
    """Ask a judge about the items, in both orders; what is answered already costs nothing."""
    from calibration.asking import Stopping
    from calibration.judge import estimate_cost
    from calibration.ordering import check_name, forecast, prepare

    prepared = prepare(_order(project, model, options))
    check_name(prepared)
    expected = forecast(
        prepared, lambda tokens, answers: estimate_cost(model, tokens, completion_tokens=answers)
    )
    click.echo(f"{prepared.run.name}: {_in_words(expected)}")
    if expected.calls and not yes and _is_large(expected):
        click.confirm("Go on?", abort=True)
    try:
        ride = asyncio.run(_ride(prepared, expected.calls))
    except Stopping as error:
        raise UserError(str(error)) from error
    _print_end(prepared, ride)


def _order(project: Path, model: str, options: Mapping[str, Any]) -> Order:
    from calibration.flow import Limits
    from calibration.ordering import Order
    from calibration.runs import Plan

    return Order(
        project=project,
        model=model,
        plan=Plan(
            orders=options["orders"],
            repeats=options["repeats"],
            only=options["only"],
            where=dict(_pairs(options["where"])),
            limit=options["limit"],
        ),
        limits=Limits(
            concurrency=options["concurrency"],
            requests_per_minute=options["rpm"],
            tokens_per_minute=options["tpm"],
            timeout=options["timeout"],
        ),
        settings={name: str(options[name]) for name in ("temperature", "max_tokens", "api_base")},
        kind=options["kind"],
        name=options["name"],
        budget=options["budget"],
    )


def _pairs(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UserError(f'--where "{text}" has no "="; write it as --where topic=returns.')
        yield name, value


def _in_words(expected: Forecast) -> str:
    if not expected.calls:
        return "everything is answered already; nothing to ask."
    cost = "price unknown" if expected.cost is None else f"about ${expected.cost:.2f}"
    tokens = f"about {expected.prompt_tokens:,} tokens in, {expected.completion_tokens:,} out"
    return f"{expected.calls:,} calls, {tokens}, {cost}."


def _is_large(expected: Forecast) -> bool:
    return expected.calls > ASK_ABOVE_CALLS or (expected.cost or 0.0) > ASK_ABOVE_DOLLARS


async def _ride(prepared: Prepared, calls: int) -> Ride:
    """Carry the run out with a progress bar; Ctrl-C stops it cleanly, a second one at once."""
    from calibration.asker import verdict_asker
    from calibration.crew import Meter
    from calibration.engine import Ride, carry_on
    from calibration.flow import Gatekeeper, Patient
    from calibration.judge import completion_for
    from calibration.ordering import open_jobs
    from calibration.progress import progress_bar

    order, stop = prepared.order, asyncio.Event()
    ride = Ride(order.project, prepared.run, prepared.criterion, Meter(calls), stop, order.budget)
    completion = completion_for(
        order.model, api_base=order.settings.get("api_base", ""), timeout=order.limits.timeout
    )
    patient = Patient(completion, Gatekeeper(order.limits, stop=stop))
    _stop_on_interrupt(lambda: ride.end("stopped"))
    try:
        with progress_bar(calls) as show:
            ask = verdict_asker(patient, prepared.criterion)
            await carry_on(ride, open_jobs(prepared), ask, limits=order.limits, on_progress=show)
    finally:
        await patient.close()
    return ride


def _stop_on_interrupt(end: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()

    def first() -> None:
        click.echo("Stopping: waiting for what is under way; press Ctrl-C again to leave at once.", err=True)
        loop.remove_signal_handler(signal.SIGINT)
        end()

    loop.add_signal_handler(signal.SIGINT, first)
    loop.add_signal_handler(signal.SIGTERM, end)


def _print_end(prepared: Prepared, ride: Ride) -> None:
    from calibration.store import RunStore

    progress = ride.meter.snapshot()
    with RunStore.open(prepared.order.project) as store:
        summary = next(run for run in store.runs(prepared.criterion.id) if run.id == prepared.run.id)
    click.echo(
        f"{_ending(ride.ended)} {progress.done:,} asked in {progress.seconds:.0f} s, {progress.spent}."
    )
    reasons = ", ".join(
        f"{count:,} {reason.replace('_', ' ')}" for reason, count in summary.unanswered.items()
    )
    click.echo(f"The run holds {summary.verdicts:,} verdicts; unanswered: {reasons or 'none'}.")
    if summary.latency is not None:
        click.echo(
            f"A request took {summary.latency:.2f} s on average; served by {', '.join(summary.served)}."
        )
    if summary.left_out:
        click.echo(f"Not taken by the model and left out: {', '.join(summary.left_out)}.")
    click.echo(f"Next: calibrate report {prepared.order.project}")


def _ending(ended: Ended) -> str:
    return {
        "done": "Done.",
        "budget spent": "Stopped at the budget; the same command goes on.",
        "stopped": "Stopped; the same command goes on.",
    }[ended]
