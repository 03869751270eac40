"""Puts a test of strength into words: its state while it runs, and its verdict in a sentence."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from warpleague.counts import counted

if TYPE_CHECKING:
    from warpleague.league.ratings.sprt import Estimate
    from warpleague.league.schedule.formats.strength_test import StrengthTest

_WIDTH, _SHORTEST = 41, 9


def gauge(state: StrengthTest, width: int = _WIDTH) -> str:
    """The log likelihood ratio as a mark on a line between its bounds."""
    below, above = state.test.bounds
    share = (min(max(state.ratio, below), above) - below) / (above - below)
    line = ["─"] * width
    line[round(-below / (above - below) * (width - 1))] = "┼"
    line[round(share * (width - 1))] = "●"
    return f"{below:+.2f} ├{''.join(line)}┤ {above:+.2f}"


def numbers_line(state: StrengthTest) -> str:
    """Share, likelihood and deals of the new bot."""
    deals = f"deals won {state.won:,}, level {state.level:,}, lost {state.lost:,}"
    return ", ".join([*_share_words(state), deals])


def decided(state: StrengthTest) -> str:
    """The decision of the test, in one word."""
    return {1: "accepted", -1: "rejected", 0: "undecided"}[state.judged]


def state_lines(state: StrengthTest, *, over: bool = False, width: int = 100) -> list[str]:
    """The state in a few lines: ratio, share, likelihood, deals, and how much is left unless it is `over`.

    The line with the ratio keeps to `width` columns, as far as the line between the bounds can be shorter.
    """
    lines = []
    if not state.fixed:
        unit = " normalised" if state.test.unit == "normalized" else ""
        ends = f"LLR {state.ratio:+.2f}  ", f"  ({state.test.elo0:g} or {state.test.elo1:g}{unit} Elo)"
        room = width - len(ends[0]) - len(ends[1]) - len(gauge(state, 1)) + 1
        lines.append(ends[0] + gauge(state, min(max(room, _SHORTEST), _WIDTH)) + ends[1])
    lines.append(numbers_line(state))
    if not over and state.left is not None and _is_informative(state):
        lines.append(f"likely left: about {counted(state.left, 'match')}")
    return lines


def _is_informative(state: StrengthTest) -> bool:
    """Whether there are enough deals for an interval that rules anything out."""
    return state.half is not None and state.half < 0.5


def _share_words(state: StrengthTest) -> list[str]:
    """The share with its interval and the likelihood of superiority, as far as the deals tell them."""
    half, likelihood = state.half, state.superiority
    share = f"share {100 * state.counts.mean:.1f} %"
    if half is None or likelihood is None:
        return [share]
    if not _is_informative(state):
        return [f"{share} (too few deals yet for an interval)"]
    return [f"{share} ± {100 * half:.1f}", f"LOS {100 * likelihood:.1f} %"]


def brief(state: StrengthTest) -> str:
    """The state in one line."""
    below, above = state.test.bounds
    parts = [] if state.fixed else [f"LLR {state.ratio:+.2f} of {below:+.2f} to {above:+.2f}"]
    parts += [*_share_words(state), f"deals {state.won:,} won {state.level:,} level {state.lost:,} lost"]
    if state.left is not None and _is_informative(state):
        parts.append(f"about {counted(state.left, 'match')} left")
    return ", ".join(parts)


def estimate_words(estimate: Estimate) -> str:
    """An estimate with its interval."""
    if estimate.elo is None:
        if estimate.low is not None:
            return f"more than {estimate.low:+.0f} Elo (with 95 % confidence)"
        if estimate.high is not None:
            return f"less than {estimate.high:+.0f} Elo (with 95 % confidence)"
        return "no finite estimate"
    low, high = (
        sign if value is None else f"{value:+.0f}"
        for value, sign in ((estimate.low, "-∞"), (estimate.high, "+∞"))
    )
    return f"{estimate.elo:+.0f} Elo ({low} to {high} with 95 % confidence)"


def verdict(state: StrengthTest, new: str, old: str) -> str:
    """The decision of the test and the open part, in a sentence or two."""
    if not state.counts.deals:
        return "Nothing was played." if state.fixed else "Undecided: no deal was played to its end."
    size = f"after {counted(state.matches, 'match', 'matches')} on {counted(state.counts.deals, 'deal')}"
    unit = " normalised" if state.test.unit == "normalized" else ""
    if state.fixed:
        if state.by_chance is not None:
            return f"{decided(state).capitalize()} {size}: {_alike(state, state.by_chance, new, old)}"
        likelihood = state.superiority
        assert likelihood is not None  # the deals are not all alike
        if likelihood >= 1 - state.test.alpha:
            return f"Accepted {size}: {new} is stronger than {old}, with a likelihood of {100 * likelihood:.1f} %."
        if likelihood <= state.test.alpha:
            doubt = 100 * (1 - likelihood)
            return f"Rejected {size}: {old} is stronger than {new}, with a likelihood of {doubt:.1f} %."
        return f"Undecided {size}: {new} is stronger than {old} with a likelihood of {100 * likelihood:.1f} % only."
    elo0, elo1 = f"{state.test.elo0:g}", f"{state.test.elo1:g}"
    if state.decision > 0:
        text = f"Accepted {size}: {new} is better than {old} by {elo1}{unit} Elo rather than {elo0}."
    elif state.decision < 0:
        text = f"Rejected {size}: {new} is not better than {old} by {elo1}{unit} Elo, but by {elo0} or less."
    else:
        below, above = state.test.bounds
        ratio = f"its LLR of {state.ratio:+.2f} is between {below:+.2f} and {above:+.2f}"
        text = f"Undecided {size}: the test has chosen neither {elo0} nor {elo1}{unit} Elo, since {ratio}."
        text += _beside(state)
    return text


def one_way_lines(state: StrengthTest, new: str, old: str) -> list[str]:
    """That all deals went alike, if there are several and they did, and the verdict has not said so."""
    if state.one_way is None or state.counts.deals < 2 or state.fixed:
        return []
    if not state.one_way:
        return ["Every deal was level."]
    return [f"Every deal went one way: {new if state.one_way > 0 else old} won them all."]


def _beside(state: StrengthTest) -> str:
    """The estimate beside the hypotheses between which a test has not decided, and what may be left."""
    estimate, test = state.estimate(), state.test
    if test.unit == "normalized" or (estimate.low is None and estimate.high is None):
        return ""
    low = -inf if estimate.low is None else estimate.low
    high = inf if estimate.high is None else estimate.high
    inside = [elo for elo in (test.elo0, test.elo1) if low <= elo <= high]
    if len(inside) == 2:
        place = "holds both"
    elif inside:
        place = f"holds {inside[0]:g} and not {next(elo for elo in (test.elo0, test.elo1) if elo not in inside):g}"
    elif low > max(test.elo0, test.elo1):
        place = "lies above both"
    elif high < min(test.elo0, test.elo1):
        place = "lies below both"
    else:
        place = "lies between them"
    text = f" The 95 % interval of the estimate {place}"
    if state.left and len(inside) < 2:
        text += f"; if the deals go on like this, the test decides after about {state.left:,} more matches"
    return f"{text}."


def _alike(state: StrengthTest, chance: float, new: str, old: str) -> str:
    """The conclusion where all deals went alike, which has this probability at most if the bots are equal."""
    if not state.won and not state.lost:
        return "every deal was level."
    winner, loser = (new, old) if state.won else (old, new)
    percent = "less than 0.1 %" if chance < 0.001 else f"at most {100 * chance:.1f} %"
    return (
        f"{winner} won every deal; if it is not stronger than {loser}, the probability of that is {percent}."
    )


def exit_code(state: StrengthTest) -> int:
    """0: accepted, 1: rejected, 3: undecided."""
    return {1: 0, -1: 1, 0: 3}[state.judged]


def luck_lines(state: StrengthTest) -> list[str]:
    """The saving by shared deals, where it is known: first of what decides, then of the score."""
    part = "of what it is if each match has dice of its own."
    lines = []
    if state.beside and state.saved_share:
        mean = f"{100 * (state.counts.mean - 0.5):+.1f} points of 100"
        mean += "" if state.half is None or not _is_informative(state) else f" ± {100 * state.half:.1f}"
        lines.append(
            f"Decided by the difference of shares in the same seats of the same deals: {mean}; "
            f"its variance is {state.saved_share:.2f} {part}"
        )
    if state.saved:
        mean = f"{state.scores.mean:+.2f}"
        mean += "" if state.scores.half is None else f" ± {state.scores.half:.2f}"
        lines.append(
            f"Difference in score on the same seats of the same deals: {mean}; "
            f"its variance is {state.saved:.2f} {part}"
        )
    return lines
