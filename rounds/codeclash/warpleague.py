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
        """Write the league's file beside the logs, and run it with the folders of the agents."""
        league = f'[game]\nid = "{self._arg("game")}"\nplayers = {self._arg("players")}\n'
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
        """Scores are points: the shares of opponents beaten, summed over all matches."""
        lines = json.loads((self.log_round(round_num) / "result.json").read_text())["standings"]
        for line in lines:
            stats.scores[line["bot"]] = stats.player_stats[line["bot"]].score = line["points"]
            stats.details.append(f"{line['bot']}: rating {line['rating']}, faults {line['faults']}")
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
