"""Methods: what every number means; a link to one of them shows its paragraph first."""

from __future__ import annotations

import streamlit as st

from calibration.explained import Paragraph, paragraphs
from calibration.pages import _draw
from labels.looks import looked


def show() -> None:
    """The paragraph that was asked for, then all of them in order."""
    _draw.style()
    st.title("Methods")
    known = paragraphs()
    names = [name for name, paragraph in known.items() if paragraph.level == 3]
    asked = st.query_params.get("about", "")
    place = names.index(asked) if asked in names else None
    chosen = st.selectbox("Explain", names, index=place, placeholder="Choose a number by its name")
    first = known.get(chosen or asked)
    if first is not None:
        with st.container(border=True):
            st.html(f'<div class="jc-methods">{_html(first)}</div>')
    everything = "".join(f'<section id="{p.name}">{_html(p)}</section>' for p in known.values())
    st.html(f'<div class="jc-methods">{everything}</div>')


def _html(paragraph: Paragraph) -> str:
    heading = f"h{paragraph.level}"
    return f"<{heading}>{looked(paragraph.title, 'plain')}</{heading}>{looked(paragraph.text, 'markdown')}"


show()
