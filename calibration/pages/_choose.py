"""What the result pages share: the project, its report, and the judge that is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from calibration.load import load_report, note_reveal, state_of
from calibration.types import AgreementReport, CriterionReport, JudgeReport
from labels.pages import annotator_id, project_path
from labels.store import LabelStore

SAMPLINGS = {
    "": "Not stated",
    "random": "At random among the items",
    "by_judge_verdict": "By the judge's verdict",
    "by_human_label": "By their label, for example half passes and half fails",
    "other": "In another way",
}


@st.cache_data(show_spinner="Comparing ...", max_entries=4)
def _cached_report(path: str, state: str) -> AgreementReport:
    del state  # a part of the cache's key: the report is made anew when it changes
    return load_report(path)


def report() -> AgreementReport:
    """The project's report, made anew when a label or a verdict has arrived."""
    path = project_path()
    return _cached_report(str(path), state_of(path))


def synthetic_notice(shown: AgreementReport) -> None:
    """Say of a made-up project that it is one."""
    if shown.synthetic:
        st.info("This project is synthetic: its texts, labels and judges were made up to show the tool.")


def criterion_with_judges(shown: AgreementReport) -> CriterionReport | None:
    """The criterion that the reader chose, among those that a judge has rated."""
    rated = [criterion for criterion in shown.criteria if criterion.judges]
    if not rated:
        st.info("No judge has rated these items yet; import verdicts: `calibrate import P.db --verdicts F`")
        return None
    if len(rated) == 1:
        return rated[0]
    kinds = [criterion.criterion.kind for criterion in rated]
    names = {"pairwise": "Pairs", "binary": "Single responses"}
    wanted = st.session_state.get("kind", kinds[0])
    index = kinds.index(wanted) if wanted in kinds else 0
    kind = st.radio("Question", kinds, index=index, format_func=lambda k: names[k], horizontal=True)
    st.session_state["kind"] = kind
    return rated[kinds.index(kind)]


def judge_of(criterion: CriterionReport) -> JudgeReport:
    """The judge that the reader chose; the choice is kept from page to page."""
    names = [judge.judge for judge in criterion.judges]
    wanted = st.session_state.get("judge", names[0])
    index = names.index(wanted) if wanted in names else 0
    number = st.selectbox("Judge", range(len(names)), index=index, format_func=lambda place: names[place])
    st.session_state["judge"] = names[number]
    return criterion.judges[number]


def sampling(judge: JudgeReport) -> None:
    """Ask how the labelled items were chosen, and keep it: the corrected pass rate depends on it."""
    if judge.pass_rate is None:
        return
    with LabelStore.open(project_path()) as store:
        stated = store.setting("calibration_sampling")
    choices = list(SAMPLINGS)
    index = choices.index(stated) if stated in choices else 0
    label = "How were the items chosen that people labelled?"
    chosen = st.selectbox(label, choices, index=index, format_func=lambda choice: SAMPLINGS[choice])
    if chosen != choices[index]:
        with LabelStore.open(project_path()) as store:
            store.set_setting("calibration_sampling", chosen)
        st.rerun()


def page(name: str) -> str:
    """The file of a result page, for links between pages."""
    return str(Path(__file__).parent / f"{name}.py")


def note_seen(criterion_id: str, item_ids: Sequence[str]) -> None:
    """Keep what was seen in the session until the reader has a name, then in the ledger of blindness."""
    seen = st.session_state.setdefault("seen", {})
    seen.setdefault(criterion_id, set()).update(item_ids)
    person = annotator_id()
    for name, items in seen.items() if person else ():
        note_reveal(project_path(), name, annotator_id=str(person), item_ids=sorted(items))
