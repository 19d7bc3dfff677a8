"""What `skidscan correct --format json` printed into the file "json", for cases; binaries as nm prints them."""
import json
import subprocess


def events():
    """The events of the first recording, all of whose sums are checked."""
    found = json.load(open("json"))["recordings"][0]["events"]
    for one in found:
        places = one["places"]
        if one["verdict"] not in ("corrected", "corrected_in_part"):
            assert not places and one["reason"]
            continue
        outcomes = sum(one[key] for key in ("moved", "in_place", "undecided", "unexplained", "unknown"))
        assert outcomes + sum(one["not_placed"].values()) == one["samples"]
        assert sum(place["recorded"] for place in places) == one["samples"]
        assert sum(place["corrected"] for place in places) == one["samples"]
        assert all(place["low"] <= place["corrected"] <= place["high"] for place in places)
    return found


def event():
    return events()[0]


def places(one):
    """Places by "function+offset"."""
    return {"%s+%d" % (place["symbol"] or "", place["offset"]): place for place in one["places"]}


def addresses(binary):
    """Symbols and their values."""
    lines = subprocess.run(["nm", binary], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[2]: int(line.split()[0], 16) for line in lines if len(line.split()) == 3}


def sites(binary):
    """The "function+offset" of the symbols "site_NAME" by their names."""
    functions = dict(in_callee="callee", in_tail="tail", jump="joined", falls="joined", number="apart", stores="apart")
    return {name[5:]: "%s+%d" % (functions.get(name[5:], "work"), value)
            for name, value in addresses(binary).items() if name.startswith("site_")}
