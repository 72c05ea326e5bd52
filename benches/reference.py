"""What polyloop does, in Python, for the requests of `data.py`: what `benches/peers` measures as Python.

usage: reference.py render json|orjson|yaml FILE    the canonical stream to stdout, its digest to stderr
       reference.py check FOLDER                    how many requests assemble to their goldens
"""
import hashlib, json, os, sys


def main():
    match sys.argv[1:]:
        case ["render", parser, path]:
            render(parser, path)
        case ["check", folder]:
            print(check(folder))
        case _:
            sys.exit(__doc__)


def render(parser, path):
    load, dump = PARSERS[parser]()
    digest = hashlib.sha256()
    for message in messages(load(path)):
        line = dump(message)
        digest.update(line)
        sys.stdout.buffer.write(line)
    print(f"sha256:{digest.hexdigest()}", file=sys.stderr)


def check(folder):
    equal = 0
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".json"):
            continue
        stream = b"".join(map(dump_json, messages(load_json(f"{folder}/{name}"))))
        with open(f"{folder}/{name.removesuffix('.json')}.render.jsonl", "rb") as golden:
            equal += golden.read() == stream
    return equal


def messages(request):
    for message in request["prefix"]:
        yield canonical(message["role"], message["content"])
    for channel in sorted(request["injections"]):
        for entry in request["injections"][channel]:
            yield canonical("user", entry["content"])
    for message in request["goal"]:
        yield canonical(message["role"], message["content"])
    template = request["observation_template"]
    for step in request["trajectory"]:
        yield canonical("assistant", step["raw_output"])
        yield canonical("user", template.format(observation=step["observation"]))


def canonical(role, text):
    return {"role": role, "content": [{"type": "text", "text": text}]}


def load_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def dump_json(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def with_json():
    return load_json, dump_json


def with_orjson():
    import orjson

    def load(path):
        with open(path, "rb") as file:
            return orjson.loads(file.read())

    return load, lambda value: orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def with_yaml():
    import yaml

    def load(path):
        with open(path, "rb") as file:
            return yaml.load(file, Loader=yaml.CSafeLoader)

    return load, dump_json


PARSERS = {"json": with_json, "orjson": with_orjson, "yaml": with_yaml}

if __name__ == "__main__":
    main()
