"""The reference judge: how near a response comes to the item's reference, and when that is near enough.

Every metric lies between 0 and 1 and works on Unicode NFC. Scripts that write no blanks between words
(Chinese characters, kana) count each character as a word; Thai and others of that kind do not.
"""

from __future__ import annotations

import hashlib
import json
import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal
from unicodedata import category, normalize

import numpy as np
from numpy.typing import NDArray

from calibration.stats.estimate import Estimate, Reason, undefined
from calibration.stats.intervals import DRAWS, SEED, equal_tailed
from calibration.types import Unanswered
from labels.errors import UserError
from labels.text import trimmed
from labels.types import Choice

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
RESAMPLES = 2_000
_METHOD = "leave-one-out bootstrap"
FEWEST = 10  # METHODS.md section 0: no decision below ten items
_TOO_FEW = "A threshold needs 10 develop items, two or more of each class; {} pass and {} fail. Label more."
_CELLS = 1_000_000  # of the largest table held at once
_BLANKLESS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # kana, and Chinese characters
_WORD = re.compile(rf"[{_BLANKLESS}]|[^\W_{_BLANKLESS}]+")
_PIECE = re.compile(rf"[{_BLANKLESS}]|[^\s{_BLANKLESS}]+")
_ARTICLE = re.compile(r"\b(a|an|the)\b")


@dataclass(frozen=True, slots=True)
class ReferenceVerdict:
    """What a metric chooses among the texts in slots; `choice` is None when the item has no reference."""

    choice: Choice | None
    reasoning: str
    error: Unanswered = ""


@dataclass(frozen=True, slots=True)
class ChosenThreshold:
    """The score from which a response passes, chosen on develop items, and what to expect of it.

    `apparent` is the balanced accuracy on the very items of the choice; `balanced_accuracy` is the one to
    expect of other items. `threshold` is None exactly when that estimate is undefined.
    """

    threshold: float | None
    apparent: float | None
    balanced_accuracy: Estimate
    note: str


def exact(response: str, reference: str) -> float:
    """1 when both are the same text to the letter, blanks at the ends aside, else 0."""
    return float(trimmed(response) == trimmed(reference))


def normalised_exact(response: str, reference: str) -> float:
    """1 when both are the same without case, punctuation and English articles, else 0."""
    return float(_normalised(response) == _normalised(reference))


def token_f1(response: str, reference: str) -> float:
    """2 x shared words / all words, after the same normalisation (SQuAD, Rajpurkar et al. 2016)."""
    ours, theirs = _PIECE.findall(_normalised(response)), _PIECE.findall(_normalised(reference))
    shared = (Counter(ours) & Counter(theirs)).total()
    return 2 * shared / (len(ours) + len(theirs)) if shared else 0.0


def rouge_l(response: str, reference: str) -> float:
    """2 x longest common subsequence / all words, case folded, no stemming (ROUGE-L, Lin 2004, beta 1)."""
    ours, theirs = _words(response), _words(reference)
    common = _common_length(ours, theirs)
    return 2 * common / (len(ours) + len(theirs)) if common else 0.0


def bleu(response: str, reference: str) -> float:
    """Sentence BLEU of sacrebleu / 100: exponential smoothing, effective order, case kept.

    Tokens are those of WMT (13a), with each Chinese character apart where the reference has any.
    UserError when sacrebleu is not installed.
    """
    scorer = _bleu_scorer("zh" if re.search(f"[{_BLANKLESS}]", reference) else "13a")
    score: float = scorer.sentence_score(normalize("NFC", response), [normalize("NFC", reference)]).score
    return min(1.0, score / 100)


METRICS: Mapping[str, Callable[[str, str], float]] = {
    "exact": exact,
    "normalised_exact": normalised_exact,
    "token_f1": token_f1,
    "rouge_l": rouge_l,
    "bleu": bleu,
}


def score(metric: str, response: str, reference: str, *, separator: str = "") -> float | None:
    """The metric of a response against its reference, None without one.

    `separator` parts a reference into alternatives, such as " | "; the best of them counts. UserError for
    a name that is not in METRICS.
    """
    if metric not in METRICS:
        raise UserError(f"There is no metric {metric!r}; use one of {', '.join(METRICS)}.")
    alternatives = reference.split(separator) if separator else [reference]
    scores = [METRICS[metric](response, text) for text in alternatives if text.strip()]
    return max(scores, default=None)


def judge_by_reference(
    metric: str,
    texts: Sequence[str],
    reference: str,
    *,
    threshold: float | None = None,
    margin: float = 0.0,
    separator: str = "",
) -> ReferenceVerdict:
    """Pass or fail for one text by the threshold; of two the one ahead by more than `margin`, else a tie.

    UserError for one text without a threshold; ValueError for any other number of texts.
    """
    scores = [score(metric, text, reference, separator=separator) for text in texts]
    known = [value for value in scores if value is not None]
    if len(known) < len(scores):
        return ReferenceVerdict(None, "The item has no reference to compare with.", "not_given")
    if len(known) == 1:
        return _single(metric, known[0], threshold=threshold)
    first, second = known
    told = f"{metric} is {first:.3f} for the first response and {second:.3f} for the second."
    return ReferenceVerdict(pair_choice(first, second, margin=margin), told)


def pair_choice(first: float, second: float, *, margin: float = 0.0) -> Literal["first", "second", "tie"]:
    """The slot with the higher score; scores that differ by no more than `margin` tie."""
    if margin < 0:
        raise UserError(f"The margin {margin} is negative; write 0 or more.")
    if abs(first - second) <= margin + 1e-12:  # 0.3 - 0.2 is a hair more than 0.1
        return "tie"
    return "first" if first > second else "second"


def metric_version(
    metric: str, *, threshold: float | None = None, margin: float = 0.0, separator: str = ""
) -> str:
    """The hash of all that decides this judge's verdicts; for BLEU that holds the library's signature."""
    library = [str(_bleu_scorer(name).get_signature()) for name in ("13a", "zh")] if metric == "bleu" else []
    decisive = json.dumps([metric, threshold, margin, separator, library])
    return hashlib.sha256(decisive.encode()).hexdigest()[:32]


def choose_threshold(
    scores: Sequence[float | None], labels: Sequence[str], *, seed: int = SEED
) -> ChosenThreshold:
    """The threshold with the best balanced accuracy on the develop items, with an honest estimate of it.

    Of the gaps between scores that are equally good the lowest counts, and its middle. The estimate is the
    leave-one-out bootstrap (Efron and Tibshirani 1997): each of 2,000 resamples, drawn within each class,
    repeats the choice and is judged on the items that it left out. Both class rates are then drawn from
    Beta(right + 1/2, wrong + 1/2) for the interval. In 80,000 simulated sets of 10 to 100 items, 50 or 80 %
    passing, scores smooth or in steps, it covers 96 % (worst case 88 %); forgetting the choice covers as
    little as 76 %. `labels` are "pass" or "fail", one for each score (else ValueError); None is missing.
    """
    known = [(value, label) for value, label in zip(scores, labels, strict=True) if value is not None]
    if not set(labels) <= {"pass", "fail"}:
        raise ValueError('labels must be "pass" or "fail"')
    order = np.argsort([value for value, _ in known], kind="stable")
    values = np.array([value for value, _ in known], dtype=np.float64)[order]
    passed = np.array([label == "pass" for _, label in known], dtype=np.bool_)[order]
    passes, missing = int(passed.sum()), len(labels) - len(known)
    if reason := _why_none(passes, len(known) - passes):
        estimate = undefined(reason, n=len(known), n_missing=missing)
        return ChosenThreshold(None, None, estimate, _TOO_FEW.format(passes, len(known) - passes))
    return _chosen(values, passed, missing=missing, seed=seed)


def _why_none(passes: int, fails: int) -> Reason | None:
    if passes + fails < FEWEST:
        return "too_few_items" if passes + fails else "no_items"
    smaller = min(passes, fails)
    return "zero_denominator" if smaller == 0 else "too_few_items" if smaller == 1 else None


def _chosen(values: Floats, passed: NDArray[np.bool_], *, missing: int, seed: int) -> ChosenThreshold:
    threshold = float(_best_thresholds(values, passed, np.ones((1, values.size), dtype=np.int64))[0])
    apparent = float(_by_class((values >= threshold) == passed, passed).mean())
    shares = _shares_right(values, passed, seed=seed)
    expected = float(_by_class(shares, passed).mean())
    sizes = np.array([passed.sum(), (~passed).sum()])
    right = _by_class(shares, passed) * sizes
    rates = np.random.default_rng(seed).beta(right + 0.5, sizes - right + 0.5, size=(DRAWS, 2))
    low, high = equal_tailed(rates.mean(axis=1), expected)
    few = ("few_items_of_a_class",) if sizes.min() < FEWEST else ()
    estimate = Estimate(expected, low, high, values.size, n_missing=missing, warnings=few, method=_METHOD)
    note = (
        f"On the {values.size} develop items of the choice the balanced accuracy is {apparent:.2f}; expect "
        f"{expected:.2f} on others: {max(0.0, apparent - expected):.2f} is optimism. The holdout decides."
    )
    return ChosenThreshold(threshold, apparent, estimate, note)


def _by_class(right: NDArray[np.generic], passed: NDArray[np.bool_]) -> Floats:
    return np.array([right[passed].mean(), right[~passed].mean()])


def _shares_right(values: Floats, passed: NDArray[np.bool_], *, seed: int) -> Floats:
    """For each item the share of thresholds, of those chosen without it, that judge it right."""
    generator = np.random.default_rng(seed)
    right, left_out = np.zeros(values.size), np.zeros(values.size)
    at_once = max(1, _CELLS // values.size)
    for done in range(0, RESAMPLES, at_once):
        times = _resampled(passed, min(at_once, RESAMPLES - done), generator=generator)
        verdicts = values >= _best_thresholds(values, passed, times)[:, None]
        left_out += (times == 0).sum(axis=0)
        right += ((times == 0) & (verdicts == passed)).sum(axis=0)
    return right / left_out


def _resampled(passed: NDArray[np.bool_], resamples: int, *, generator: np.random.Generator) -> Counts:
    """How often each resample (row) draws each item (column), the size of each class kept."""
    times = np.empty((resamples, passed.size), dtype=np.int64)
    for members in (passed, ~passed):
        size = int(members.sum())
        times[:, members] = generator.multinomial(size, np.full(size, 1 / size), size=resamples)
    return times


def _best_thresholds(values: Floats, passed: NDArray[np.bool_], times: Counts) -> Floats:
    """The best threshold of each row of counts; `values` ascend. Whole numbers, so that ties are exact."""
    cuts, starts = np.unique(values, return_index=True)
    passes = np.add.reduceat(times * passed, starts, axis=1)
    fails = np.add.reduceat(times * ~passed, starts, axis=1)
    found = passes[:, ::-1].cumsum(axis=1)[:, ::-1] * fails.sum(axis=1, keepdims=True)
    found += (fails.cumsum(axis=1) - fails) * passes.sum(axis=1, keepdims=True)
    best = found == found.max(axis=1, keepdims=True)
    first = best.argmax(axis=1)
    beyond = ~best & (np.arange(cuts.size) > first[:, None])
    last = np.where(beyond.any(axis=1), beyond.argmax(axis=1), cuts.size) - 1
    below, above = cuts[np.maximum(first - 1, 0)], cuts[last]
    middle: Floats = np.where(first > 0, np.maximum((below + above) / 2, np.nextafter(below, above)), below)
    return middle


def _single(metric: str, value: float, *, threshold: float | None) -> ReferenceVerdict:
    if threshold is None:
        raise UserError(f"{metric} has no threshold to pass a response: choose one on the develop items.")
    told = f"{metric} is {value:.3f}, the threshold {threshold:.3f}."
    return ReferenceVerdict("pass" if value >= threshold else "fail", told)


def _folded(text: str) -> str:
    return normalize("NFC", trimmed(text).casefold())


def _normalised(text: str) -> str:
    """Folded, without punctuation, articles and doubled blanks, unless that would leave nothing."""
    folded = _folded(text)
    bare = "".join(sign for sign in folded if sign not in string.punctuation and category(sign)[0] != "P")
    return " ".join(_ARTICLE.sub(" ", bare).split()) or folded


def _words(text: str) -> list[str]:
    folded = _folded(text)
    return _WORD.findall(folded) or folded.split()


def _common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence, one bit for each word of `first` (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << place
    everything = unmatched = (1 << len(first)) - 1
    for word in second:
        here = unmatched & places.get(word, 0)
        unmatched = (unmatched + here | unmatched - here) & everything
    return len(first) - unmatched.bit_count()


@lru_cache(maxsize=2)
def _bleu_scorer(tokens: str) -> Any:
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise UserError("BLEU needs sacrebleu: pip install 'judge-calibration[metrics]'.") from error
    return BLEU(effective_order=True, tokenize=tokens)
