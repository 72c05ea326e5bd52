# The state of this process, without running code of a cell.

MOST_VARIABLES, MOST_ITEMS, MOST_DEPTH, MOST_CHARS, MOST_BITS = 200, 20, 4, 200, 1000
name_of_type = type.__dict__["__name__"].__get__
module_of_type = type.__dict__["__module__"].__get__
name_of_function = types.FunctionType.__dict__["__name__"].__get__
# Types are told apart by their ids: to look one up would run the code of a class whose own class hashes and compares.
SIZED = {id(kind) for kind in (str, bytes, bytearray, list, tuple, dict, set, frozenset, Record)}
PLAIN = {id(kind) for kind in (bool, float, complex, type(None), type(Ellipsis), type(NotImplemented))}
BRACKETS = {id(list): ("[", "]"), id(tuple): ("(", ")"), id(set): ("{", "}"), id(frozenset): ("frozenset({", "})")}


class Enough(Exception):
    """The preview is long enough."""


class Preview:
    """How a value shows itself, in a bounded number of characters. No code of a cell is run: what is not exactly of a
    builtin type is shown by the name of its type."""

    def __init__(self):
        self.parts, self.left = [], MOST_CHARS

    def of(self, value):
        try:
            self.add(value, 0)
        except (Enough, RuntimeError, MemoryError):
            # A container may also grow in another thread while it is walked.
            self.parts.append("…")
        return sendable("".join(self.parts))

    def put(self, text):
        if len(text) > self.left:
            self.parts.append(text[:self.left])
            raise Enough
        self.parts.append(text)
        self.left -= len(text)

    def add(self, value, depth):
        kind = type(value)
        if id(kind) in PLAIN:
            self.put(repr(value))
        elif kind is int:
            bits = int.bit_length(value)
            self.put(repr(value) if bits <= MOST_BITS else "<int of %d bits>" % bits)
        elif kind is range:
            ends = (value.start, value.stop, value.step)
            is_short = all(int.bit_length(end) <= MOST_BITS for end in ends)
            self.put(repr(value) if is_short else "<range>")
        elif kind is str or kind is bytes or kind is bytearray:
            self.put(repr(value[:self.left + 1]))
        elif kind is dict or kind is Record:
            self.add_items(dict.items(value), "{", "}", depth, self.add_pair)
        elif id(kind) in BRACKETS:
            self.add_container(value, kind, depth)
        elif kind is types.FunctionType:
            self.put("<function %s>" % name_of_function(value))
        elif kind is type:
            self.put("<class %s>" % full_name(value))
        else:
            self.put("<%s object>" % full_name(kind))

    def add_container(self, value, kind, depth):
        opening, closing = BRACKETS[id(kind)]
        if kind is tuple and len(value) == 1:
            closing = ",)"
        elif not value and kind in (set, frozenset):
            opening, closing = name_of_type(kind) + "(", ")"
        if kind in (set, frozenset) and len(value) <= MOST_ITEMS:
            # The order of a set changes from process to process.
            parts = sorted(shown(item, depth + 1) for item in value)
            self.add_items(parts, opening, closing, depth, lambda part, _: self.put(part))
        else:
            self.add_items(value, opening, closing, depth, self.add)

    def add_items(self, items, opening, closing, depth, add):
        self.put(opening)
        if depth >= MOST_DEPTH and items:
            self.put("…" + closing)
            return
        for number, item in enumerate(items):
            if number:
                self.put(", ")
            if number == MOST_ITEMS:
                self.put("…")
                break
            add(item, depth + 1)
        self.put(closing)

    def add_pair(self, pair, depth):
        self.add(pair[0], depth)
        self.put(": ")
        self.add(pair[1], depth)


def shown(value, depth):
    preview = Preview()
    try:
        preview.add(value, depth)
    except (Enough, RuntimeError):
        preview.parts.append("…")
    return "".join(preview.parts)


def full_name(kind):
    module = module_of_type(kind)
    name = name_of_type(kind)
    return name if type(module) is not str or module == "builtins" else module + "." + name


def own_variables():
    """What cells have made, in the order in which they did."""
    return [
        (name, value) for name, value in list(namespace.items())
        if type(name) is str and name != "context" and type(value) is not types.ModuleType
        and not (name.startswith("__") and name.endswith("__"))
    ]


def state():
    variables = own_variables()
    answer = Record(alive=True, revision=revision, variables=[
        Record(
            name=sendable(name[:MOST_CHARS]), type=sendable(name_of_type(type(value))[:MOST_CHARS]), preview=Preview().of(value),
            size=len(value) if id(type(value)) in SIZED else None,
        ) for name, value in variables[:MOST_VARIABLES]
    ])
    if len(variables) > MOST_VARIABLES:
        answer["variables_left_out"] = len(variables) - MOST_VARIABLES
    return answer


def whole_state():
    answer = state()
    for name, value in dict.items(read_json(OPTIONS["fields"], 0)[0]):
        answer.setdefault(name, value)
    return answer
