"""Programs are run in turn, their time and memory is taken, and a table of it is printed with its goals."""
import os, resource, shutil, statistics, subprocess, sys, time

ENVIRONMENT = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
ENVIRONMENT.pop("CI", None)  # `check --accept` refuses to write where it is set
# What tables and sections leave for the README.
README_ROWS = []


class Program:
    """a command; `exit` is how it ends where all is well; after `seconds` it is stopped"""

    def __init__(self, *argv, exit=0, seconds=None):
        self.is_installed = shutil.which(argv[0]) is not None
        self.argv, self.exits = list(argv), [exit]
        if seconds:
            self.argv, self.exits = ["timeout", str(seconds), *argv], [exit, 124]
        self.argv[0] = shutil.which(self.argv[0]) or self.argv[0]


class Table:
    """The first program of a table is what the others are compared with."""

    def __init__(self, title, programs, runs):
        self.results = measure(programs, runs)
        names = list(self.results)
        ours = self.results[names[0]]
        print(f"\n{title}\n  {'':<28}   median ms          (min to max)  peak MiB  polyloop's time to this one's")
        for name, result in self.results.items():
            low, high = min(result.seconds) * 1000, max(result.seconds) * 1000
            print(f"  {name:<28} {result.median * 1000:11.2f}  {f'({low:.2f} to {high:.2f})':>20}  {result.peak:>8}"
                  f"  {ours.median / result.median:8.3f}")
        if left_out := [name for name in programs if name not in self.results]:
            print(f"  not installed, left out: {'; '.join(left_out)}")
        self.add_readme_rows(title)

    def add_readme_rows(self, title):
        """one for each form of ours, with its time as a share of that of each peer"""
        ours = {name: result for name, result in self.results.items() if name.startswith("polyloop")}
        for name, a in ours.items():
            against = [f"{ratio(a.median / b.median)} {peer}" for peer, b in self.results.items() if peer not in ours]
            README_ROWS.append(f"| {title} ({name}) | {a.median * 1000:.3g} ms, {a.peak} MiB | {'; '.join(against)} |")

    def at_most(self, bound, peer, *ours):
        """the time of ours is at most so many times the peer's"""
        for name, a, b in self.pairs(ours, peer):
            print_goal(f"{name} <= {bound} x {peer}", f"{a.median / b.median:.2f}", a.median <= bound * b.median)

    def at_least(self, factor, peer, *ours):
        """ours are at least so many times as fast as the peer"""
        for name, a, b in self.pairs(ours, peer):
            value = f"{b.median / a.median:.1f}"
            print_goal(f"{name} >= {factor} times as fast as {peer}", value, factor * a.median <= b.median)

    def peak_at_most(self, mebibytes, *ours):
        for name in ours:
            result = self.results[name]
            print_goal(f"{name} <= {mebibytes:.0f} MiB", result.peak, result.peak_kib <= mebibytes * 1024)

    def peak_at_most_share(self, share, peer, *ours):
        """the memory of ours is at most the peer's, divided by so many"""
        for name, a, b in self.pairs(ours, peer):
            value = f"1/{b.peak_kib / a.peak_kib:.1f}"
            print_goal(f"{name} <= 1/{share} of the memory of {peer}", value, share * a.peak_kib <= b.peak_kib)

    def pairs(self, ours, peer):
        """each of ours with the peer, where both were measured"""
        for name in ours:
            if name in self.results and peer in self.results:
                yield name, self.results[name], self.results[peer]


class Result:
    def __init__(self, program):
        self.program, self.seconds, self.peak_kib, self.peak_is_bound = program, [], 0, False

    def add_run(self):
        seconds, peak = run(self.program)
        self.seconds.append(seconds)
        self.peak_kib = max(self.peak_kib, peak)

    def runs_due(self, runs):
        first = self.seconds[0] if self.seconds else 0
        return 1 if first > 10 else min(runs, 3) if first > 1 else runs

    @property
    def median(self):
        return statistics.median(self.seconds)

    @property
    def peak(self):
        return f"{'<= ' if self.peak_is_bound else ''}{self.peak_kib / 1024:.1f}"


def measure(programs, runs):
    results = {name: Result(program) for name, program in programs.items() if program.is_installed}
    for turn in range(runs):
        for result in results.values():
            if turn < result.runs_due(runs):
                result.add_run()
    for result in results.values():
        if result.peak_kib <= own_peak():
            seen = peak_through_time(result.program)
            result.peak_kib, result.peak_is_bound = seen or own_peak(), seen is None
    return results


def run(program, output="/dev/null", errors="/dev/null"):
    """the seconds and peak KiB of one run"""
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    files = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, output, write, 0o644),
             (os.POSIX_SPAWN_OPEN, 2, errors, write, 0o644)]
    started = time.perf_counter()
    child = os.posix_spawn(program.argv[0], program.argv, ENVIRONMENT, file_actions=files)
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - started
    code = os.waitstatus_to_exitcode(status)
    if code not in program.exits:
        sys.exit(f"{' '.join(program.argv[:8])}: exit {code}")
    return seconds, usage.ru_maxrss


def own_peak():
    """The peak KiB of this script. The kernel counts it for every child too, which begins as its copy: a smaller peak
    cannot be seen from here."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def peak_through_time(program):
    """The peak KiB of one run as GNU time reports it, which is small itself; nothing where it is not installed."""
    try:
        done = subprocess.run(["time", "-f", "%M", "-o", "peak.txt", *program.argv], env=ENVIRONMENT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        return None
    if done.returncode not in program.exits:
        return None
    with open("peak.txt", encoding="utf-8") as peak:
        return int(peak.read().split()[-1])


def print_goal(goal, value, is_met):
    print(f"  goal {goal} : {value} {'met' if is_met else 'missed'}")


def ratio(value):
    return f"{value:.2f} ×" if value > 0.1 else f"1/{1 / value:.0f}"
