"""Prints the results of an analysis: blunders, turning points, and the value of every decision, with error bars."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs
from rich.text import Text

from warpleague.extras.study.analyse import FIRST, Decision, read_analysis, record_of
from warpleague.extras.study.rerun import Rerun
from warpleague.games.api import JsonObject  # noqa: TC001 - read from the classes at run time
from warpleague.league.ratings.statistics import rounded
from warpleague.match.replay import Replay
from warpleague.report.site.match_page import Notes
from warpleague.report.site.write import NotesFile
from warpleague.report.terminal.console import make_console, make_table
from warpleague.report.wording.match_words import labels, one_line
from warpleague.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from warpleague.extras.study.analyse import Analysis, Mean, Plan, Turn, Verdict


# -- analysis words --------------------------------------------------------------------------------------
# Puts the results of an analysis into words, the same for the terminal and for pages.

_MAX_CHARS: Final = 160


def percent(value: float, shares: bool, *, sign: bool = False) -> str:
    """A share in percent, or a score."""
    form = "+" if sign else ""
    return f"{100 * value:{form}.1f} %" if shares else f"{value:{form}.1f}"


def with_error(mean: Mean, shares: bool, *, sign: bool = False) -> str:
    """A mean with half its 95 % interval."""
    error = (
        "?" if mean.interval is None else f"{100 * mean.interval:.1f}" if shares else f"{mean.interval:.1f}"
    )
    return f"{percent(mean.value, shares, sign=sign)} ± {error}"


def turn_text(turn: Turn, names: Sequence[str], shares: bool) -> str:
    """A turning point in words."""
    who = f"seat {turn.seat} {names[turn.seat]}"
    where = f"line {turn.n}" if turn.own else f"lines {turn.since} to {turn.n}"
    why = "its decision" if turn.own else "dice and the others"
    before, after = percent(turn.before, shares), percent(turn.after, shares)
    return f"{where}, {who}: {before} to {after}  ({with_error(turn.change, shares, sign=True)}), {why}"


def action_text(action: JsonObject) -> str:
    """An action as JSON, cut where it is very long."""
    text = json.dumps(action, ensure_ascii=False)
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + "…"


def by_text(analysis: Analysis) -> str:
    """The method of the analysis: the number of playouts, the bots, the known facts."""
    bots = ", ".join(dict.fromkeys(bot[0] for bot in analysis.about["bots"]))
    by = f"with {bots} in all seats" if bots else "at random, without bots"
    if len({tuple(bot) for bot in analysis.about["bots"]}) > 1:
        by = f"with {bots}"
    known = "all facts as they were" if analysis.about["all_known"] else "from what each seat knew"
    until = "to the bot's own estimate" if analysis.about["estimates"] else "to the end"
    return f"{counted(analysis.playouts, 'playout')} {until}, played {by}, {known}"


def limits_text(analysis: Analysis) -> str:
    """What playouts at random cannot know, in a sentence; empty where bots play on."""
    if analysis.about["bots"]:
        return ""
    return (
        "all seats play on at random: a plan of several good moves looks worse than it is, and a threat that takes "
        "good play looks harmless; --with BOT has a bot play on"
    )


# -- judged ----------------------------------------------------------------------------------------------
# The parts of an analysis that the page of a match shows: the values of judged decisions, blunders, and
# texts.


def notes_files(paths: Iterable[Path]) -> dict[str, NotesFile]:
    """The files of analyses as notes on matches, by the digests of the records that they are about."""
    files = {}
    for path in paths:
        digest, content = record_of(path)
        files[digest] = NotesFile(content, partial(read_notes, path))
    return files


def read_notes(path: Path, record: bytes) -> Notes:
    """The analysis of a record in its file, for the page of the match. `BadInput` if it is of another."""
    analysis = read_analysis(path, record)
    names = [one_line(seat["bot"]) for seat in Replay(record).header["seats"]]
    return Notes(
        judged(analysis, labels(names)), "; ".join(filter(None, (by_text(analysis), limits_text(analysis))))
    )


def judged(analysis: Analysis, names: Sequence[str]) -> dict[int, dict[str, Any]]:
    """For each judged line what its frame gets besides: `judged`, and `turn` at turning points.

    `worth` has the value before and after, and half the 95 % interval of the latter, where they are shares; `loss` is
    the share by which the best action found was better, where that is known.
    """
    by_line: dict[int, dict[str, Any]] = {}
    for verdict in analysis.verdicts:
        about: dict[str, Any] = {"told": _judged_table(verdict, analysis)}
        if analysis.plan.shares:
            about["worth"] = [
                round(value, 4)
                for value in (verdict.before.value, verdict.after.value, verdict.after.interval or 0)
            ]
            if verdict.loss is not None:
                about["loss"] = round(max(0.0, verdict.loss.value), 4)
        if verdict.blunder:
            about["blunder"] = True
        by_line[verdict.decision.n] = {"judged": about}
    for turn in analysis.turns:
        by_line[turn.n].setdefault("turn", safe(turn_text(turn, names, analysis.plan.shares), keep=""))
    return by_line


def _judged_table(verdict: Verdict, analysis: Analysis) -> list[list[str]]:
    shares, n = analysis.plan.shares, verdict.decision.n
    rows = [
        ["value before", with_error(verdict.before, shares)],
        ["value after", with_error(verdict.after, shares)],
    ]
    if verdict.loss is not None and verdict.best is not None and verdict.best != verdict.decision.played:
        rows.append(["lost", with_error(verdict.loss, shares)])
        rows.append(["best found", safe(action_text(analysis.actions[n, verdict.best]), keep="")])
    return [*rows, ["playouts", f"{verdict.playouts:,}"]]


# -- analysis --------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Value:
    """What an action or a position is worth to the seat that decides."""

    value: float
    error: float | None
    """half its 95 % interval; null: too few playouts to say"""
    playouts: int

    @classmethod
    def of(cls, mean: Mean) -> Value:
        """The value that a mean gives."""
        return cls(value=round(mean.value, 5), error=rounded(mean.interval, 5), playouts=mean.playouts)


@attrs.frozen(kw_only=True)
class LegalAction:
    """An action, and its place in the legal ones, from 0."""

    index: int
    action: JsonObject


@attrs.frozen(kw_only=True)
class Alternative(Value):
    """An action that was examined, and its place in the legal ones, from 0."""

    index: int
    action: JsonObject


@attrs.frozen(kw_only=True)
class TurningPoint:
    """A clear change of a seat's value."""

    n: int
    """the line of the record at its end"""
    since: int
    """the line at its beginning"""
    seat: int
    own: bool
    """by the seat's own decision; else by dice and the others"""
    before: float
    after: float
    change: Value

    @classmethod
    def of(cls, turn: Turn) -> TurningPoint:
        """The turning point that an analysis found."""
        fields: dict[str, Any] = attrs.asdict(turn, recurse=False)
        numbers = {"before": round(turn.before, 5), "after": round(turn.after, 5)}
        return cls(**fields | numbers | {"change": Value.of(turn.change)})


@attrs.frozen(kw_only=True)
class Judged(Decision):
    """A decision, and how good it was."""

    before: Value
    """if the bots choose at this decision, too"""
    after: Value
    """of the recorded action"""
    alternatives: list[Alternative]
    """at most three, the best first"""
    looked_at: int
    """the number of actions that were examined"""
    best: LegalAction | None
    loss: Value | None
    """how much better `best` was than the recorded action; null: not known yet"""
    blunder: bool
    playouts: int

    @classmethod
    def of(cls, verdict: Verdict, analysis: Analysis) -> Judged:
        """The decision that a verdict is about."""
        n, best = verdict.decision.n, verdict.best
        fields: dict[str, Any] = attrs.asdict(verdict.decision, recurse=False)
        return cls(
            **fields,
            before=Value.of(verdict.before),
            after=Value.of(verdict.after),
            alternatives=[
                Alternative(
                    index=other.index,
                    action=analysis.actions[n, other.index],
                    **attrs.asdict(Value.of(other.mean)),
                )
                for other in verdict.others
            ],
            looked_at=verdict.looked_at,
            best=None if best is None else LegalAction(index=best, action=analysis.actions[n, best]),
            loss=None if verdict.loss is None else Value.of(verdict.loss),
            blunder=verdict.blunder,
            playouts=verdict.playouts,
        )


@attrs.frozen(kw_only=True)
class Analysed:
    """The analysis of a match."""

    match: str
    game: str
    bots: list[str]
    """that played on, by seat; none: random actions"""
    seed: str
    estimates: bool
    """whether values that bots expect took the place of results"""
    all_known: bool
    """whether hidden facts stayed as they were"""
    unit: Literal["share", "score"]
    """of all values"""
    playouts: int
    faults: dict[str, int]
    """of the bots in these playouts, by kind"""
    blunders: list[int]
    """their lines in the record, the worst first"""
    turning_points: list[TurningPoint]
    """the largest first"""
    decisions: list[Judged]
    unknown: int
    """the number of decisions of which nothing is known yet"""
    stopped: bool
    """before all was known"""
    file: str
    elapsed_s: float

    @classmethod
    def of(
        cls, analysis: Analysis, replay: Replay, elapsed_s: float, path: Path, *, stopped: bool
    ) -> Analysed:
        """All results of the analysis of this match in a file."""
        about = analysis.about
        return cls(
            match=replay.header["id"],
            game=replay.header["game"],
            bots=[bot[0] for bot in about["bots"]],
            seed=about["seed"],
            estimates=about["estimates"],
            all_known=about["all_known"],
            unit="share" if analysis.plan.shares else "score",
            playouts=analysis.playouts,
            faults=analysis.faults,
            blunders=[each.decision.n for each in analysis.blunders],
            turning_points=[TurningPoint.of(turn) for turn in analysis.turns],
            decisions=[Judged.of(each, analysis) for each in analysis.verdicts],
            unknown=analysis.left,
            stopped=stopped,
            file=str(path),
            elapsed_s=round(elapsed_s, 3),
        )


OUTPUTS: Final = {"analyse": Analysed, "bot rerun": Rerun}
"""What the commands of this extra print with `--json`."""


def print_analysis(
    analysis: Analysis, replay: Replay, elapsed_s: float, most: int, *, every: bool = False
) -> None:
    """Print at most `most` blunders and turning points, and with `every` a table of all decisions."""
    console = make_console()
    names = [seat["bot"] for seat in replay.header["seats"]]
    shares = analysis.plan.shares
    if blunders := analysis.blunders:
        more = f" of {len(blunders)}" if len(blunders) > most else ""
        console.print(Text(f"Blunders ({min(len(blunders), most)}{more})", style="bold"))
        for verdict in blunders[:most]:
            _print_blunder(console, verdict, analysis, names)
    if analysis.turns:
        more = f" of {len(analysis.turns)}" if len(analysis.turns) > most else ""
        console.print(Text(f"Turning points ({min(len(analysis.turns), most)}{more})", style="bold"))
        for turn in analysis.turns[:most]:
            console.print(Text(safe(f"  {turn_text(turn, names, shares)}")), soft_wrap=True)
    if every:
        console.print(_table(analysis))
    print(summary_text(analysis, elapsed_s))


def summary_text(analysis: Analysis, elapsed_s: float | None = None) -> str:
    """How it was analysed, in one line or two."""
    judged = [each for each in analysis.verdicts if each.loss is not None]
    took = "" if elapsed_s is None else f", in {elapsed_s:.1f} s"
    text = f"{len(judged)} of {counted(len(analysis.verdicts) + analysis.left, 'decision')} judged"
    if judged:
        text += f"; blunders: {len(analysis.blunders) or 'none'}"
    else:
        text += f", so nothing is known of blunders: {_unjudged_text(analysis.plan)}"
    if judged or analysis.turns:
        text += f"; turning points: {len(analysis.turns) or 'none'}"
    text += f"\n{by_text(analysis)}{took}"
    if limits := limits_text(analysis):
        text += f"\n{limits}"
    if analysis.faults:
        faults = ", ".join(f"{count:,} {kind}" for kind, count in analysis.faults.items())
        text += f"\nfaults in these playouts: {faults}; the first legal action was played instead"
    return text


def _unjudged_text(plan: Plan) -> str:
    """What to do where no decision could be judged."""
    rounds = 2 * FIRST
    if plan.playouts < rounds:
        return f"a verdict takes --playouts {rounds} or more"
    faster = ", or name a faster bot --with" if plan.bots else ""
    return (
        f"one decision takes up to {counted(rounds * (1 + plan.actions), 'playout')}; choose decisions with --line N, "
        f"give more time with --seconds (the same command goes on){faster}"
    )


def _print_blunder(console: Console, verdict: Verdict, analysis: Analysis, names: list[str]) -> None:
    decision, shares = verdict.decision, analysis.plan.shares
    assert verdict.loss is not None
    assert verdict.best is not None
    head = f"  line {decision.n}, seat {decision.seat} {names[decision.seat]}, {decision.ask}: "
    head += f"lost {with_error(verdict.loss, shares)}"
    action = action_text(analysis.actions[decision.n, decision.played])
    played = f"      played {action}  ({with_error(verdict.after, shares)})"
    better = f"      better {action_text(analysis.actions[decision.n, verdict.best])}"
    for other in verdict.others:
        if other.index == verdict.best:
            better += f"  ({with_error(other.mean, shares)})"
    for line in (head, played, better):
        console.print(Text(safe(line)), soft_wrap=True)


def _table(analysis: Analysis) -> Table:
    shares = analysis.plan.shares
    table = make_table()
    for head in ("line", "seat", "decision", "before", "after", "lost", "", "playouts"):
        table.add_column(head, justify="left" if head in ("decision", "") else "right")
    for verdict in analysis.verdicts:
        decision = verdict.decision
        table.add_row(
            str(decision.n),
            str(decision.seat),
            decision.ask,
            with_error(verdict.before, shares),
            with_error(verdict.after, shares),
            "" if verdict.loss is None else with_error(verdict.loss, shares) if verdict.loss.value else "0",
            "blunder" if verdict.blunder else "",
            f"{verdict.playouts:,}",
        )
    return table
