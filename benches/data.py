"""The data that `benches/peers` measures on: run requests made from a fixed seed, written piece by piece.

Every request has a prefix, one injection, a goal, a template and a trajectory. An observation is what a command prints:
lines of words, some not ASCII; in every fourth observation some lines are coloured by ANSI escapes.
"""
import json, os, random

STEPS_PER_MEGABYTE = 50
OBSERVATION_CHARS = 19_000
FRAGMENT_CHARS = 2_000
SMALL_STEPS, SMALL_OBSERVATION_CHARS = 6, 3_600
SMALL_REQUESTS_PER_MEGABYTE = 42

WORDS = ("error warning file line test build session decode retry timeout 登录 失败 naïve path/to/file.rs:12 "
         "assert_eq!(left,right) return None # comment").split()

HEAD = {
    "prefix": [{"role": "system", "content": "You are at a shell."}],
    "injections": {"skills": [{"entry_id": "retry", "content": "When a command times out, retry it once."}]},
    "goal": [{"role": "user", "content": "Fix the failing login test."}],
    "observation_template": "Output:\n```\n{observation}\n```\n\n",
}

YAML_HEAD = """\
prefix:
  - {role: system, content: "You are at a shell."}
injections:
  skills:
    - {entry_id: retry, content: "When a command times out, retry it once."}
goal:
  - {role: user, content: "Fix the failing login test."}
observation_template: "Output:\\n```\\n{observation}\\n```\\n\\n"
trajectory:
"""


def unchanged(text, is_middle):
    return text


def write_json(path, megabytes, change=unchanged):
    with open(path, "w", encoding="utf-8") as out:
        write_json_request(out, large_steps(megabytes, change))


def one_byte(text, is_middle):
    """The observation in the middle gets another letter."""
    return text.replace("error", "Error", 1) if is_middle else text


def every_observation(text, is_middle):
    """Each observation gets another letter."""
    return text.replace("line", "Line", 1)


def write_yaml(path, megabytes):
    """The same request in YAML: block scalars, but for text with escape characters, which YAML takes in quotes only."""
    with open(path, "w", encoding="utf-8") as out:
        out.write(YAML_HEAD)
        for step in large_steps(megabytes):
            text = step["observation"]
            if "\x1b" in text:
                scalar = json.dumps(text, ensure_ascii=False)
            else:
                scalar = "|\n      " + text.rstrip("\n").replace("\n", "\n      ")
            out.write(f"  - raw_output: {step['raw_output']}\n    observation: {scalar}\n")


def write_folder(folder, requests):
    """Many requests of about 24 KB."""
    os.mkdir(folder)
    pool = observations(SMALL_OBSERVATION_CHARS)
    for n in range(requests):
        steps = [{"raw_output": f"run step {k}", "observation": f"{n} {k}\n{pool[(n + k * k) % len(pool)]}"}
                 for k in range(SMALL_STEPS)]
        with open(f"{folder}/r{n:05}.json", "w", encoding="utf-8") as out:
            write_json_request(out, steps)


def write_fragments(path, count, window=None, trim=None, frame=None):
    """Fragments of about 2 KB; their texts as messages, where there is no window."""
    pool = observations(FRAGMENT_CHARS)
    texts = [f"{n}\n{pool[n % len(pool)]}" for n in range(count)]
    if window is None:
        request = {"goal": [{"role": "user", "content": text} for text in texts]}
    else:
        fragments = [{"id": f"f{n}", "kind": "evidence", "content": text, "priority": n * 7919 % 10}
                     for n, text in enumerate(texts)]
        for fragment in fragments:
            fragment.update({"trim": trim} if trim else {})
        request = {"budget": {"window": int(window * sum(map(len, texts)))}, "fragments": fragments}
        request.update({"fragment_template": frame} if frame else {})
    with open(path, "w", encoding="utf-8") as out:
        json.dump(request, out, ensure_ascii=False)


def write_json_request(out, steps):
    head = json.dumps(HEAD, ensure_ascii=False).removesuffix("}")
    out.write(f'{head}, "trajectory": [')
    for n, step in enumerate(steps):
        out.write(", " if n else "")
        out.write(json.dumps(step, ensure_ascii=False))
    out.write("]}")


def large_steps(megabytes, change=unchanged):
    pool = observations(OBSERVATION_CHARS)
    count = megabytes * STEPS_PER_MEGABYTE
    for n in range(count):
        observation = change(f"{n}\n{pool[n % len(pool)]}", is_middle=n == count // 2)
        yield {"raw_output": f"run step {n}", "observation": observation}


def observations(chars):
    rng = random.Random(1)
    return [observation(rng, chars, coloured=n % 4 == 3) for n in range(16)]


def observation(rng, chars, coloured):
    lines, length = [], 0
    while length < chars:
        line = " ".join(rng.choice(WORDS) for _ in range(rng.randint(3, 14)))
        if coloured and rng.random() < 0.1:
            line = f"\x1b[31m{line}\x1b[0m"
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines) + "\n"
