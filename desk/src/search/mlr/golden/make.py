"""Runs the package MLRsearch beside ours: python3 make.py TOOL SEEDS [bounds.json].

TOOL is the example `mlr` of the crate desk, whose simulated devices both search. A row a device:
trial-seconds of ours and of the package (geometric means), their ratio, the bar. With a file name,
writes there how long the package took, and what its classifier says of logs: of ours, and of
trials drawn by chance. The tests of desk hold ours against that file.
"""

import json
import math
import random
import subprocess
import sys
from importlib.metadata import version

from MLRsearch import (
    AbstractMeasurer,
    Config,
    MeasurementResult,
    MultipleLossRatioSearch,
    SearchGoal,
)
from MLRsearch.discrete_load import DiscreteLoad
from MLRsearch.discrete_result import DiscreteResult
from MLRsearch.load_rounding import LoadRounding
from MLRsearch.load_stats import LoadStats
from MLRsearch.measurement_database import MeasurementDatabase
from MLRsearch.target_scaling import TargetScaling

NAMES = [
    "hard", "buffer of 4,096", "buffer of 65,536", "jitter of 1 %", "jitter of 0.2 %",
    "stalls of 2 ms", "stalls of 20 ms", "thin loss above 0.6", "soft knee", "two states",
    "bit errors", "collapse",
]
WITHIN = (1e4, 14.88e6)
BAR = 0.88


def goals(losses=(0.0, 0.005), **more):
    return [SearchGoal(loss_ratio=loss, fail_fast=False, **more) for loss in losses]


class Served(AbstractMeasurer):
    def __init__(self, tool):
        self.served = subprocess.Popen(
            [tool, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.seconds = 0.0

    def device(self, number, seed):
        self.served.stdin.write(f"device {number} {seed}\n")
        self.seconds = 0.0

    def measure(self, intended_duration, intended_load):
        self.served.stdin.write(f"trial {intended_load!r} {intended_duration!r}\n")
        self.served.stdin.flush()
        sent, lost = (int(word) for word in self.served.stdout.readline().split())
        self.seconds += intended_duration
        return MeasurementResult(
            intended_duration, intended_load, offered_count=sent, loss_count=lost
        )


def theirs(tool, seeds):
    measurer = Served(tool)
    seconds = []
    for number in range(len(NAMES)):
        seconds.append([])
        for seed in range(seeds):
            measurer.device(number, seed)
            config = Config(
                goals=goals(), min_load=WITHIN[0], max_load=WITHIN[1],
                search_duration_max=1e9, warmup_duration=None,
            )
            MultipleLossRatioSearch(config).search(measurer, debug=lambda _: None)
            seconds[-1].append(round(measurer.seconds, 6))
    return seconds


def bounds(wanted, trials):
    """What the package makes of these trials: bounds and conditional throughput of each goal."""
    # The last width keeps loads apart that are 1/64 of a width from each other.
    widths = [goal.relative_width for goal in wanted] + [1e-5]
    rounding = LoadRounding(WITHIN[0], WITHIN[1], widths)
    scaling = TargetScaling(goals=tuple(wanted), rounding=rounding)
    database = MeasurementDatabase(scaling.targets)
    loads = {}
    for load, duration, sent, lost in trials:
        at = DiscreteLoad(rounding=rounding, float_load=load)
        assert loads.setdefault(int(at), load) == load, "two loads of one number"
        if at not in database.load_to_stats:
            stats = LoadStats.new_empty(at.rounded_down(), scaling.targets).target_to_stat
            database.load_to_stats[at] = LoadStats(
                rounding=rounding, float_load=load, target_to_stat=stats
            )
        result = MeasurementResult(duration, load, offered_count=sent, loss_count=lost)
        database.load_to_stats[at].add(result)
    database._sort()
    answers = []
    for goal in wanted:
        found = database.get_relevant_bounds(scaling.goal_to_final_target[goal])
        lower, upper = (None if end is None else loads[int(end)] for end in (found.clo, found.chi))
        through = None
        if lower is not None:
            (stat,) = found.clo.target_to_stat.values()
            through = lower * (1.0 - stat.pessimistic_loss_ratio)
        answers.append([lower, upper, through])
    return answers


def case(wanted, trials):
    keys = ("loss_ratio", "exceed_ratio", "initial_trial_duration", "final_trial_duration",
            "duration_sum", "relative_width", "preceding_targets")
    told = [[getattr(goal, key) for key in keys] for goal in wanted]
    return {"goals": told, "trials": trials, "bounds": bounds(wanted, trials)}


def by_chance(chance):
    """Trials of unlike length at few loads, so that every rule of the classifier has its turn."""
    wanted = [
        SearchGoal(
            loss_ratio=chance.choice([0.0, 0.0, 0.001, 0.01]),
            exceed_ratio=chance.choice([0.0, 0.1, 0.5, 0.75]),
            initial_trial_duration=1.0, final_trial_duration=chance.choice([1.0, 2.0, 4.0]),
            duration_sum=chance.choice([4.0, 9.0, 21.0]), fail_fast=False,
        )
        for _ in range(chance.randint(1, 3))
    ]
    wanted = list(dict.fromkeys(wanted))
    loads = sorted(round(10 ** chance.uniform(4.5, 7), 3) for _ in range(6))
    middle = chance.randint(0, 5)
    trials = []
    for _ in range(chance.randint(10, 80)):
        at = chance.randrange(6)
        sent = 100000
        fails = chance.random() < (0.1, 0.5, 0.9)[1 + (at > middle) - (at < middle)]
        lost = int(sent * chance.choice([0.0005, 0.005, 0.05])) if fails else 0
        trials.append([loads[at], chance.choice([0.5, 1.0, 1.5, 2.0, 4.0, 5.0]), sent, lost])
    return case(wanted, trials)


def ours(tool, seeds):
    seconds = [[0.0] * seeds for _ in NAMES]
    said = subprocess.run([tool, "search", str(seeds)], check=True, capture_output=True, text=True)
    for line in said.stdout.splitlines():
        _, number, seed, took = line.split()
        seconds[int(number)][int(seed)] = float(took)
    return seconds


def logs(tool, seeds):
    said = subprocess.run([tool, "log", str(seeds)], check=True, capture_output=True, text=True)
    trials = []
    for line in said.stdout.splitlines():
        words = line.split()
        if words[0] == "search":
            yield case(goals(), trials)
            trials = []
        else:
            load, duration, sent, lost = words[1:]
            trials.append([float(load), float(duration), int(sent), int(lost)])


def mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def main(tool, seeds, file=None):
    name = f"MLRsearch {version('MLRsearch')}"
    peer, own = theirs(tool, seeds), ours(tool, seeds)
    print(f"{'device':20} {'ours s':>7} {name + ' s':>18} {'ratio':>6}   bar {BAR}")
    ratios = []
    for at, device in enumerate(NAMES):
        pairs = [mine / other for mine, other in zip(own[at], peer[at])]
        ratios.append(mean(pairs))
        print(f"{device:20} {mean(own[at]):7.1f} {mean(peer[at]):18.1f} {ratios[-1]:6.3f}")
    whole = mean(ratios)
    verdict = "ok" if whole <= BAR else "short"
    print(f"{'all devices':20} {mean(sum(own, [])):7.1f} {mean(sum(peer, [])):18.1f} "
          f"{whole:6.3f}   {BAR}  {verdict}")
    print(f"{int(whole <= BAR)} of 1 cells at the bar")
    if file:
        chance = random.Random(9971)
        cases = list(logs(tool, 2)) + [by_chance(chance) for _ in range(200)]
        told = {"made_by": {"MLRsearch": version("MLRsearch")}, "seconds": peer, "cases": cases}
        lines = ",\n  ".join(json.dumps(one) for one in told.pop("cases"))
        head = json.dumps(told)[:-1]
        with open(file, "w") as out:
            out.write(f'{head}, "cases": [\n  {lines}\n]}}\n')
    return 0 if whole <= BAR else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:]))
