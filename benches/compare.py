#!/usr/bin/env python3
"""Measure a release build of polyloop against other programs on the same files, and print ratios.

usage: benches/compare.py [--binary PATH] [--megabytes N] [--runs N] [--requests N] [render diff check ...]

Makes its own data (seeded, in a temporary folder), runs the programs in turn, and prints medians, ratios and peak
memory. Trust the ratios: the machine may be shared. Needs python3, openssl, cmp and GNU diff; standard library only.
"""
import argparse, json, os, random, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = ("error warning file line test build session decode retry timeout 登录 失败 naïve path/to/file.rs:12 "
         "assert_eq!(left,right) return None # comment").split()


def observation(rng, size):
    lines, length = [], 0
    while length < size:
        line = " ".join(rng.choice(WORDS) for _ in range(rng.randint(3, 14)))
        if rng.random() < 0.1:
            line = f"\x1b[31m{line}\x1b[0m"
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines) + "\n"


def request(rng, steps, size):
    pool = [observation(rng, size) for _ in range(min(steps, 16))]
    return {
        "prefix": [{"role": "system", "content": "You are at a shell."}],
        "injections": {"skills": [{"entry_id": "retry", "content": "When a command times out, retry it once."}]},
        "goal": [{"role": "user", "content": "Fix the failing login test."}],
        "observation_template": "Output:\n```\n{observation}\n```\n\n",
        "trajectory": [{"raw_output": f"run step {n}", "observation": f"{n}\n{pool[n % len(pool)]}"} for n in range(steps)],
    }


def dump(value, path):
    with open(path, "w", encoding="utf-8") as out:
        json.dump(value, out, ensure_ascii=False)


def apart(work):
    """does memory-hungry work in a process of its own: what this one holds would count as its children's peak"""
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit("the data could not be made")


def run(command, expect=(0,), output=subprocess.DEVNULL):
    """seconds and peak KiB of one run"""
    started = time.perf_counter()
    child = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in expect:
        sys.exit(f"{' '.join(command)}: exit {child.returncode}")
    return seconds, usage.ru_maxrss


def compare(title, commands, runs):
    """commands: name -> (command, exit codes); the first is polyloop's"""
    results = {name: [] for name in commands}
    for _ in range(runs):
        for name, (command, expect) in commands.items():
            results[name].append(run(command, expect))
    print(f"\n{title}")
    ours = statistics.median(seconds for seconds, _ in next(iter(results.values())))
    for name, measured in results.items():
        times = sorted(seconds for seconds, _ in measured)
        median = statistics.median(times)
        print(f"  {name:<28} {median * 1000:9.1f} ms  ({times[0] * 1000:.1f} to {times[-1] * 1000:.1f})"
              f"  {max(peak for _, peak in measured) / 1024:8.1f} MiB   polyloop takes {ours / median:6.2f} of its time")


def bench_render(o, folder):
    path = f"{folder}/request.json"
    apart(lambda: dump(request(random.Random(1), o.megabytes * 50, 19_000), path))
    size = os.path.getsize(path) / 1e6
    compare(f"render: a JSON request of {size:.0f} MB to the canonical stream", {
        "polyloop render -f jsonl": ([o.binary, "render", path, "-f", "jsonl"], (0,)),
        "polyloop render --summary": ([o.binary, "render", path, "--summary"], (0,)),
        "openssl dgst -sha256": (["openssl", "dgst", "-sha256", path], (0,)),
    }, o.runs)


def make_diff_data(o, folder):
    base = request(random.Random(1), o.megabytes * 50, 19_000)
    one = json.loads(json.dumps(base))
    middle = one["trajectory"][len(one["trajectory"]) // 2]
    middle["observation"] = middle["observation"].replace("error", "Error", 1)
    every = json.loads(json.dumps(base))
    for step in every["trajectory"]:
        step["observation"] = step["observation"].replace("line", "Line", 1)
    for name, value in (("a", base), ("same", base), ("one", one), ("every", every)):
        dump(value, f"{folder}/{name}.json")


def bench_diff(o, folder):
    apart(lambda: make_diff_data(o, folder))
    for name in ("a", "same", "one", "every"):
        with open(f"{folder}/{name}.jsonl", "wb") as out:
            run([o.binary, "render", f"{folder}/{name}.json", "-f", "jsonl"], output=out)
    for name, title, code in (("same", "identical", 0), ("one", "one byte differs", 1), ("every", "every observation differs", 1)):
        compare(f"diff: two requests, {title}", {
            "polyloop diff": ([o.binary, "diff", f"{folder}/a.json", f"{folder}/{name}.json"], (code,)),
            "cmp of the equal streams": (["cmp", f"{folder}/a.jsonl", f"{folder}/same.jsonl"], (0,)),
            "GNU diff of the streams": (["diff", f"{folder}/a.jsonl", f"{folder}/{name}.jsonl"], (code,)),
        }, o.runs)


PYTHON_CHECK = """
import json, os, sys
folder = sys.argv[1]
same = 0
for name in sorted(os.listdir(folder)):
    if not name.endswith(".json"):
        continue
    with open(f"{folder}/{name}", encoding="utf-8") as f:
        r = json.load(f)
    messages = list(r["prefix"])
    for channel in sorted(r["injections"]):
        messages += [{"role": "user", "content": e["content"]} for e in r["injections"][channel]]
    messages += r["goal"]
    for step in r["trajectory"]:
        messages.append({"role": "assistant", "content": step["raw_output"]})
        messages.append({"role": "user", "content": r["observation_template"].format(observation=step["observation"])})
    stream = "".join(json.dumps({"role": m["role"], "content": [{"type": "text", "text": m["content"]}]},
                                ensure_ascii=False, separators=(",", ":")) + "\\n" for m in messages).encode()
    with open(f"{folder}/{name[:-5]}.render.jsonl", "rb") as f:
        same += f.read() == stream
print(same)
"""


def bench_check(o, folder):
    prompts = f"{folder}/prompts"
    os.mkdir(prompts)
    rng = random.Random(1)
    for n in range(o.requests):
        dump(request(rng, 6, 3_900), f"{prompts}/r{n:05}.json")
    env = {k: v for k, v in os.environ.items() if k != "CI"}
    subprocess.run([o.binary, "check", prompts, "--accept"], env=env, check=True, stdout=subprocess.DEVNULL)
    compare(f"check: {o.requests} requests of about 24 KB", {
        "polyloop check": ([o.binary, "check", prompts], (0,)),
        "Python, assemble and compare": ([sys.executable, "-c", PYTHON_CHECK, prompts], (0,)),
    }, max(1, o.runs // 2))


BENCHES = {"render": bench_render, "diff": bench_diff, "check": bench_check}


def main():
    a = argparse.ArgumentParser(usage=__doc__)
    a.add_argument("benches", nargs="*", choices=[[], *BENCHES])
    a.add_argument("--binary", default=os.path.join(HERE, "..", "target", "release", "polyloop"))
    a.add_argument("--megabytes", type=int, default=100)
    a.add_argument("--runs", type=int, default=7)
    a.add_argument("--requests", type=int, default=10_000)
    o = a.parse_args()
    o.binary = os.path.abspath(o.binary)
    for name in o.benches or BENCHES:
        with tempfile.TemporaryDirectory() as folder:
            BENCHES[name](o, folder)


if __name__ == "__main__":
    main()
