"""Prints what MuJoCo does with the margins and gaps of contact, as JSON.

With a number as argument: so many random models of balls near a fixed geom, each with its contacts.
"text" is the model; a contact has the names of its geoms, distance, `includemargin`, point, normal
and whether it acts.

Without argument: the fall of the models on standard input, a JSON list of texts. "start" is the
number of the first step of 1 ms with a contact that acts, "height" the position after 4 s.
"""

import json
import sys

import mujoco
import numpy as np

FIXED = [("plane", "5 5 1"), ("sphere", ".15"), ("box", ".1 .15 .2"), ("capsule", ".1 .15"),
         ("cylinder", ".12 .15")]


def numbers(values):
    return " ".join(repr(float(x)) for x in values)


def attributes(rng, chance):
    found = ""
    if rng.random() < chance:
        found += f" margin='{rng.uniform(-0.02, 0.15)!r}'"
    if rng.random() < chance:
        found += f" gap='{rng.uniform(-0.02, 0.08)!r}'"
    return found


def model(rng):
    def own():
        return attributes(rng, 0.6) + (" priority='1'" if rng.random() < 0.2 else "")

    kind, size = FIXED[rng.integers(len(FIXED))]
    world = (f"<geom name='fixed' type='{kind}' size='{size}' euler='{numbers(rng.uniform(0, 1, 3))}'"
             f"{own()}/>")
    for name in "ab":
        world += (f"<body name='{name}' pos='{numbers(rng.uniform(-0.3, 0.3, 3))}'><freejoint/>"
                  f"<geom name='{name}' size='.1' mass='2'{own()}/></body>")
    pairs = ""
    for one, other in [("fixed", "a"), ("a", "b"), ("b", "fixed")]:
        if rng.random() < 0.2:
            pairs += f"<pair geom1='{one}' geom2='{other}'{attributes(rng, 0.6)}/>"
    if rng.random() < 0.2:
        pairs += "<exclude body1='a' body2='b'/>"
    # A constant impedance, with which the force tells the distance where it begins.
    constant = " solimp='.9 .9'"
    classes = f"<geom{constant}{attributes(rng, 0.3)}/><pair{constant}{attributes(rng, 0.3)}/>"
    return (f"<mujoco model='m'><compiler angle='radian'/><default>{classes}</default>"
            f"<worldbody>{world}</worldbody><contact>{pairs}</contact></mujoco>")


def contacts(text):
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    return [{"geoms": [m.geom(int(g)).name for g in c.geom], "dist": float(c.dist),
             "includemargin": float(c.includemargin), "point": c.pos.tolist(),
             "normal": c.frame[:3].tolist(), "acts": int(c.exclude) == 0} for c in d.contact]


def fall(text):
    m = mujoco.MjModel.from_xml_string(text)
    m.opt.timestep = 1e-3
    d = mujoco.MjData(m)
    start = None
    for step in range(4000):
        mujoco.mj_step(m, d)
        if start is None and d.nefc > 0:
            start = step
    return {"start": start, "height": float(d.qpos[0])}


def main():
    match sys.argv[1:]:
        case [count]:
            rng = np.random.default_rng(7)
            texts = [model(rng) for _ in range(int(count))]
            print(json.dumps([{"text": text, "contacts": contacts(text)} for text in texts]))
        case _:
            print(json.dumps([fall(text) for text in json.load(sys.stdin)]))


main()
