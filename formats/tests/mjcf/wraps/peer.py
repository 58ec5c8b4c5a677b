"""Prints random MJCF models with spatial tendons, and what MuJoCo computes for them.

The argument is the number of models. Each has a chain of bodies, a body on its own, and one tendon
over random sites, around random spheres and cylinders, by random pulleys. The output is a JSON
list: "text" is the model, and "samples" holds positions, velocities, the length of the tendon, the
number of its points, the generalized forces of its spring and damper, and whether a side site is
inside its geom.
"""

import json
import sys

import mujoco
import numpy as np

BODIES = ["a", "b", "c"]
SAMPLES = 10


def vector(rng, size):
    return " ".join(repr(float(x)) for x in rng.uniform(-size, size, 3))


def model(rng):
    sites, content, path = 0, {name: "" for name in ["world", *BODIES]}, ""

    def site(body, position):
        nonlocal sites
        sites += 1
        content[body] += f"<site name='s{sites}' pos='{position}'/>"
        return f"s{sites}"

    def anywhere():
        return rng.choice([*content])

    for branch in range(rng.integers(1, 3)):
        if branch or rng.random() < 0.2:
            path += f"<pulley divisor='{rng.uniform(0.5, 3)!r}'/>"
        path += f"<site site='{site(anywhere(), vector(rng, 0.8))}'/>"
        for k in range(rng.integers(1, 4)):
            if rng.random() < 0.75:
                body, shape = anywhere(), rng.choice(["sphere", "cylinder"])
                name, center = f"g{branch}{k}", rng.uniform(-0.4, 0.4, 3)
                radius = rng.uniform(0.05, 0.4)
                at = " ".join(repr(float(x)) for x in center)
                content[body] += (f"<geom name='{name}' type='{shape}' size='{radius!r} 0.1' pos='{at}' "
                                  f"euler='{vector(rng, 180)}' contype='0' conaffinity='0' mass='1'/>")
                side = ""
                kind = rng.integers(3)
                if kind == 1:
                    side = f"sidesite='{site(anywhere(), vector(rng, 1))}'"
                elif kind == 2:
                    inner = " ".join(repr(float(x)) for x in center + rng.uniform(-0.5, 0.5, 3) * radius)
                    side = f"sidesite='{site(body, inner)}'"
                path += f"<geom geom='{name}' {side}/>"
            path += f"<site site='{site(anywhere(), vector(rng, 0.8))}'/>"
    length = rng.choice(["-1", "0.5", "1 2", "0 0.3"])
    mass = "<geom size='0.1' mass='1' contype='0' conaffinity='0'/>"
    text = f"""<mujoco model='wraps'><option gravity='0 0 0'/><worldbody>{content["world"]}
      <body name='a' pos='{vector(rng, 0.5)}'>
        <joint name='a1' axis='1 0 1'/><joint name='a2' axis='0 1 0' springref='20'/>{mass}{content["a"]}
        <body name='b' pos='{vector(rng, 0.5)}'>
          <joint name='b1' type='slide' axis='1 2 3' springref='0.1'/><joint name='b2' axis='1 -1 0'/>
          {mass}{content["b"]}</body></body>
      <body name='c' pos='{vector(rng, 0.5)}'>
        <joint name='c1' type='slide' axis='1 0 0'/><joint name='c2' type='slide' axis='0 1 0'/>
        <joint name='c3' type='slide' axis='0 0 1'/><joint name='c4' axis='1 1 1'/>{mass}{content["c"]}</body>
      </worldbody><tendon>
      <spatial name='t' stiffness='3' damping='0.7' springlength='{length}'>{path}</spatial></tendon>
      </mujoco>"""
    return text


def has_side_inside(m, d):
    kinds = [mujoco.mjtWrap.mjWRAP_SPHERE, mujoco.mjtWrap.mjWRAP_CYLINDER]
    for kind, geom, side in zip(m.wrap_type, m.wrap_objid, m.wrap_prm):
        if kind in kinds and side >= 0:
            distance = np.linalg.norm(d.site_xpos[int(side)] - d.geom_xpos[geom])
            if distance < m.geom_size[geom][0]:
                return True
    return False


def main():
    rng = np.random.default_rng(7)
    out = []
    for _ in range(int(sys.argv[1])):
        text = model(rng)
        m = mujoco.MjModel.from_xml_string(text)
        d = mujoco.MjData(m)
        samples = []
        for _ in range(SAMPLES):
            d.qpos[:] = rng.uniform(-1, 1, m.nq)
            d.qvel[:] = rng.uniform(-1, 1, m.nv)
            mujoco.mj_forward(m, d)
            samples.append({"q": d.qpos.tolist(), "v": d.qvel.tolist(), "length": float(d.ten_length[0]),
                            "points": int(d.ten_wrapnum[0]),
                            "inside": has_side_inside(m, d),
                            "forces": (d.qfrc_spring + d.qfrc_damper).tolist()})
        joints = [m.joint(j).name for j in range(m.njnt)]
        out.append({"text": text, "joints": joints, "samples": samples})
    print(json.dumps(out))


main()
