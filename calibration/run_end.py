"""What `calibrate judge` says when it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from labels.text import counted, printable

if TYPE_CHECKING:
    from calibration.engine import Ended, Ride
    from calibration.ordering import Prepared


def print_end(prepared: Prepared, ride: Ride | None) -> None:
    """Say how the run ended, what it holds, what is unanswered and why, and what comes next."""
    from calibration.render.tables import mass_in_words
    from calibration.scores import support_in_words
    from calibration.store import RunStore
    from calibration.ways import WAYS

    with RunStore.open(prepared.order.project) as store:
        if ride is None:  # it may have been killed between its last verdict and its end
            store.finish(prepared.run.id, "done")
        runs = {run.id: run for run in store.runs(prepared.criterion.id)}
    summary = runs.get(prepared.run.id)
    if summary is None:
        return
    if ride is not None:
        progress = ride.meter.snapshot()
        told = f"{progress.done:,} asked in {progress.seconds:.0f} s, {progress.spent}."
        click.echo(f"{_ending(ride.ended)} {told}")
    if summary.unanswered.get("error"):
        click.echo(f"The last request that failed: {printable(_last_failure(prepared))}", err=True)
    reasons = ", ".join(
        f"{count:,} {reason.replace('_', ' ')}" for reason, count in summary.unanswered.items()
    )
    click.echo(f"The run holds {counted(summary.verdicts, 'verdict')}; unanswered: {reasons or 'none'}.")
    if summary.latency is not None and WAYS[prepared.order.mode].asks_a_model:
        served = ", ".join(summary.served) or "nobody"
        click.echo(f"A request took {summary.latency:.2f} s on average; served by {served}.")
    if prepared.order.mode == "questions":
        click.echo(support_in_words(prepared))
    if mass := mass_in_words(summary):
        click.echo(mass)
    if summary.left_out:
        click.echo(f"Not taken by the model and left out: {', '.join(summary.left_out)}.")
    click.echo(f"Next: calibrate report {prepared.order.project}")


def _last_failure(prepared: Prepared) -> str:
    from calibration.store import RunStore

    with RunStore.open(prepared.order.project) as store:
        return store.last_failure(prepared.run.id)


def _ending(ended: Ended) -> str:
    return {
        "done": "Done.",
        "budget spent": "Stopped at the budget; the same command goes on.",
        "price unknown": "Stopped: an answer had no known price, so the budget could not be kept.",
        "stopped": "Stopped; the same command goes on.",
    }[ended]
