"""Skins as MuJoCo draws them: bodies and vertices at random positions of models.

Prints a JSON array with one object per model: its `file` or `text`, and `samples` with the poses of
the `bodies` by name (position and quaternion, w first) and the `skins` (vertices in the world).
"""

import json
import os

import mujoco
import numpy as np

RANDOM = np.random.default_rng(5)
FILES = [
    "dm_control/suite/dog.xml",
    "dm_control/locomotion/walkers/assets/rodent.xml",
]
WORDS = lambda values: " ".join(repr(float(x)) for x in np.ravel(values))


def sphere(count):
    """Returns random points on a sphere, and triangles between them."""
    points = RANDOM.normal(size=(count, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    faces = [[i, (i + 1) % count, (i + 2) % count] for i in range(count)]
    return points, faces


def random_model(inflate):
    """Returns a chain of bodies with a skin of random weights."""
    points, faces = sphere(20)
    names = ["world", "a", "b", "c"]
    bones = ""
    for k, name in enumerate(names):
        chosen = [i for i in range(20) if i % 4 == k or RANDOM.random() < 0.4]
        weights = WORDS(RANDOM.uniform(0.1, 3, len(chosen)))
        bones += (
            f"<bone body='{name}' bindpos='{WORDS(RANDOM.normal(size=3))}'"
            f" bindquat='{WORDS(RANDOM.normal(size=4))}'"
            f" vertid='{' '.join(map(str, chosen))}' vertweight='{weights}'/>"
        )
    section = "asset" if inflate else "deformable"
    return (
        f"<mujoco model='m'><{section}><skin name='s' inflate='{inflate}' rgba='1 0 0 1'"
        f" vertex='{WORDS(points)}' face='{' '.join(map(str, np.ravel(faces)))}'>{bones}</skin>"
        f"</{section}><worldbody><body name='a' pos='1 0 0'><joint type='ball'/><geom size='.1'/>"
        "<body name='b' pos='0 1 0'><joint axis='1 1 0'/><geom size='.1'/></body></body>"
        "<body name='c'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )


def samples(model, count):
    data = mujoco.MjData(model)
    found = []
    for _ in range(count):
        data.qpos[:] = model.qpos0 + RANDOM.normal(scale=0.4, size=model.nq)
        mujoco.mj_normalizeQuat(model, data.qpos)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_camlight(model, data)
        scene = mujoco.MjvScene(model, maxgeom=1000)
        mujoco.mjv_updateScene(
            model,
            data,
            mujoco.MjvOption(),
            None,
            mujoco.MjvCamera(),
            mujoco.mjtCatBit.mjCAT_ALL,
            scene,
        )
        bodies = {
            model.body(i).name: [*data.xpos[i].tolist(), *data.xquat[i].tolist()]
            for i in range(1, model.nbody)
        }
        skins = []
        for start, number in zip(scene.skinvertadr, scene.skinvertnum):
            skins.append(scene.skinvert[3 * start : 3 * (start + number)].tolist())
        found.append({"bodies": bodies, "skins": skins})
    return found


packages = os.path.dirname(os.path.dirname(mujoco.__file__))
models = []
for name in FILES:
    path = os.path.join(packages, name)
    if os.path.exists(path):
        model = mujoco.MjModel.from_xml_path(path)
        models.append({"file": path, "samples": samples(model, 2)})
for k in range(12):
    text = random_model([0, 0.3, -0.2][k % 3])
    model = mujoco.MjModel.from_xml_string(text)
    models.append({"text": text, "samples": samples(model, 3)})
print(json.dumps(models))
