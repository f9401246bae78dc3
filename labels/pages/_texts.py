"""How texts stand on the labelling page: to the letter, each side in a frame that scrolls by itself."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from labels.looks import looked
from labels.types import BlindItem, Look, Rubric
from labels.web import escaped, shown_name

_STYLE = f"<style>{Path(__file__).with_name('texts.css').read_text(encoding='utf-8')}</style>"
SLOTS = {1: ("Response",), 2: ("First response", "Second response")}
RUBRIC_PARTS = ("Criterion", "Evidence you may use", "How to decide", "What to give")


def style() -> None:
    """Put the style of the labelling page on it."""
    st.html(_STYLE)


def heading(text: str, *, level: int) -> None:
    """A real heading, to the letter."""
    st.html(f'<h{level} class="jc-h{level}" dir="auto">{escaped(text)}</h{level}>')


def line(text: str) -> None:
    """A line of small print."""
    st.html(f'<p class="jc-small" dir="auto">{escaped(text)}</p>')


def notice(text: str) -> None:
    """A sentence that the person has to see, read out at once by a screen reader."""
    st.html(f'<p class="jc-notice" role="alert" dir="auto">{escaped(text)}</p>')


def person(name: str) -> None:
    """Under which name the labels are kept."""
    st.html(f'<p class="jc-small">Labelling as <bdi class="jc-name">{escaped(name)}</bdi></p>')


def item(shown: BlindItem) -> None:
    """Everything of an item in one piece, so that texts of two items never stand side by side."""
    st.html(item_html(shown))


def item_html(shown: BlindItem) -> str:
    """The item as HTML: prompt, context and reference where it has them, then the responses."""
    above = (("Prompt", shown.prompt), ("Context", shown.context), ("Reference", shown.reference))
    asked = "".join(_part(name, text, css="jc-above", look=shown.look) for name, text in above if text)
    names = SLOTS[len(shown.texts)]
    slots = zip(names, shown.texts, strict=True)
    sides = "".join(_part(name, text, css="jc-side", look=shown.look) for name, text in slots)
    return (
        f'<div class="jc-item" data-shown="{shown_name(shown)}">'
        f'<div class="jc-asked">{asked}</div><div class="jc-sides jc-{len(names)}">{sides}</div></div>'
    )


def rubric(shown: Rubric) -> None:
    """The rubric, one click away."""
    st.html(rubric_html(shown))


def rubric_html(shown: Rubric) -> str:
    """The rubric's parts as HTML that is closed at first; parts without text are left out."""
    texts = (shown.criterion, shown.evidence, shown.procedure, shown.output)
    parts = "".join(
        f'<dt>{name}</dt><dd class="jc-text" dir="auto">{escaped(text)}</dd>'
        for name, text in zip(RUBRIC_PARTS, texts, strict=True)
        if text
    )
    return f'<details class="jc-rubric"><summary>Rubric</summary><dl>{parts}</dl></details>'


def done(name: str, *, labelled: int, skipped: int) -> None:
    """The last page: what was done, with thanks."""
    if labelled or skipped:
        title, told = "All done, thank you", f"You labelled {labelled:,} and skipped {skipped:,}. "
        told += "Everything is saved, and you may close this page. Undo still takes the last one back."
    else:
        title, told = "Nothing to label", "There are no items for this question yet. Come back later."
    st.html(
        f'<div class="jc-done" data-shown="{shown_name(None)}"><h2 class="jc-h2">{title}, '
        f"<bdi>{escaped(name)}</bdi>.</h2><p>{told}</p></div>"
    )


def _part(name: str, text: str, *, css: str, look: Look) -> str:
    return (
        f'<section class="{css}"><h2 class="jc-h2">{name}</h2>'
        f'<div class="jc-text jc-frame" dir="auto" role="region" aria-label="{name}" tabindex="0">'
        f"{looked(text, look)}</div></section>"
    )
