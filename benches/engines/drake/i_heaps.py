"""Steps of heaps of 50 spheres in Drake, as `heaps` in benches/dynamics.rs.

A heap rolls for seconds, and each heap rolls in its own way: the time of a step differs by a factor
of five between heaps that start 0.1 um apart. Each sample is therefore the mean step of one heap
from 2 s to 2.25 s of simulated time, and the figure is the mean over heaps.

Run with the directory of the reference scripts in PYTHONPATH: taskset -c 1 python i_heaps.py
"""
import random
import statistics
import sys
import time

import i_dynamics as I
import i_scenes as S

HEAPS, SETTLE, STEPS = 16, 2.0, 250
columns, default_heap = S.clutter(50)


def heap(seed):
    """The script's heap with other offsets of the same range."""
    r = random.Random(seed)
    bodies = []
    for i, (name, mass, radius, _) in enumerate(default_heap):
        x = 0.11 * (i % columns - (columns - 1) / 2) + r.uniform(-0.01, 0.01)
        y = 0.11 * ((i // columns) % columns - (columns - 1) / 2) + r.uniform(-0.01, 0.01)
        z = 0.055 + 0.11 * (i // (columns * columns))
        bodies.append((name, mass, radius, (x, y, z)))
    return columns, bodies


for approximation in sys.argv[1:] or ("lagged", "similar", "sap"):
    samples = []
    for seed in range(HEAPS):
        S.clutter = lambda n: heap(seed)
        _, _, sim, _, _ = I.sim_of(lambda: I.clutter(approximation, 50))
        sim.AdvanceTo(SETTLE)
        start = time.perf_counter_ns()
        for k in range(1, STEPS + 1):
            sim.AdvanceTo(SETTLE + k * S.DT)
        samples.append((time.perf_counter_ns() - start) / STEPS)
    mean = statistics.mean(samples)
    spread = dict(heaps=HEAPS, least=min(samples) * 1e-3, most=max(samples) * 1e-3)
    I.emit(f"I.step.heaps.{approximation}.double", 50, "us/step", [mean], 1e-3, **spread)
