"""RunStore: the only SQL about judge runs and verdicts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibration.asking import Message
from calibration.judging import Exchange, Job, JudgeRun, Outcome, RunState, RunSummary, job_key
from calibration.material import Attempt
from calibration.types import Verdict
from labels.schema import migrations as label_migrations
from labels.schema import open_database, writing
from labels.store import now
from labels.types import Added, Side

if TYPE_CHECKING:
    from sqlite_utils import Database

CHUNK = 500  # rows to one transaction, so that a long import never keeps an annotator waiting

_VERDICTS = """SELECT r.judge, r.criterion_id, v.* FROM verdicts v JOIN judge_runs r ON r.id = v.run_id
    WHERE r.criterion_id = ? ORDER BY r.rowid, v.rowid"""

# The same request may be answered for several runs and on several days; each answer counts once for a judge.
# A run that has a rule of its own for scores read others' answers by it: there only its own attempts tell.
# A way that sees each response alone is asked once: its verdict for the other order has no answer behind it.
_ATTEMPTS = """SELECT DISTINCT a.id, r.judge, v.item_id, v.first, a.choice, a.created_at, a.served_model
    FROM judge_runs r JOIN verdicts v ON v.run_id = r.id
    JOIN attempts a ON a.request_key = v.request_key AND a.usable = 1
    WHERE r.criterion_id = ? AND v.request_key != ''
    AND (a.run_id = r.id OR json_extract(r.plan, '$.mode') NOT IN ('questions', 'score'))
    AND (v.first != 'B' OR json_extract(r.plan, '$.mode') NOT IN ('score', 'rule', 'reference'))
    ORDER BY a.id"""


class RunStore:
    """The verdicts of one project; one per operation, never shared by threads."""

    def __init__(self, db: Database) -> None:
        self.db = db

    @classmethod
    @contextmanager
    def open(cls, path: Path | str) -> Iterator[RunStore]:
        """The store of an existing project; UserError when the file is missing or is no project."""
        from calibration.schema import migrations  # after labels.schema, which keeps pandas out

        with open_database(Path(path), label_migrations, migrations) as db:
            yield cls(db)

    def verdicts(self, criterion_id: str) -> list[Verdict]:
        """All verdicts about a criterion, in the order they arrived."""
        return [_verdict(row) for row in self.db.query(_VERDICTS, [criterion_id])]

    def attempts(self, criterion_id: str) -> list[Attempt]:
        """The usable answers to the requests behind a criterion's verdicts, in the order they arrived."""
        return [_attempt(row) for row in self.db.query(_ATTEMPTS, [criterion_id])]

    def judges(self, criterion_id: str) -> list[str]:
        """The judges that have rated this criterion, in the order they first did."""
        sql = "SELECT judge FROM judge_runs WHERE criterion_id = ? GROUP BY judge ORDER BY min(rowid)"
        return [row["judge"] for row in self.db.query(sql, [criterion_id])]

    def state(self) -> str:
        """A text that changes whenever a verdict arrives."""
        sql = "SELECT count(*), max(created_at) FROM verdicts"
        return " ".join(map(str, self.db.execute(sql).fetchone()))

    def start(self, run: JudgeRun) -> None:
        """Make the run known, or take it up again."""
        plan = json.dumps({"model": run.model, "mode": run.mode, "settings": dict(run.settings)})
        sql = """INSERT INTO judge_runs (id, judge, criterion_id, source, created_at, rubric_id, plan, state)
            VALUES (?, ?, ?, 'judge', ?, ?, ?, 'running')
            ON CONFLICT DO UPDATE SET state = 'running', finished_at = NULL"""
        with writing(self.db):
            self.db.execute(sql, (run.id, run.name, run.criterion_id, now(), run.rubric_id or None, plan))

    def finish(self, run_id: str, state: RunState) -> None:
        """Note how the run ended."""
        with writing(self.db):
            sql = "UPDATE judge_runs SET state = ?, finished_at = ? WHERE id = ?"
            self.db.execute(sql, (state, now(), run_id))

    def ask_to_stop(self, run_id: str) -> None:
        """Ask the process that carries the run out to stop."""
        with writing(self.db):
            sql = "UPDATE judge_runs SET state = 'stopping' WHERE id = ? AND state = 'running'"
            self.db.execute(sql, (run_id,))

    def state_of_run(self, run_id: str) -> str:
        """How the run stands, or nothing when there is no such run."""
        row = self.db.execute("SELECT state FROM judge_runs WHERE id = ?", (run_id,)).fetchone()
        return str(row[0]) if row else ""

    def answered(self, run_id: str) -> set[str]:
        """The keys of the jobs whose verdict this run holds already."""
        sql = """SELECT request_key, item_id, first, repeat FROM verdicts
            WHERE run_id = ? AND value IS NOT NULL"""
        return {job_key(*row) for row in self.db.execute(sql, (run_id,))}

    def reusable(self, request_key: str) -> Outcome | None:
        """What an equal request of any run was answered, None when it never was in a usable way."""
        found = "FROM attempts WHERE request_key = ? AND usable = 1 ORDER BY id LIMIT 1"
        if self.db.conn.execute(f"SELECT 1 {found}", [request_key]).fetchone() is None:
            return None  # most often, and many times a second
        return _outcome(next(iter(self.db.query(f"SELECT * {found}", [request_key]))))

    def record(self, run_id: str, done: Sequence[tuple[Job, Outcome, Verdict]]) -> None:
        """Store what came back, each with its exact prompt and its verdict, in one transaction."""
        with writing(self.db):
            for job, outcome, verdict in done:
                if outcome.calls:
                    self._insert_attempt(run_id, job, outcome)
                self._put_verdict(run_id, job, verdict)

    def withdraw(self, run_id: str, job: Job, *, verdict: Verdict) -> None:
        """Put a verdict back to unanswered, because the judge contradicted itself."""
        sql = """UPDATE verdicts SET value = NULL, choice = '', error = ?, reasoning = ?, raw = ?
            WHERE run_id = ? AND item_id = ? AND first = ? AND repeat = ?"""
        key = (run_id, job.item_id, job.first or "", job.repeat)
        with writing(self.db):
            self.db.execute("UPDATE attempts SET usable = 0 WHERE request_key = ?", (job.request.key,))
            self.db.execute(sql, (verdict.error, verdict.reasoning, verdict.raw, *key))

    def runs(self, criterion_id: str) -> list[RunSummary]:
        """All runs about a criterion with their counts, cost and latency."""
        sql = "SELECT * FROM judge_runs WHERE criterion_id = ? ORDER BY rowid"
        return [self._summary(row) for row in self.db.query(sql, [criterion_id])]

    def spent(self, run_id: str) -> float:
        """The known cost of a run so far, in dollars."""
        sql = "SELECT coalesce(sum(cost), 0) FROM attempts WHERE run_id = ?"
        return float(self.db.execute(sql, (run_id,)).fetchone()[0])

    def last_failure(self, run_id: str) -> str:
        """What was told of the newest verdict of a run that is missing because its request failed."""
        sql = "SELECT raw FROM verdicts WHERE run_id = ? AND error = 'error' ORDER BY created_at DESC LIMIT 1"
        row = self.db.execute(sql, (run_id,)).fetchone()
        return str(row[0]) if row else ""

    def seen(self, run_id: str, item_id: str, first: Side | None) -> list[Exchange]:
        """What the judge saw and said about an item in one order, newest first."""
        sql = """SELECT p.messages, a.text, a.thinking, a.served_model, a.error, a.created_at FROM attempts a
            JOIN prompts p ON p.id = a.prompt_id WHERE a.request_key IN (SELECT request_key FROM verdicts
            WHERE run_id = ? AND item_id = ? AND first = ?) ORDER BY a.id DESC"""
        rows = self.db.query(sql, [run_id, item_id, first or ""])
        return [Exchange(_messages(r["messages"]), r["text"], r["thinking"], r["served_model"]) for r in rows]

    def add_verdicts(self, verdicts: Sequence[Verdict], source: str) -> tuple[Added, list[Verdict]]:
        """Add verdicts that the project does not hold; those that contradict stored ones come back."""
        new, against = 0, []
        for start in range(0, len(verdicts), CHUNK):
            with writing(self.db):
                for verdict in verdicts[start : start + CHUNK]:
                    stored = self._stored(self._run(verdict, source), verdict)
                    new += stored is None
                    if stored is not None and stored != (verdict.value or verdict.error):
                        against.append(verdict)
        return Added(new, len(verdicts) - new - len(against)), against

    def scores(self, run_id: str) -> list[tuple[float, int]]:
        """For each item with a score in a run, the sum of its scores and how many there are."""
        sql = """SELECT sum(score), count(*) FROM (SELECT v.item_id,
            (SELECT json_extract(a.details, '$.score') FROM attempts a
                WHERE a.request_key = v.request_key AND a.usable ORDER BY a.rowid DESC LIMIT 1) AS score
            FROM verdicts v WHERE v.run_id = ?) WHERE score IS NOT NULL GROUP BY item_id"""
        return [(float(total), int(times)) for total, times in self.db.execute(sql, (run_id,))]

    def _insert_attempt(self, run_id: str, job: Job, outcome: Outcome) -> None:
        messages = json.dumps([[m.role, m.content] for m in job.request.messages], ensure_ascii=False)
        prompt_id = hashlib.sha256(messages.encode()).hexdigest()[:32]
        self.db.execute("INSERT OR IGNORE INTO prompts VALUES (?, ?)", (prompt_id, messages))
        said = (int(outcome.choice is not None), outcome.choice or "", outcome.error, outcome.text)
        model = (outcome.reasoning, outcome.thinking, outcome.served_model, outcome.finish_reason)
        tokens = (outcome.calls, outcome.prompt_tokens, outcome.completion_tokens)
        rest = (json.dumps(outcome.left_out), json.dumps(dict(outcome.details)), now())
        sql = """INSERT INTO attempts (request_key, run_id, prompt_id, usable, choice, error, text, reasoning,
            thinking, served_model, finish_reason, calls, prompt_tokens, completion_tokens, cost, latency,
            left_out, details, created_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"""
        key = (job.request.key, run_id, prompt_id)
        self.db.execute(sql, (*key, *said, *model, *tokens, outcome.cost, outcome.latency, *rest))

    def _put_verdict(self, run_id: str, job: Job, verdict: Verdict) -> None:
        """The newest verdict stands, but what was answered is never put back to unanswered."""
        key = (run_id, verdict.item_id, verdict.first or "", verdict.repeat)
        texts = (verdict.value, verdict.choice or "", verdict.error, verdict.reasoning, verdict.raw)
        sql = """INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
            value = excluded.value, choice = excluded.choice, error = excluded.error,
            reasoning = excluded.reasoning, raw = excluded.raw, created_at = excluded.created_at,
            request_key = excluded.request_key WHERE value IS NULL OR excluded.value IS NOT NULL"""
        self.db.execute(sql, (*key, *texts, now(), job.request.key))

    def _summary(self, row: dict[str, Any]) -> RunSummary:
        run_id, plan = row["id"], json.loads(row["plan"])
        sql = "SELECT error, count(*) AS n FROM verdicts WHERE run_id = ? GROUP BY error"
        counts = {r["error"]: r["n"] for r in self.db.query(sql, [run_id])}
        sql = """SELECT coalesce(sum(calls), 0), sum(cost), sum(cost IS NULL), avg(latency)
            FROM attempts WHERE run_id = ?"""
        calls, cost, unpriced, latency = self.db.execute(sql, (run_id,)).fetchone()
        sql = "SELECT DISTINCT served_model, left_out FROM attempts WHERE run_id = ?"
        asked = list(self.db.query(sql, [run_id]))
        left_out = {name for r in asked for name in json.loads(r["left_out"])}
        sql = """SELECT avg(value), min(value) FROM attempts, json_each(attempts.details)
            WHERE run_id = ? AND key GLOB '*_mass'"""
        valid_mass, least_mass = self.db.execute(sql, (run_id,)).fetchone()
        return RunSummary(
            id=run_id,
            judge=row["judge"],
            model=plan.get("model", row["judge"]),
            state=row["state"],
            verdicts=sum(counts.values()),
            unanswered={reason: n for reason, n in counts.items() if reason},
            calls=calls,
            cost=cost,
            unpriced=unpriced or 0,
            latency=latency,
            served=tuple(sorted({r["served_model"] for r in asked if r["served_model"]})),
            left_out=tuple(sorted(left_out)),
            started_at=row["created_at"],
            rubric_id=row["rubric_id"] or "",
            criterion_id=row["criterion_id"],
            tuned=bool(plan.get("settings", {}).get("chosen_on")),
            valid_mass=valid_mass,
            least_mass=least_mass,
        )

    def _run(self, verdict: Verdict, source: str) -> str:
        text = "\x1f".join((verdict.judge, verdict.criterion_id, "imported"))
        run_id = "j" + hashlib.sha256(text.encode()).hexdigest()[:20]
        sql = """INSERT INTO judge_runs (id, judge, criterion_id, source, created_at)
            VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"""
        self.db.execute(sql, (run_id, verdict.judge, verdict.criterion_id, source, now()))
        return run_id

    def _stored(self, run_id: str, verdict: Verdict) -> str | None:
        """What stands in this verdict's place already; None when it is new, or answers what was open."""
        key = (run_id, verdict.item_id, verdict.first or "", verdict.repeat)
        texts = (verdict.value, verdict.choice or "", verdict.error, verdict.reasoning, verdict.raw)
        sql = """INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')
            ON CONFLICT DO UPDATE SET value = excluded.value, choice = excluded.choice,
            error = excluded.error, reasoning = excluded.reasoning, raw = excluded.raw,
            created_at = excluded.created_at WHERE value IS NULL AND excluded.value IS NOT NULL"""
        if self.db.execute(sql, (*key, *texts, now())).rowcount:
            return None
        sql = """SELECT coalesce(value, error) FROM verdicts
            WHERE run_id = ? AND item_id = ? AND first = ? AND repeat = ?"""
        return str(self.db.execute(sql, key).fetchone()[0])


def _messages(text: str) -> tuple[Message, ...]:
    return tuple(Message(role, content) for role, content in json.loads(text))


def _outcome(row: dict[str, Any]) -> Outcome:
    """A stored answer that is used again: nothing is asked, so it costs nothing."""
    return Outcome(
        choice=row["choice"],
        reasoning=row["reasoning"],
        text=row["text"],
        thinking=row["thinking"],
        served_model=row["served_model"],
        finish_reason=row["finish_reason"],
        calls=0,
        cost=0.0,
        left_out=tuple(json.loads(row["left_out"])),
        details=json.loads(row["details"]),
    )


def _verdict(row: dict[str, object]) -> Verdict:
    names = ("judge", "criterion_id", "item_id", "value", "repeat", "error", "reasoning", "raw")
    known = {name: row[name] for name in names}
    known |= {"first": row["first"] or None, "choice": row["choice"] or None}
    return Verdict(**known)  # type: ignore[arg-type]


def _attempt(row: dict[str, Any]) -> Attempt:
    day = row["created_at"][:10]
    return Attempt(
        row["judge"], row["item_id"], row["first"] or None, row["choice"], day, row["served_model"]
    )
