"""Machines, as their hardware and Linux sample precise events, in one table.

Sources: Linux arch/x86/events/intel/{core,ds,lbr}.c and arch/x86/events/amd/ibs.c; codes, data
addresses and PDist counters of Intel's event files (github.com/intel/perfmon).
"""

from dataclasses import dataclass, field

# Event: what it stands for, code, and the trigger of its target.
LOAD, STORE, L3_MISS = "load", "store", "L3 miss"
TAKEN, MISPREDICTED = "taken branch", "mispredicted branch"
CYCLES, INSTRUCTIONS = "cycles", "instructions"
TAGGED = "tagged load"  # ibs_op//
FAR, INVERTED, UNLISTED = "far branch", "inverted load", "unlisted code"
TRIGGERS = {LOAD: "load", STORE: "store", L3_MISS: "load-dram", TAKEN: "branch-taken",
            MISPREDICTED: "branch-mispredict", CYCLES: "load-dram", INSTRUCTIONS: "load",
            TAGGED: "load", FAR: "load", INVERTED: "load", UNLISTED: "load"}
MEMORY = {LOAD, STORE, L3_MISS}
# Each instruction causes the event, so that no sample says anything about skid.
OF_ALL_INSTRUCTIONS = {CYCLES, INSTRUCTIONS}
# Nobody says what causes them, so that they are described whatever their samples are.
NOT_KNOWN = {FAR: 0x40C4, INVERTED: 0x18081D0, UNLISTED: 0x01FF}
# Of an iteration with one trigger: that and the back-edge, every other branch, and of the default
# target's instructions all; of cycles some for the NOPs and the load.
EVENTS_PER_ITERATION = {TAKEN: 2, MISPREDICTED: 0.5, INSTRUCTIONS: 5205, CYCLES: 1601}

# Intel's event files, by the core's directory there; of Core 2 libpfm4's table.
CORE2 = {L3_MISS: 0x04CB, CYCLES: 0x3C}
NEHALEM = {LOAD: 0x010B, STORE: 0x020B, L3_MISS: 0x10CB, TAKEN: 0x04C4, CYCLES: 0x3C}
SANDY_BRIDGE = {LOAD: 0x81D0, STORE: 0x82D0, L3_MISS: 0x02D4, TAKEN: 0x20C4, MISPREDICTED: 0x01C5,
                CYCLES: 0x3C}
IVY_BRIDGE = {**SANDY_BRIDGE, L3_MISS: 0x20D1, INSTRUCTIONS: 0x01C0}
ICE_LAKE = {**IVY_BRIDGE, MISPREDICTED: 0x11C5, INSTRUCTIONS: 0xC0}
GRACEMONT = {**ICE_LAKE, L3_MISS: 0x80D1, TAKEN: 0xC0C4, MISPREDICTED: 0x7EC5}
LION_COVE = {**ICE_LAKE, MISPREDICTED: 0x100_0000_11C5}
CRESTMONT = {name: code for name, code in GRACEMONT.items() if name != L3_MISS}
ARM = {LOAD: 0x66, STORE: 0x67, TAKEN: 0x21, CYCLES: 0x11}

EINVAL = ("The sys_perf_event_open() syscall returned with 22 (Invalid argument) for event ({}).")
EOPNOTSUPP = "{}: PMU Hardware doesn't support sampling/overflow-interrupts. Try 'perf stat'"


@dataclass
class Machine:
    name: str
    model: int
    events: dict
    # When EXACT_IP is set (docs/synth.md).
    exact_ip: str
    highest: int = 3  # caps/max_precise
    # Events with a data address in their records (Data_LA).
    data: set = field(default_factory=lambda: set(MEMORY))
    # Events of which level 3 is something else than level 2.
    distinct: set = field(default_factory=set)
    # Events that the kernel refuses above level 0.
    refused: set = field(default_factory=set)
    family: int = 6
    stepping: int = 1
    vendor: str = "GenuineIntel"
    kernel: str = "6.8.0"
    hypervisor: str = None
    pmu: str = "cpu"
    pmus: dict = field(default_factory=lambda: {"cpu": 4})
    arch: str = "x86_64"
    # Events of which it is not known whether they are precise there, or by which instructions.
    not_known: set = field(default_factory=lambda: set(NOT_KNOWN))
    # Offset of level 1; IBS ignores which level is requested.
    level_1: int = 1
    # Every operation is sampled, whatever is counted.
    samples_operations: bool = False
    period: int = 1009
    # Levels of the default set: those up to caps/max_precise, which Arm's PMU does not have.
    levels: tuple = (0, 1, 2, 3)

    def trigger_of(self, event):
        """The kind of the target that the default set records an event on."""
        if event == CYCLES and self.arch == "aarch64":
            return "div"
        return TRIGGERS[event]


def machines():
    """By name."""
    precise = {LOAD, STORE, L3_MISS, TAKEN, MISPREDICTED, INSTRUCTIONS}
    reduced = {INSTRUCTIONS, CYCLES}  # PDIR: INST_RETIRED.PREC_DIST, and cycles:ppp, its alias
    fixed = {INSTRUCTIONS}  # fixed counter 0
    hybrid = {"cpu_core": 4, "cpu_atom": 10}
    rows = [
        # PEBS format 0 and 1: the address after the instruction, from which LBR leads back.
        Machine("core2", 23, CORE2, "rewound", 2, data=set()),
        # No event outside the constraint tables, and of mispredictions only those of calls.
        Machine("nehalem", 26, NEHALEM, "rewound", 2, data=set()),
        Machine("sandy-bridge", 42, SANDY_BRIDGE, "rewound", 2, data=set()),
        Machine("ivy-bridge", 58, IVY_BRIDGE, "rewound", data=set(), distinct=reduced),
        # Format 2 and 3, the eventing IP.
        Machine("haswell", 60, IVY_BRIDGE, "requested", distinct=reduced),
        Machine("skylake", 94, {**IVY_BRIDGE, **NOT_KNOWN}, "requested", distinct=reduced),
        Machine("skylake-sp", 85, IVY_BRIDGE, "requested", stepping=4, distinct=reduced),
        # Format 4 and later, adaptive records.
        Machine("ice-lake-sp", 106, ICE_LAKE, "requested", distinct=fixed),
        Machine("sapphire-rapids", 143, ICE_LAKE, "requested", distinct=precise),
        Machine("emerald-rapids", 207, {**ICE_LAKE, **NOT_KNOWN}, "requested", distinct=precise),
        Machine("granite-rapids", 173, ICE_LAKE, "requested", distinct=precise),
        Machine("alder-lake-p", 151, ICE_LAKE, "requested", distinct=precise, pmu="cpu_core",
                pmus=hybrid),
        Machine("alder-lake-e", 151, GRACEMONT, "requested", distinct=fixed, pmu="cpu_atom",
                pmus=hybrid),
        Machine("lunar-lake", 189, LION_COVE, "requested", distinct=precise, pmu="cpu_core",
                pmus=hybrid),
        Machine("sierra-forest", 175, CRESTMONT, "requested", distinct=fixed),
        # Without PERF_CAP_PEBS_BASELINE: the basic record, of the eventing IP, and of the events of
        # intel_icl_pebs_event_constraints loads and stores alone.
        Machine("guest-without-baseline", 106, ICE_LAKE, "always", hypervisor="KVM", level_1=0,
                data=set(), refused={TAKEN, MISPREDICTED, CYCLES}),
        # A task's IBS event is refused before Linux 6.2.
        Machine("zen3", 33, {CYCLES: 0x76}, "always", 2, data=set(), family=25,
                vendor="AuthenticAMD", kernel="6.1.0", level_1=0, refused={CYCLES}, period=1072),
        Machine("zen4", 97, {CYCLES: 0x76, TAGGED: 0}, "always", 2, data={CYCLES}, family=25,
                stepping=2, vendor="AuthenticAMD", level_1=0, samples_operations=True, period=1072,
                pmus={"cpu": 4, "ibs_op": 11}),
        Machine("another-vendor", 59, {LOAD: 0x81D0, TAKEN: 0x20C4}, "never", vendor="CentaurHauls",
                family=7, data=set(), not_known={LOAD, TAKEN}),
        # SPE's samples are AUX data.
        Machine("neoverse-n1", 0xD0C, ARM, "never", vendor="0x41", family=None, data=set(),
                pmu="armv8_pmuv3_0", pmus={"armv8_pmuv3_0": 8}, arch="aarch64",
                levels=(0,)),
    ]
    return {row.name: row for row in rows}
