"""Proves that a schema refuses: keys removed, keys added, types changed, wherever a document has
something."""

NO_SUCH_KEY = "no such key"
LONGEST = 200_000  # bytes of a damaged document: larger ones contain nothing else

# Objects whose keys may have any name.
OPEN = {("samples", ("trace",)), ("doctor", ("pmus", "*", "caps"))}
# Documents written by users: keys may be optional, and numbers have two forms.
INPUTS = {"model"}


def places(node, path=()):
    """Each object and array element below a node: (path, container, key)."""
    if isinstance(node, dict):
        for key in node:
            yield path + (key,), node, key
            yield from places(node[key], path + (key,))
    elif isinstance(node, list):
        for index, element in enumerate(node):
            yield path + ("*",), node, index
            yield from places(element, path + ("*",))


def is_open(schema, path):
    return any(schema == name and path[:len(prefix)] == prefix for name, prefix in OPEN)


def of_other_type(value):
    """Values of a type that no key with `value` accepts."""
    if isinstance(value, (bool, str)):
        return [1.5]
    if isinstance(value, (int, float)):
        return ["text"]
    return []


class Damage:
    def __init__(self, schema, validator, optional):
        self.schema = schema
        self.validator = validator
        self.optional = optional  # paths of optional keys
        self.seen = set()
        self.accepted = []  # wrongly accepted documents
        self.tried = 0

    def expect_refusal(self, document, what):
        self.tried += 1
        if self.validator.is_valid(document):
            self.accepted.append(f"{self.schema}: accepted {what}")

    def replace(self, document, container, key, value, what):
        kept = container[key]
        container[key] = value
        self.expect_refusal(document, what)
        container[key] = kept

    def remove(self, document, container, key, what):
        kept = list(container.items())
        del container[key]
        self.expect_refusal(document, what)
        container.clear()
        container.update(kept)  # in the original order

    def of(self, document):
        new = []
        for path, container, key in places(document):
            if path not in self.seen and not is_open(self.schema, path):
                self.seen.add(path)
                new.append((path, container, key))
        if () not in self.seen:
            self.seen.add(())
            self.add_key(document, document, "the document")
        for path, container, key in new:
            name = ".".join(path)
            self.replace(document, container, key, [[{}]], f"an array of arrays as {name}")
            if self.schema not in INPUTS:
                for value in of_other_type(container[key]):
                    self.replace(document, container, key, value, f"{value!r} as {name}")
            if isinstance(container, dict) and path not in self.optional:
                self.remove(document, container, key, f"a document without {name}")
            if isinstance(container[key], dict):
                self.add_key(document, container[key], name)

    def add_key(self, document, node, name):
        node[NO_SUCH_KEY] = 1
        self.expect_refusal(document, f"an unknown key in {name}")
        del node[NO_SUCH_KEY]


def resolve(root, node):
    while "$ref" in node:
        node = root["$defs"][node["$ref"].rsplit("/", 1)[1]]
    return node


def branches(root, node):
    """The alternative forms of a value."""
    node = resolve(root, node)
    found = [node]
    for word in ("oneOf", "anyOf"):
        for branch in node.get(word, []):
            found += branches(root, branch)
    return found


def optional_keys(root):
    """Paths of all keys that the schema does not require."""
    found = set()

    def walk(node, path, depth):
        if depth > 20:
            return  # a distribution may contain others
        for form in branches(root, node):
            for key, value in form.get("properties", {}).items():
                if key not in form.get("required", []):
                    found.add(path + (key,))
                walk(value, path + (key,), depth + 1)
            if isinstance(form.get("items"), dict):
                walk(form["items"], path + ("*",), depth + 1)

    walk(root, (), 0)
    return found
