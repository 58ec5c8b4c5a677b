"""F. Reading of MJCF files by MuJoCo, next to benches/parsing.rs, whose ids it uses.

The first three files are those of the bench, below TARRAGON_REFERENCE where they are not ours; more
may be given as arguments. Run it with a Python that has mujoco:
taskset -c 1 python f_mjcf.py > f_mjcf.jsonl
"""

import json
import os
import statistics
import sys
import time

import mujoco

HERE = os.path.dirname(os.path.abspath(__file__))
REFERENCE = os.environ.get(
    "TARRAGON_REFERENCE", os.path.join(HERE, "../../../../shared/reference")
)
FILES = [
    ("humanoid", os.path.join(HERE, "../../../examples/models/humanoid/humanoid.xml")),
    ("100_humanoids", os.path.join(HERE, "../../models/100_humanoids.xml")),
    (
        "mujoco_humanoid",
        os.path.join(
            REFERENCE,
            "models/mujoco/test/engine/testdata/collision_driver/humanoid.xml",
        ),
    ),
]
REPEATS = 21


def measure(name, path):
    def read():
        start = time.perf_counter_ns()
        model = mujoco.MjModel.from_xml_path(path)
        return time.perf_counter_ns() - start, model.nv

    velocities = read()[1]
    times = [read()[0] * 1e-3 for _ in range(REPEATS)]
    row = {
        "bench": f"F.mjcf.{name}",
        "n": velocities,
        "unit": "us",
        "median": statistics.median(times),
        "min": min(times),
        "max": max(times),
        "reps": REPEATS,
    }
    print(json.dumps(row), flush=True)


for name, path in FILES + [(os.path.basename(path), path) for path in sys.argv[1:]]:
    if os.path.isfile(path):
        measure(name, path)
    else:
        print(f"SKIPPED {name}: {path} does not exist", file=sys.stderr)
