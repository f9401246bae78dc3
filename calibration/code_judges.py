"""Judges that are code, asked in the same form as a model.

The message holds the texts as JSON, so that what such a judge saw is stored, reused and shown likewise.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

from calibration.asker import Asker
from calibration.asking import Completion, Message
from calibration.judging import Brief, Job, JudgeRun, Outcome
from labels.errors import UserError
from labels.present import Order
from labels.types import Choice, Criterion, Item, Side

NO_TIE = "Both come out equal, and a tie is not allowed here."
ALONE: tuple[Side, ...] = ("A",)


def code_messages(brief: Brief, item: Item, order: Order) -> tuple[Message, ...]:
    """The texts in their slots, and what else the code may look at, as JSON."""
    shown: dict[str, object] = {
        "responses": [
            item.response(side).text for side in (order.sides if item.kind == "pairwise" else ALONE)
        ]
    }
    if brief.run.mode != "rule":
        shown["reference"] = item.reference
    if brief.run.mode == "command":
        shown |= {"prompt": item.prompt, "context": item.context}
    return (Message("user", json.dumps(shown, ensure_ascii=False)),)


def shown_to_code(job: Job) -> Mapping[str, object]:
    """What a judge that is code was shown for a job."""
    shown: dict[str, object] = json.loads(job.request.messages[0].content)
    return shown


def _no_schema(_: Brief) -> str:
    return ""


def rule_asker(brief: Brief, _: Completion) -> Asker:
    """Asks the rules of the run's settings."""
    from calibration.json_schemas import UnfinishedError
    from calibration.rules import judge_by_rules, rules_from_text

    rules = rules_from_text(brief.run.settings["rules"])

    async def ask(job: Job) -> Outcome:
        await asyncio.sleep(0)  # a stop is seen between two items
        try:
            said = judge_by_rules(rules, _texts(job))
        except UnfinishedError as error:
            return Outcome(None, "error", reasoning=str(error), text=str(error), cost=0.0)
        return code_outcome(said.choice, said.reasoning, run=brief.run, criterion=brief.criterion)

    return ask


def reference_asker(brief: Brief, _: Completion) -> Asker:
    """Asks the metric of the run's settings how near each response comes to the item's reference."""
    from calibration.reference_metrics import judge_by_reference

    settings = brief.run.settings

    async def ask(job: Job) -> Outcome:
        await asyncio.sleep(0)
        said = judge_by_reference(
            settings["metric"],
            _texts(job),
            str(shown_to_code(job)["reference"]),
            threshold=float(settings["pass_from"]) if settings.get("pass_from") else None,
            margin=float(settings.get("margin") or 0.0),
            separator=settings.get("separator", ""),
        )
        return (
            code_outcome(said.choice, said.reasoning, run=brief.run, criterion=brief.criterion)
            if said.choice
            else Outcome(None, said.error, reasoning=said.reasoning, text=said.reasoning, cost=0.0)
        )

    return ask


def code_outcome(
    choice: Choice, reasoning: str, *, run: JudgeRun, criterion: Criterion, raw: str = ""
) -> Outcome:
    """The outcome of a judge that is code; a tie where none is allowed is unanswered."""
    if choice == "tie" and not criterion.ties:
        return Outcome(None, "not_given", reasoning=reasoning, text=NO_TIE, cost=0.0)
    return Outcome(choice, reasoning=reasoning, text=raw or reasoning, served_model=run.model, cost=0.0)


def _texts(job: Job) -> list[str]:
    texts = shown_to_code(job)["responses"]
    assert isinstance(texts, list)
    return [str(text) for text in texts]


def by_itself(_: Brief, __: Completion) -> Asker:
    """A program is never asked item by item: see calibration.command_run."""
    raise UserError("A command judge runs its own program; it is not asked item by item.")
