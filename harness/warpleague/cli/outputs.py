"""What commands print with `--json`: the type of each output, and what its keys mean.

From here come `protocol/schema/output.json` and the page `docs/json.md`; the tests hold real output against it. A key
that may be missing is `NotRequired`; `None` is for what is not known, and is called null below a key.
"""

# The types are looked at: with annotations as texts, `NotRequired` would be lost.
from importlib import import_module
from typing import Any, Final, NotRequired, TypeAlias, TypedDict

from warpleague.arena.submissions.accounts import Invitation
from warpleague.arena.submissions.author_api import Received, Withdrawn
from warpleague.arena.submissions.jobs import Challenge, Submission, Trial
from warpleague.arena.submissions.ledger import Entry
from warpleague.cli.commands import EXTRAS

# -- parts ------------------------------------------------------------------------------------------------


class FaultyBot(TypedDict):
    """A bot that faulted."""

    bot: str
    played: int
    """its matches"""
    faulted: int
    """in how many of them it faulted"""
    kind: str
    """its most frequent kind of fault"""
    message: str
    """the first message of this kind"""


class FaultLine(TypedDict):
    """One fault."""

    bot: str
    number: int
    """the place of the match in the schedule, from 1"""
    match: str
    """the match's id"""
    seat: int
    """from 0"""
    kind: str
    n: int
    """the line of the record"""
    retired: bool
    """whether the bot was out with it"""
    message: str


class Disqualified(TypedDict):
    """A disqualification."""

    bot: str
    reason: str
    results: str
    """what becomes of its matches: `kept` or `removed`"""
    since: str


class Changed(TypedDict):
    """A change since the last run."""

    what: str
    """`added`, `removed`, `content`, `broken`, `format` or `rating`"""
    bot: str | None
    """null: it concerns the league"""
    text: str


class Confined(TypedDict):
    """How bots were confined in some matches."""

    matches: int
    found: dict[str, Any] | None
    """the `detail` of their records"""


class WrongMatch(TypedDict):
    """A match that does not hold."""

    number: int | None
    """its place in the schedule; null: it has none"""
    match: str | None
    """its id; null: the problem is the league's"""
    problem: str


class BoundedRating(TypedDict):
    """A rating without the matches in which a bot was retired for a fault."""

    matches_left_out: int
    rating: float | None
    rating_half: float | None
    """half its 95 % interval"""
    rating_above: float | None
    """with 95 % confidence, of a bot that won all of them"""
    rating_below: float | None
    """with 95 % confidence, of a bot that lost all of them"""
    differs: bool
    """whether the two ratings differ by more than their errors"""


class Standing(TypedDict):
    """A line of the standings."""

    rank: int | None
    """null: disqualified"""
    bot: str
    rating: NotRequired[float | None]
    """from all results at once, in Elo"""
    rating_half: NotRequired[float | None]
    """half its 95 % interval"""
    rating_above: NotRequired[float | None]
    """with 95 % confidence, of a bot that won all matches: its `rating` is an estimate"""
    rating_below: NotRequired[float | None]
    """with 95 % confidence, of a bot that lost all matches"""
    guessed: NotRequired[bool]
    """whether `rating` is an estimate with a bound only"""
    running_elo: NotRequired[float | None]
    """the figure that changes match by match"""
    tier: NotRequired[int | None]
    """differences of ratings are known within a tier: bots linked by wins in both directions"""
    island: NotRequired[int | None]
    """bots linked by matches"""
    provisional: NotRequired[bool]
    """whether too few matches were played for a place"""
    likelihood: NotRequired[float | None]
    """of being stronger than the next bot (LOS), from 0 to 1"""
    played: int
    won: NotRequired[int]
    drawn: NotRequired[int]
    lost: NotRequired[int]
    points: NotRequired[float]
    """the sum of shares of opponents beaten"""
    share: NotRequired[float | None]
    """of the points, from 0 to 1"""
    share_low: NotRequired[float | None]
    """of solo games with an opponent: the lower end of the 95 % interval of `share`"""
    share_high: NotRequired[float | None]
    """of solo games with an opponent: the upper end"""
    margin: NotRequired[float | None]
    """of solo games with an opponent: the mean difference in score to it"""
    margin_half: NotRequired[float | None]
    score: float | None
    """the mean score"""
    score_half: NotRequired[float | None]
    faults: int
    """their number"""
    disqualified: Disqualified | None
    lead: NotRequired[float | None]
    """the mean difference in score to the others in the same seats on the same deals"""
    lead_half: NotRequired[float | None]
    ahead: NotRequired[float | None]
    """of solo leagues: the difference to the next bot"""
    ahead_half: NotRequired[float | None]
    ahead_deals: NotRequired[int | None]
    """the deals that both played"""
    rank_set: NotRequired[list[int] | None]
    """the first and last rank that the bot may have by strength, right for all bots at once with 95 % confidence"""
    rating_without_faults: NotRequired[BoundedRating]
    """where a bot was retired for a fault in its matches"""
    faulted: NotRequired[int]
    """the matches in which it faulted"""
    fault_kind: NotRequired[str | None]
    fault_message: NotRequired[str | None]
    forfeits: NotRequired[int]
    """matches in which the bot was retired for a fault"""
    won_by_forfeit: NotRequired[int]
    """matches in which an opponent was"""
    version: NotRequired[str]
    content: NotRequired[str]
    """the digest of its content"""
    without_luck: NotRequired[float | None]
    """with `--without-luck`: the mean share of points without the dice"""
    without_luck_half: NotRequired[float | None]
    without_luck_gain: NotRequired[float | None]
    """how many times as many matches the share with luck would need for the same error"""
    reached: NotRequired[int | str | None]
    """of a knockout: the last round"""
    round_points: NotRequired[float | None]
    """of a Swiss"""
    buchholz: NotRequired[float | None]
    """of a Swiss: the points of all opponents"""


# -- leagues ----------------------------------------------------------------------------------------------


class League(TypedDict):
    """An output about a league."""

    league: str
    """its name"""


class Played(League):
    """What was played."""

    played: int
    """by this run"""
    complete: bool
    stopped: bool
    """by a person"""
    cpu_ms: float
    """processor time of all bots"""
    faults: list[FaultyBot]
    """the most frequent first"""
    stopped_at_fault: FaultLine | None
    """the fault at which `--stop-on-fault` ended the run"""


class Waited(Played):
    """The same, with the time that bots waited."""

    wait_ms: float
    """how long bots were ready while others had the processor"""


class Progress(Waited):
    """What a run did."""

    matches: int | None
    """of the league; null: without an end"""
    failure: str | None
    """why it was given up"""
    elapsed_s: float


class VoidMatch(TypedDict):
    """A match that was void in this run."""

    number: int
    match: str
    error: str


class Run(Progress):
    """A run of a league."""

    stored: int
    void: list[VoidMatch]
    commitment: str
    secret: str | None
    """once it is public"""
    entrants: str | None
    """the last commitment to the entrants"""
    beacon: str | None
    """its value, once it is known"""
    head: str
    """the receipt: number and link of the journal's last entry"""
    skipped: list[str]
    """about bots that were left out"""
    level: str
    held: list[Confined]
    standings: list[Standing]
    disqualified: list[Disqualified]


class Trouble(TypedDict):
    """Why a bot cannot take part."""

    bot: str
    folder: str
    what: str
    todo: str


class Problems(League):
    """In place of a run, if several bots cannot take part."""

    problems: list[Trouble]


class Commit(League):
    """The commitments of a season."""

    commitment: str
    committed: str
    """the time"""
    entrants: str | None
    entered: str | None
    """the time of the commitment to the entrants"""
    played: int
    store: str
    preimage: NotRequired[str]
    """what the commitment is the hash of, once it is public"""


class Since(TypedDict):
    """A commitment to entrants."""

    commitment: str
    since: str


class Status(League):
    """How far a league is."""

    game: str
    rules: int
    bots: list[str]
    format: str
    matches: int | None
    stored: int
    complete: bool
    other: int
    """stored matches of earlier bots or formats"""
    commitment: str
    published: str | None
    """since when the secret is public"""
    secret: str | None
    committed: str
    entrants: str | None
    entered: list[Since]
    """all commitments to the entrants"""
    beacon: str | None
    awaits: str | None
    """the beacon for which the season waits"""
    head: str
    level: str
    held: list[Confined]
    created: str
    harness: str
    store: str
    skipped: list[str]
    changed: list[Changed]
    disqualified: list[Disqualified]
    taken_out: int
    """stored matches that no longer count because of a disqualification"""
    faults: list[FaultyBot]
    earlier: dict[str, int]
    """by bot: stored matches of its earlier versions"""
    void: dict[str, int]
    """by bot: its matches that were begun in vain"""


class Standings(League):
    """The standings of a league."""

    matches: int
    """that count"""
    tells_apart: float | None
    """how much two bots must differ for the season to tell them apart, in Elo or in the unit that ranks"""
    matches_to_halve: int | None
    """about how many more matches would halve that"""
    standings: list[Standing]
    """by rank"""


class GameWeight(TypedDict):
    """A league of a table over several."""

    league: str
    game: str
    weight: float


class LeagueShare(TypedDict):
    """What a bot reached in one of several leagues."""

    share: float
    share_half: float | None
    opponents: int
    """other programs"""
    deals: int


class StandingTogether(TypedDict):
    """A line of a table over several leagues."""

    rank: int | None
    bot: str
    version: str
    copies: list[str]
    """other names of the same content"""
    share: float | None
    """null: it has not played in all leagues"""
    share_half: float | None
    shares: dict[str, LeagueShare]
    """by league"""
    lacks: list[str]
    """leagues in which it has not played"""
    disqualified_in: list[str]


class Together(TypedDict):
    """The standings over several leagues, with `--together`."""

    leagues: list[GameWeight]
    standings: list[StandingTogether]


class Meeting(TypedDict):
    """Two bots against each other."""

    points: float
    meetings: int
    likelihood: float | None
    """of being stronger than the bot in `against`"""


class CrosstableLine(TypedDict):
    """A bot against each other one."""

    bot: str
    against: dict[str, Meeting]


class Tie(TypedDict):
    """A tie of a knockout, or a table of a Swiss."""

    round: int | str
    bots: list[str | None]
    points: list[float]
    """two for each match won and one for each drawn"""
    deals: int
    winner: str | None
    decided: str | None
    """by `points`, `seed`, `bye` or `absent`, for a disqualified opponent"""
    faulted: list[int]
    """for each of its bots: in how many matches it faulted"""


class SeatLine(TypedDict):
    """The results of a seat."""

    seat: int
    played: int
    won: int
    drawn: int
    lost: int
    share: float | None
    share_low: float | None
    """the lower end of the 95 % interval of `share`, with the deal as the unit"""
    share_high: float | None
    score: float | None
    faults: int
    even: bool
    """whether every bot sat in all seats equally often"""


class BotTimes(TypedDict):
    """The times of a bot."""

    bot: str
    matches: int
    decisions: int
    timeouts: int
    """decisions that it did not make in time: no other key counts them"""
    mean_wall_ms: float | None
    """of its decisions"""
    mean_cpu_ms: float | None
    mean_wait_ms: float | None
    longest_ms: float
    longest_match: str | None


class MachineTimes(TypedDict):
    """A machine of a cluster against all others, with `--workers`."""

    machine: str
    matches: int
    faulted: int
    speed: float | None
    """relative to all others"""
    speed_low: float | None
    """the lower end of its 95 % interval"""
    speed_high: float | None
    residual: float | None
    """how improbable its results are"""
    stands_out: bool
    """whether they are too improbable"""


class ServiceUse(TypedDict):
    """A bot that reported a service."""

    bot: str
    matches: int
    failures: int
    most_failures: int
    """in one match"""
    void: int
    retries: int
    input_tokens: int
    output_tokens: int
    cost: float


class MatchLine(TypedDict):
    """A match of the schedule."""

    number: int
    match: str
    deal: int
    played: bool
    seats: list[str]
    """the bots"""
    ranks: NotRequired[list[int]]
    """of a played match, as the keys below"""
    scores: NotRequired[list[float]]
    rival: NotRequired[float]
    """of solo games with an opponent: its score"""
    why: NotRequired[str]
    """how it ended"""
    digest: NotRequired[str]
    faults: NotRequired[list[int]]
    """their number by seat"""
    disqualified: NotRequired[list[str]]
    """names at the table"""
    counts: NotRequired[bool]
    """where a bot is disqualified: whether the tables count the match"""


class TableFile(TypedDict):
    """A table that was written."""

    table: str
    file: str
    rows: int


class Sample(TypedDict):
    """What part was executed again."""

    matches: int
    of: int
    seed: str


class Verified(League):
    """What `verify` found."""

    test: NotRequired[dict[str, Any]]
    """of a test of strength, computed again"""
    records: int
    """that were executed again"""
    wrong: list[WrongMatch]
    journal: int
    """its number of entries"""
    head: str
    sample: Sample | None
    """null: all records were executed"""


class Decision(League):
    """A disqualification or its end."""

    bot: str
    reason: str
    results: NotRequired[str]
    since: NotRequired[str]
    head: str


class RemovedMatch(TypedDict):
    """A match that was removed."""

    match: str
    problem: str


class Mended(League):
    """What `mend` removed."""

    removed: list[RemovedMatch]


class Merged(TypedDict):
    """What came from a store."""

    store: str
    added: int
    shared: int
    differing: list[str]
    """matches that came out differently there; ours stay"""


class Backup(League):
    """A backup."""

    matches: int
    head: str
    copies: list[str]


class Replays(TypedDict):
    """Replay pages of a report."""

    made: int
    kept: int
    left_out: int


class Report(League):
    """A report that was written."""

    index: str
    matches: int
    total: int | None
    replays: Replays
    removed: int
    bytes: int
    elapsed_s: float
    problems: list[WrongMatch]
    changed: list[Changed]


class Best(Progress):
    """The search for the best bot."""

    bots: list[str]
    confidence: float
    """what was asked for"""
    within: float
    known: bool
    """whether the best bot is known"""
    best: str | None
    leader: str
    """who is first so far"""
    error: float | None
    """the probability that another bot is more than `within` Elo better than `leader`, at most so high"""
    round_robin_matches: int | None
    """about how many a round-robin takes to be as sure"""
    file: str
    """the league file that it wrote"""


class PreparedBot(TypedDict):
    """A bot that was built."""

    bot: str
    version: str
    digest: str


class Prepared(League):
    """Bots that were built before a run."""

    bots: list[PreparedBot]
    skipped: list[str]
    jobs: int | None
    """matches at the same time on the cluster, if there is one"""


class ThinkingTime(TypedDict):
    """How much a bot thought."""

    bot: str
    decisions: int
    cpu_ms: float
    """processor time of all these decisions together"""


class Test(TypedDict):
    """A test of strength. Shares and differences are parts of 1."""

    decision: str
    """`accepted`, `rejected` or `undecided`"""
    always_faulted: list[str]
    """`new` or `old` or both, if they faulted in every match: then nothing is known, and the exit code is 1"""
    llr: float
    """the logarithm of the likelihood ratio"""
    llr_low: float
    """at or below it the test rejects"""
    llr_high: float
    """at or above it the test accepts"""
    elo0: float
    elo1: float
    unit: str
    """of both: `elo` or `normalized`"""
    deals: int
    """whole deals up to the end of the test: those that count"""
    matches: int
    """of these deals; `played` may have more of this run, which had begun by then"""
    won: int
    """deals"""
    level: int
    lost: int
    values: list[list[float]]
    """how often deals had each value: the share of the new bot, or with a field the difference"""
    share_new: float
    share_old: float
    difference: float
    difference_half: float | None
    likelihood: float | None
    """that the new bot is stronger"""
    by_chance: float | None
    """of deals that all went one way: the probability of that between equal bots, at most"""
    one_way: str | None
    """`won`, `lost` or `level`, if all deals went so"""
    score: float
    """the mean difference in score on the same seats of the same deals"""
    score_half: float | None
    variance_ratio: float | None
    """the variance of `score` relative to that of matches with dice of their own"""
    share_variance_ratio: float | None
    left: int | None
    """about how many matches until the test decides"""
    difference_corrected: float | None
    """the difference, corrected for when the test stopped"""
    difference_low: float | None
    """the lower end of its 95 % interval"""
    difference_high: float | None
    elo: float | None
    """the same in Elo; with a field the difference of the ratings in `league standings`"""
    low: float | None
    """the lower end of its 95 % interval"""
    high: float | None


class Compared(Test, Waited):
    """A comparison of two bots."""

    new: str
    old: str
    field: list[str]
    """the other bots at the tables"""
    times: list[ThinkingTime]
    path: list[list[float]]
    """the number of deals and the likelihood ratio after them"""
    elo_is_a_guess: bool
    """with a field: a bot won or lost everything, so `elo` has no interval"""
    same_bot: bool
    """whether both are the same program"""
    file: str


class AgainstLevel(TypedDict):
    """Matches against a level."""

    bot: str
    level: int
    elo_over_random: float
    matches: int
    points: float


class Rated(Played):
    """How strong a bot is on the published scale."""

    bot: str
    game: str
    players: int
    scale: str
    """its digest"""
    field_level: int | None
    """the level of the bots in all other seats; null at tables of one and two"""
    random_distance_is_a_guess: bool
    """whether a level won all its matches against those below, so that Elo over random play is a guess"""
    level: float | None
    """null: it won or lost everything, or is beyond the scale"""
    level_low: float | None
    level_high: float | None
    elo_over_random: float | None
    elo_over_random_low: float | None
    elo_over_random_high: float | None
    levels_beaten: int
    """how many levels it surely beats: those below its interval"""
    same_as_levels: list[int]
    """the levels that are the same program"""
    won_every_match: bool
    lost_every_match: bool
    deals: int
    """whole deals up to the end of the rating: those that count"""
    matches: int
    """of these deals; `played` may have more of this run, which had begun by then"""
    against: list[AgainstLevel]
    elapsed_s: float
    faulted_in_every_match: bool
    """then nothing is known of its strength"""
    file: str


# -- matches and records ----------------------------------------------------------------------------------


class SeatFaults(TypedDict):
    """The last fault of a seat."""

    kind: str
    line: int
    """of the record"""
    retired: bool
    count: int
    """of all its faults"""


class MatchResult(TypedDict):
    """The result of a match."""

    match: str
    game: str
    seed: str | None
    """null: its key is not made of a text"""
    seats: list[str]
    ranks: list[int]
    scores: list[float]
    rival: NotRequired[float]
    why: str
    faults: list[SeatFaults | None]
    """by seat"""
    digest: str
    record: str | None
    """the file"""


class Branched(MatchResult):
    """A match that branches off from a record."""

    parent: dict[str, Any]


class Difference(TypedDict):
    """Where a match went otherwise."""

    line: int
    """of the record"""
    recorded: str
    played: str
    played_line: int | None
    """of the record of the match that was played again"""
    seat: int | None


class Reproduced(TypedDict):
    """A recorded match, played again."""

    match: str
    same: bool
    level: str
    digest: str
    recorded_digest: str
    strict: bool
    difference: Difference | None


class RecordVerified(TypedDict):
    """A record that holds, or does not."""

    file: str
    verified: bool
    error: NotRequired[str]
    """of a record that does not hold; it has no other keys"""
    match: NotRequired[str]
    game: NotRequired[str]
    seats: NotRequired[list[str]]
    ranks: NotRequired[list[int]]
    scores: NotRequired[list[float]]
    rival: NotRequired[float]
    why: NotRequired[str]
    digest: NotRequired[str]
    lines: NotRequired[int]
    decisions: NotRequired[int]
    chance: NotRequired[str]
    """`key`: the dice follow from the key; `possible`: it is not known"""
    sealed: NotRequired[bool]
    parent: NotRequired[dict[str, Any]]


class Step(TypedDict):
    """A line of a record with its events."""

    n: int
    line: dict[str, Any]
    events: list[dict[str, Any]]


class Output(TypedDict):
    """What a bot wrote in a match, with `--stderr` or `--wire`."""

    match: str
    seat: int
    bot: str
    stderr: NotRequired[str | None]
    wire: NotRequired[str | None]


class ReplayPage(TypedDict):
    """A page that was written."""

    match: str
    page: str
    bytes: int


# -- archives ---------------------------------------------------------------------------------------------


class Published(TypedDict):
    """An archive that was written."""

    archive: str
    signed: bool
    manifest: dict[str, Any]
    """what it holds, with digests"""


class Check(TypedDict):
    """A check of an archive."""

    verdict: str
    """`holds`, `wrong` or `unchecked`"""
    what: str
    text: str


class ArchiveVerified(TypedDict):
    """What an archive shows."""

    archive: str
    kind: str
    """`league` or `rounds`"""
    name: str
    holds: bool
    """whether nothing is wrong"""
    checks: list[Check]


# -- bots and this machine --------------------------------------------------------------------------------


class CheckFinding(TypedDict):
    """A part of a check."""

    what: str
    verdict: str
    """`ok`, `warning` or `failed`"""
    text: str
    code: str
    """names the kind of finding"""


class BotCheck(TypedDict):
    """The check of a bot."""

    bot: str
    ready: bool
    seed: str
    findings: list[CheckFinding]


class BotFolder(TypedDict):
    """A folder of a bot."""

    folder: str
    name: NotRequired[str]
    version: NotRequired[str]
    games: NotRequired[list[str]]
    """none: any game"""
    run: NotRequired[list[str]]
    error: NotRequired[str]
    """why it cannot be read; then there are no other keys"""


class Page(TypedDict):
    """A page of the documentation, or a place on it that has a word."""

    page: str
    title: NotRequired[str]
    path: NotRequired[str]
    heading: NotRequired[str]
    text: NotRequired[str]


class Option(TypedDict):
    """An option of a game."""

    default: Any
    help: str


class Game(TypedDict):
    """A game."""

    game: str
    title: str
    players: list[int]
    """the sizes of its tables"""
    rules: int
    """their version"""
    options: dict[str, Option | None]
    """null: it does not fit the table"""
    by_score: bool
    """whether the score ranks"""
    actions: list[str]


class Galaxy(TypedDict):
    """The galaxy of a match, with `--show-galaxy`."""

    game: str
    players: int
    seed: str
    options: dict[str, Any]
    setup: dict[str, Any]
    """as in the start message"""


class CachedBot(TypedDict):
    """A built bot in the cache."""

    name: str
    version: str
    digest: str
    level: str | None
    """at which it was built; null: without a build"""
    machine: str
    folder: str
    bytes: int
    used: str
    """when it was used last"""
    in_use: bool


class Cache(TypedDict):
    """The cache."""

    folder: str
    bots: list[CachedBot]


class Cleaned(TypedDict):
    """What was removed from the cache."""

    removed: list[CachedBot]
    kept: list[CachedBot]


class Promise(TypedDict):
    """A promise of a level."""

    promise: str
    text: str
    kept: bool
    reason: str | None
    """why it is not kept"""


class Level(TypedDict):
    """A level on this machine."""

    level: str
    holds: bool
    made_by: str | None
    failure: str | None
    promises: list[Promise]


class Doctor(TypedDict):
    """What this machine can do."""

    host: dict[str, Any]
    bots: dict[str, Any] | None
    """the `level`, and the Python, libraries and languages that bots find at it"""
    levels: list[Level]


# -- arenas -----------------------------------------------------------------------------------------------


class Token(TypedDict):
    """A token, which is shown only now."""

    author: str
    member: NotRequired[str]
    token: str


class Ended(TypedDict):
    """An author, a member or an invitation that has ended."""

    author: NotRequired[str]
    member: NotRequired[str]
    invitation: NotRequired[int]
    revoked: NotRequired[bool]
    removed: NotRequired[bool]


class ListedAuthor(TypedDict):
    """An author."""

    id: int
    name: str
    organiser: bool
    added: str
    revoked: str | None
    members: list[str]


class Invited(TypedDict):
    """A new invitation, whose link is shown only now."""

    invitation: int
    link: str
    uses: int
    days: int


class ArenaDecision(League):
    """A decision that is carried out when the league is played next."""

    what: str
    bot: NotRequired[str]
    match: NotRequired[str]
    reason: NotRequired[str]
    results: NotRequired[str]


class Exported(TypedDict):
    """Submissions that were written."""

    submissions: int
    archives: int


class BotRecords(League):
    """Records of a bot that were fetched."""

    bot: str
    file: str
    bytes: int


class BotLog(League):
    """What a bot printed in a match."""

    bot: str
    match: str
    kind: str
    text: str


Json: TypeAlias = Any
"""The type of an output: a class, a list of one, or a union."""

OUTPUTS: Final[dict[str, Json]] = {
    "match": MatchResult,
    "games": list[Game] | Game | Galaxy,
    "docs": list[Page] | Page,
    "play": MatchResult,
    "bot check": BotCheck,
    "bot list": list[BotFolder],
    "reproduce": Reproduced,
    "publish": Published,
    "verify": ArchiveVerified,
    "replay show": list[Step] | Output,
    "replay verify": RecordVerified | list[RecordVerified],
    "replay page": ReplayPage,
    "replay branch": Branched,
    "league run": Run | Problems,
    "league commit": Commit,
    "league status": Status,
    "league standings": Standings | Together,
    "league crosstable": list[CrosstableLine],
    "league bracket": list[Tie],
    "league seats": list[SeatLine],
    "league faults": list[FaultLine],
    "league times": list[BotTimes] | list[MachineTimes],
    "league services": list[ServiceUse],
    "league matches": list[MatchLine],
    "league export": list[str] | list[TableFile],
    "league verify": Verified,
    "league disqualify": Decision,
    "league reinstate": Decision,
    "league mend": Mended,
    "league merge": list[Merged],
    "league backup": Backup,
    "league report": Report,
    "league best": Best,
    "doctor": Doctor,
    "cache": Cache,
    "cache list": Cache,
    "cache clean": Cleaned,
    "compare": Compared,
    "rate": Rated,
    "league prepare": Prepared,
    "submit": Received | list[Submission] | BotRecords | BotLog | Withdrawn | Trial | list[Trial],
    "arena challenge": Challenge,
    **dict.fromkeys(("arena author add", "arena author renew", "arena author add-member"), Token),
    **dict.fromkeys(("arena author revoke", "arena author remove-member", "arena uninvite"), Ended),
    "arena limits": dict[str, int],
    "arena submissions": list[Submission],
    "arena export": Exported,
    **{
        f"arena {word}": ArenaDecision
        for word in ("pause", "resume", "extend", "close", "disqualify", "reinstate", "replay")
    },
    "arena journal": list[Entry],
    "arena author list": list[ListedAuthor],
    "arena invitations": list[Invitation],
    "arena invite": Invited,
}
"""By command: what it prints with `--json`. An extra declares its own, in the module that its `EXTRA` names."""


def outputs() -> dict[str, Json]:
    """`OUTPUTS`, with those of the extras."""
    found = dict(OUTPUTS)
    for module in EXTRAS:
        if (name := import_module(module).EXTRA.outputs) is not None:
            found |= import_module(name).OUTPUTS
    return found
