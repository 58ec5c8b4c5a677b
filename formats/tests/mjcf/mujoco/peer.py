"""Prints how MuJoCo reads MJCF files: one JSON object per line and file.

Arguments: folders with models. Installed packages with models are searched as well. Files that
MuJoCo refuses are left out. Each file is read in a process of its own, which may crash.
"""

import importlib.util
import json
import os
import sys
import zlib

import mujoco
import numpy as np

PACKAGES = ["mujoco", "dm_control", "gymnasium", "gymnasium_robotics", "robosuite"]
JOINTS = ["free", "ball", "slide", "hinge"]
# A shape of a signed distance is compared by its mesh.
SHAPES = ["plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "mesh"]


def rotation(quaternion):
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quaternion, float))
    return matrix.reshape(3, 3)


def bodies(m):
    out = []
    for i in range(m.nbody):
        r = rotation(m.body_iquat[i])
        inertia = r @ np.diag(m.body_inertia[i]) @ r.T
        first, count = m.body_jntadr[i], m.body_jntnum[i]
        joints = []
        for j in range(first, first + count):
            limits = m.jnt_range[j].tolist() if m.jnt_limited[j] else None
            v = m.jnt_dofadr[j]
            spring = None
            if m.jnt_type[j] >= 2 and m.jnt_stiffness[j] > 0:
                spring = [m.jnt_stiffness[j], m.qpos_spring[m.jnt_qposadr[j]]]
            joints.append({"type": JOINTS[m.jnt_type[j]], "limits": limits, "q": int(m.jnt_qposadr[j]),
                           "damping": m.dof_damping[v], "armature": m.dof_armature[v],
                           "friction": m.dof_frictionloss[v], "spring": spring})
        out.append({"name": m.body(i).name, "mass": m.body_mass[i], "com": m.body_ipos[i].tolist(),
                    "inertia": inertia.ravel().tolist(), "joints": joints, "collision": [],
                    "visual": []})
    for g in range(m.ngeom):
        kind = m.geom_type[g]
        if kind >= len(SHAPES):
            continue
        r, p = rotation(m.geom_quat[g]), m.geom_pos[g]
        size = m.geom_size[g].copy()
        if SHAPES[kind] == "mesh":
            k = m.geom_dataid[g]
            first = m.mesh_vertadr[k]
            faces = m.mesh_face[m.mesh_faceadr[k]:m.mesh_faceadr[k] + m.mesh_facenum[k]]
            used = np.unique(faces)
            v = m.mesh_vert[first + used] @ r.T + p
            geom = {"low": v.min(0).tolist(), "high": v.max(0).tolist()}
        else:
            if SHAPES[kind] == "sphere":
                size[1:] = size[0]
            if SHAPES[kind] in ("capsule", "cylinder"):
                size = np.array([size[0], size[0], size[1]])
            # Equal for shapes that differ by a symmetry.
            spread = r @ np.diag(size**2) @ r.T
            geom = {"pos": p.tolist(), "spread": spread.ravel().tolist(), "z": r[:, 2].tolist()}
        geom["type"] = SHAPES[kind]
        geom["margin"], geom["gap"] = float(m.geom_margin[g]), float(m.geom_gap[g])
        body = out[m.geom_bodyid[g]]
        if m.geom_contype[g] or m.geom_conaffinity[g] or g in [*m.pair_geom1, *m.pair_geom2]:
            body["collision"].append(geom)
        if m.geom_group[g] <= 2:
            body["visual"].append(geom)
    return out


def colliding(m):
    """Numbers of pairs of geoms that collide, by pairs of bodies.

    The filters are those of "Computation" of MuJoCo's documentation, section "Selection"; planes
    and height fields never collide with each other.
    """
    if m.opt.disableflags & (mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT):
        return []
    filters_parents = not m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT
    weld = m.body_weldid
    parent = weld[m.body_parentid[weld]]
    excluded = {(s >> 16, s & 0xFFFF) for s in m.exclude_signature.tolist()}
    pairs = set()
    for a in range(m.ngeom):
        for b in range(a + 1, m.ngeom):
            i, j = sorted((int(m.geom_bodyid[a]), int(m.geom_bodyid[b])))
            masks = (m.geom_contype[a] & m.geom_conaffinity[b]) | (m.geom_contype[b] & m.geom_conaffinity[a])
            related = weld[i] and weld[j] and (weld[i] == parent[j] or weld[j] == parent[i])
            if masks and weld[i] != weld[j] and not (filters_parents and related) and (i, j) not in excluded:
                pairs.add((a, b))
    for a, b in zip(m.pair_geom1.tolist(), m.pair_geom2.tolist()):
        if weld[m.geom_bodyid[a]] or weld[m.geom_bodyid[b]]:
            pairs.add((min(a, b), max(a, b)))
    counts = {}
    for a, b in pairs:
        kinds = m.geom_type[a], m.geom_type[b]
        if max(kinds) >= len(SHAPES) or max(kinds) <= SHAPES.index("hfield"):
            continue
        key = tuple(sorted((int(m.geom_bodyid[a]), int(m.geom_bodyid[b]))))
        counts[key] = counts.get(key, 0) + 1
    return [[*key, count] for key, count in sorted(counts.items())]


def samples(m, rng):
    d = mujoco.MjData(m)
    out = []
    for k in range(3):
        d.qpos[:] = m.qpos0
        for j in range(m.njnt if k else 0):
            a, kind = m.jnt_qposadr[j], JOINTS[m.jnt_type[j]]
            if kind == "free":
                d.qpos[a:a + 3] = rng.uniform(-1, 1, 3)
                a += 3
            if kind in ("free", "ball"):
                q = rng.normal(size=4)
                d.qpos[a:a + 4] = q / np.linalg.norm(q)
            else:
                d.qpos[a] = rng.uniform(-0.5, 0.5)
        mujoco.mj_kinematics(m, d)
        poses = [[*d.xpos[i].tolist(), *d.xquat[i].tolist()] for i in range(m.nbody)]
        out.append({"q": d.qpos.tolist(), "poses": poses})
    return out


def actuators(m):
    out = []
    for i in range(m.nu):
        if m.actuator_trntype[i] != mujoco.mjtTrn.mjTRN_JOINT:
            continue
        gear = m.actuator_gear[i][0]
        limit = np.inf
        if m.actuator_forcelimited[i]:
            limit = abs(m.actuator_forcerange[i]).max()
        is_motor = (m.actuator_dyntype[i] == 0 and m.actuator_gaintype[i] == 0
                    and m.actuator_biastype[i] == 0)
        if is_motor and m.actuator_ctrllimited[i]:
            gain = abs(m.actuator_gainprm[i][0])
            limit = min(limit, gain * abs(m.actuator_ctrlrange[i]).max())
        limit = limit * abs(gear)
        # As far as the force is affine.
        control = None
        if m.actuator_gaintype[i] <= 1 and m.actuator_biastype[i] <= 1:
            gain, bias = m.actuator_gainprm[i][:3].copy(), m.actuator_biasprm[i][:3].copy()
            if m.actuator_gaintype[i] == 0:
                gain[1:] = 0
            if m.actuator_biastype[i] == 0:
                bias[:] = 0
            limited, limits = m.actuator_ctrllimited[i], m.actuator_ctrlrange[i]
            if m.actuator_dyntype[i] == 1:
                limited, limits = m.actuator_actlimited[i], m.actuator_actrange[i]
            control = {"gain": gain.tolist(), "bias": bias.tolist(),
                       "range": limits.tolist() if limited else None}
        j = m.actuator_trnid[i][0]
        of_joint = m.jnt_actfrcrange[j] if m.jnt_actfrclimited[j] else [-np.inf, np.inf]
        limit = min(limit, abs(np.asarray(of_joint)).max())
        out.append({"name": m.actuator(i).name, "gear": gear, "control": control,
                    "limit": float(limit) if np.isfinite(limit) else None})
    return out


def read(path):
    m = mujoco.MjModel.from_xml_path(path)
    rng = np.random.default_rng(zlib.crc32(os.path.basename(path).encode()))
    return {"file": path, "mass": float(m.body_mass.sum()), "nv": int(m.nv), "bodies": bodies(m),
            "samples": samples(m, rng), "actuators": actuators(m), "colliding": colliding(m)}


def files(roots):
    for root in roots:
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith((".xml", ".mjcf")):
                    with open(path, "rb") as f:
                        text = f.read(1 << 20)
                    if b"<mujoco" in text and b"<robot" not in text:
                        yield path


def main():
    roots = sys.argv[1:]
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec and spec.origin:
            roots.append(os.path.dirname(spec.origin))
    for path in files(roots):
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            try:
                line = json.dumps(read(path))
            except Exception as error:
                print(f"{path}: {error}", file=sys.stderr)
                os._exit(1)
            print(line, flush=True)
            os._exit(0)
        os.waitpid(child, 0)


main()
