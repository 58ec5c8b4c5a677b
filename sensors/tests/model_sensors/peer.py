"""Reads an MJCF document from standard input, and prints what MuJoCo measures in random states.

The argument is the number of states. Each has positions, velocities, the time and the measurements
of all sensors.
"""

import json
import sys

import mujoco
import numpy as np


def randomize(m, d, rng):
    d.qpos[:] = rng.uniform(-1.5, 1.5, m.nq)
    mujoco.mj_normalizeQuat(m, d.qpos)
    d.qvel[:] = rng.uniform(-2, 2, m.nv)
    d.time = rng.uniform(0, 3)


def main():
    m = mujoco.MjModel.from_xml_string(sys.stdin.read())
    d = mujoco.MjData(m)
    rng = np.random.default_rng(1)
    joints = [{"name": m.joint(j).name, "body": m.body(m.jnt_bodyid[j]).name,
               "type": int(m.jnt_type[j]), "q": int(m.jnt_qposadr[j]),
               "v": int(m.jnt_dofadr[j])} for j in range(m.njnt)]
    sensors = [{"name": m.sensor(s).name, "start": int(m.sensor_adr[s]),
                "size": int(m.sensor_dim[s])} for s in range(m.nsensor)]
    states = []
    for _ in range(int(sys.argv[1])):
        randomize(m, d, rng)
        mujoco.mj_forward(m, d)
        states.append({"qpos": d.qpos.tolist(), "qvel": d.qvel.tolist(), "time": d.time,
                       "sensordata": d.sensordata.tolist()})
    print(json.dumps({"joints": joints, "sensors": sensors, "states": states}))


main()
