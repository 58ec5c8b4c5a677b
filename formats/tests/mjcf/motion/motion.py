"""Prints the motion of MJCF models in MuJoCo as JSON.

The arguments are folders of models. Each starts at its first keyframe, whose controls are held.
"rk4" is the solution of the equations of motion: Runge-Kutta steps of 0.1 ms, whose error is far
below 1e-9. "euler" are the steps of 1 ms of MuJoCo's default integrator, "fine" those of 0.1 ms, and
"implicitfast" steps of 1 ms of the integrator of this name.
"""

import json
import os
import sys

import mujoco

END, SAMPLES = 0.1, 4
SCHEMES = {"rk4": (mujoco.mjtIntegrator.mjINT_RK4, 1e-4),
           "euler": (mujoco.mjtIntegrator.mjINT_EULER, 1e-3),
           "fine": (mujoco.mjtIntegrator.mjINT_EULER, 1e-4),
           "implicitfast": (mujoco.mjtIntegrator.mjINT_IMPLICITFAST, 1e-3)}


def sample(m, d):
    mujoco.mj_kinematics(m, d)
    poses = [[*d.xpos[i].tolist(), *d.xquat[i].tolist()] for i in range(1, m.nbody)]
    return {"qpos": d.qpos.tolist(), "qvel": d.qvel.tolist(), "poses": poses}


def motion(path, integrator, time_step):
    m = mujoco.MjModel.from_xml_path(path)
    m.opt.integrator, m.opt.timestep = integrator, time_step
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    out = [sample(m, d)]
    for _ in range(SAMPLES):
        for _ in range(round(END / SAMPLES / time_step)):
            mujoco.mj_step(m, d)
        out.append(sample(m, d))
    return out


def read(path):
    m = mujoco.MjModel.from_xml_path(path)
    joints = [{"name": m.joint(j).name, "type": int(m.jnt_type[j]), "q": int(m.jnt_qposadr[j]),
               "v": int(m.jnt_dofadr[j])} for j in range(m.njnt)]
    schemes = {name: motion(path, *scheme) for name, scheme in SCHEMES.items()}
    return {"bodies": [m.body(i).name for i in range(1, m.nbody)], "joints": joints,
            "ctrl": m.key_ctrl[0].tolist(), **schemes}


def main():
    paths = [os.path.join(folder, name) for folder in sys.argv[1:] for name in os.listdir(folder)]
    out = {os.path.basename(path).removesuffix(".xml"): read(path) for path in sorted(paths)}
    lines = [f"{json.dumps(name)}: {json.dumps(motion)}" for name, motion in out.items()]
    print("{" + ",\n".join(lines) + "}")


main()
