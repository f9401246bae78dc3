"""The score from which a response passes, chosen on the develop items that people have labelled."""

from __future__ import annotations

from dataclasses import replace

from calibration.compare import reference_labels
from calibration.ordering import Order, Prepared, parts_of, prepare
from calibration.reference_metrics import ChosenThreshold, choose_threshold, metric_version, score
from labels.errors import UserError
from labels.store import LabelStore


def with_threshold(prepared: Prepared) -> tuple[Prepared, ChosenThreshold | None]:
    """The run with a threshold where a metric judges single responses and none was given.

    UserError when the labelled develop items are too few to choose one.
    """
    order = prepared.order
    if order.mode != "reference" or prepared.criterion.kind != "binary" or order.settings.get("pass_from"):
        return prepared, None
    chosen = _choose(prepared)
    if chosen.threshold is None:
        raise UserError(f"{chosen.note} Or give the threshold yourself with --pass-from.")
    metric, separator = order.settings["metric"], order.settings.get("separator", "")
    version = metric_version(metric, threshold=chosen.threshold, separator=separator)
    settings = dict(order.settings) | {"pass_from": repr(chosen.threshold), "chosen_on": "develop"}
    title = f"reference {metric} from {chosen.threshold:.3f} ({version[:6]})"
    return prepare(_named(order, f"reference:{version}", title=title, settings=settings)), chosen


def _named(order: Order, model: str, *, title: str, settings: dict[str, str]) -> Order:
    return replace(order, model=model, title=title, settings=settings)


def _choose(prepared: Prepared) -> ChosenThreshold:
    settings, criterion = prepared.order.settings, prepared.criterion
    with LabelStore.open(prepared.order.project) as store:
        part_of = parts_of(store, None)
        items = [item for item in store.each_item(criterion.kind) if part_of(item) == "develop"]
        labels = store.labels(criterion.id)
    known = reference_labels(labels, [item.id for item in items]).values
    items = [item for item in items if item.id in known]
    separator = settings.get("separator", "")
    scores = [
        score(settings["metric"], item.responses[0].text, item.reference, separator=separator)
        for item in items
    ]
    if all(value is None for value in scores):
        raise UserError(
            "No labelled develop item has a reference to compare with; import items that have one."
        )
    return choose_threshold(scores, [known[item.id] for item in items])
