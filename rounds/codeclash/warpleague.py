"""An arena of CodeClash in which agents write bots for Warp League; it belongs into codeclash/arenas/warpleague/.

The agents' code bases are bots: folders with a bot.toml. A round is one command, `warpleague league run`, which plays
all bots on the same deals in every seat order, and prints the scores as JSON. Its store is among the round's logs.
"""

import json
import shlex

from codeclash.agents.player import Player
from codeclash.arenas.arena import CodeArena, RoundStats
from codeclash.constants import RESULT_TIE
from codeclash.utils.environment import assert_zero_exit_code

HOUR_S = 3600


class WarpLeagueArena(CodeArena):
    """Plays `sims_per_round` deals at each table; `args.game` and `args.players` say at which."""

    name: str = "WarpLeague"
    submission: str = "bot.toml"
    default_args: dict = {"game": "aliens", "players": 2}
    description: str = """Your bot plays a board game about wormholes in Warp League.
`warpleague brief GAME` prints the rules, the messages and how to test; `warpleague bot check .` checks your bot.
"""

    def _arg(self, key):
        return self.game_config.get("args", {}).get(key, self.default_args[key])

    def execute_round(self, agents: list[Player]) -> None:
        """Write the league's file beside the logs, and run it with the folders of the agents.

        Tables are smaller in a round with fewer valid agents than `args.players`: at least two are here.
        """
        players = min(self._arg("players"), len(agents))
        league = f'[game]\nid = "{self._arg("game")}"\nplayers = {players}\n'
        league += f'[format]\ndeals = {self.game_config["sims_per_round"]}\nseats = "all"\n'
        logs, bots = self.log_env, "/round"
        folders = " ".join(shlex.quote(f"/{agent.name}") for agent in agents)
        command = (
            f"rm -rf {bots} && mkdir -p {bots} && ln -s {folders} {bots}/ && "
            f"printf %s {shlex.quote(league)} >{logs}/round.toml && warpleague league run {logs}/round.toml "
            f"--from-folders {bots} --results {logs}/results --quiet --json >{logs}/result.json"
        )
        assert_zero_exit_code(self.environment.execute(command, timeout=HOUR_S), logger=self.logger)

    def get_results(self, agents: list[Player], round_num: int, stats: RoundStats) -> None:
        """Scores are those of CodeClash, from 0 to `sims_per_round`; the details have the figures of Warp League.

        A bot's score is its share of points (the opponents that it beat, an equal one for half) times the deals, so
        that it compares with the `sims_per_round` of an agent whose opponents have no valid bot.
        """
        lines = json.loads((self.log_round(round_num) / "result.json").read_text())["standings"]
        for line in lines:
            score = line["share"] * self.game_config["sims_per_round"]
            stats.scores[line["bot"]] = stats.player_stats[line["bot"]].score = score
            stats.details.append(_figures(line))
        best = max(stats.scores.values())
        winners = [name for name, score in stats.scores.items() if score == best]
        stats.winner = winners[0] if len(winners) == 1 else RESULT_TIE

    def validate_code(self, agent: Player) -> tuple[bool, str | None]:
        """The check of Warp League, in the agent's own container."""
        command = (
            f"warpleague bot check . --quick --game {self._arg('game')} --players {self._arg('players')}"
        )
        done = agent.environment.execute(command, timeout=HOUR_S)
        return (True, None) if done["returncode"] == 0 else (False, done["output"])


def _figures(line: dict) -> str:
    """A line of the standings in words."""
    if line["rank_set"] is None:
        return f"{line['bot']}: disqualified"
    first, last = line["rank_set"]
    rank = f"rank {first}" if first == last else f"rank {first} to {last}"
    rating = (
        f"rating {line['rating']:.0f} ± {line['rating_half']:.0f}"
        if line["rating_half"]
        else "rating unknown"
    )
    if line["rating_above"] is not None:
        rating = f"rating above {line['rating_above']:.0f}"
    elif line["rating_below"] is not None:
        rating = f"rating below {line['rating_below']:.0f}"
    return (
        f"{line['bot']}: {rank}, {rating}, {line['share']:.1%} of the points, {line['played']} matches, "
        f"{line['faults']} faults"
    )
