"""Predicted places of the samples of the emulated PMU, computed without a recording.

The guest's clock counts instructions: one takes one cycle. A target's loop runs straight through its
instructions, over and over, so the number of instructions executed since counting began determines
the next one: (instructions - entry) mod length, where `entry` is the number of instructions between the
start of counting and the first instruction of the loop.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import count, takewhile

INSTRUCTION_BYTES = 4  # aarch64


@dataclass(frozen=True)
class Loop:
    """A target's loop; places in it are counted in instructions from its first one."""

    begin: int  # address
    length: int
    lead_in: int  # place of its first NOP
    trigger: int
    runway: int
    runway_end: int

    @staticmethod
    def of(target: dict) -> "Loop":
        """From the output of `skidscan target --read FILE --format json`."""
        layout = {
            part: [int(str(layout_range[end]), 0) for end in ("begin", "end")]
            for part, layout_range in target["layout"].items()
            if part in ("loop", "lead_in", "trigger", "runway")
        }
        begin, end = layout["loop"]

        def place(address: int) -> int:
            return (address - begin) // INSTRUCTION_BYTES

        return Loop(begin, place(end), place(layout["lead_in"][0]), place(layout["trigger"][0]),
                    place(layout["runway"][0]), place(layout["runway"][1]))

    def place_of(self, address: int) -> int | None:
        """None outside the loop."""
        place, rest = divmod(address - self.begin, INSTRUCTION_BYTES)
        return place if rest == 0 and 0 <= place < self.length else None

    def place_after(self, instructions: int, entry: int) -> int:
        """Place of the next instruction after so many since counting began."""
        return (instructions - entry) % self.length

    def entry_of(self, place: int, instructions: int) -> int:
        """The smallest `entry` with which `place` is next after `instructions`."""
        return (instructions - place) % self.length

    def part_of(self, place: int) -> str:
        """Class of the breakdown of a sample at the place (docs/method.md)."""
        if place == self.trigger:
            return "hit"
        if self.lead_in <= place < self.trigger:
            return "before"
        if self.runway <= place < self.runway_end:
            censored = self.runway_end - max(1, (self.runway_end - self.runway) // 20)
            return "censored" if place >= censored else "skid"
        return "loop"


def overflows(period: int):
    """Instructions executed at each overflow of a counter that interrupts at once."""
    return (period * k for k in count(1))


def noticed_overflows(period: int, interrupt_period: int):
    """The same for a counter without an interrupt: its overflow is noticed at the next of another one."""
    return (-(-at // interrupt_period) * interrupt_period for at in overflows(period))


def skids(period: int, interrupt_period: int):
    """Instructions from an overflow of the first to the next of the second."""
    return ((-at) % interrupt_period for at in overflows(period))


def places(loop: Loop, executed, entry: int, iterations: int) -> list[int]:
    """Places of the samples taken after each of `executed` instructions, if they are in the loop."""
    leave = entry + iterations * loop.length
    return [loop.place_after(at, entry)
            for at in takewhile(lambda at: at < leave, executed) if at >= entry]


def breakdown(loop: Loop, sampled: list[int]) -> Counter:
    """Samples by class."""
    return Counter(loop.part_of(place) for place in sampled)


def offsets(loop: Loop, sampled: list[int]) -> Counter:
    """Samples by distance from the trigger in instructions; the rest of the loop has none."""
    return Counter(place - loop.trigger for place in sampled if loop.part_of(place) != "loop")
