"""Records curvilinear.json, the kinematics and dynamics of carriages on curved paths.

The values are those of Drake 1.51.1: run with a Python that has `drake==1.51.1`.
"""

import json

import numpy as np
from pydrake.all import JacobianWrtVariable, MultibodyForces, MultibodyPlant, Parser

plant = MultibodyPlant(0.001)
Parser(plant).AddModels("curvilinear.sdf")
plant.Finalize()
arm = plant.GetBodyByName("arm")
spatial = lambda x: x.rotational().tolist() + x.translational().tolist()
joint = lambda name: plant.GetJointByName(name)
ranges = lambda j: [j.position_lower_limits()[0], j.position_upper_limits()[0]]


def record(ride, circle):
    context = plant.CreateDefaultContext()
    q = np.array([0.3, ride, circle, 0.4, -0.5, 0.6])
    v = np.array([0.5, -1.5, 0.8, 0.2, 0.3, -0.7])
    vdot = np.array([1.0, 0.5, -0.3, 0.6, 0.1, 0.2])
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    return {
        "q": q.tolist(), "v": v.tolist(), "vdot": vdot.tolist(),
        "p_arm": plant.EvalBodyPoseInWorld(context, arm).translation().tolist(),
        "r_arm": plant.EvalBodyPoseInWorld(context, arm).rotation().matrix().flatten().tolist(),
        "v_arm": spatial(arm.EvalSpatialVelocityInWorld(context)),
        "a_arm": spatial(plant.CalcSpatialAccelerationsFromVdot(context, vdot)[int(arm.index())]),
        "mass_matrix": plant.CalcMassMatrix(context).flatten().tolist(),
        "bias": plant.CalcBiasTerm(context).tolist(),
        "gravity": plant.CalcGravityGeneralizedForces(context).tolist(),
        "inverse_dynamics": plant.CalcInverseDynamics(context, vdot, MultibodyForces(plant)).tolist(),
        "jacobian": plant.CalcJacobianSpatialVelocity(
            context, JacobianWrtVariable.kV, arm.body_frame(), [0.1, 0.2, 0.3], plant.GetFrameByName("first_F"),
            plant.GetFrameByName("second_M")).flatten().tolist(),
    }


json.dump({
    "position_names": plant.GetPositionNames(always_add_suffix=False),
    "velocity_names": plant.GetVelocityNames(add_model_instance_prefix=False),
    "length_of_ride": ranges(joint("ride"))[1],
    "samples": [record(*s) for s in [
        (0.0, 0.0), (0.5, 0.3), (1.0, 1.6), (2.5, 1.8), (4.0, 2.1), (4.5, -0.7), (6.0, 7.3), (-0.5, 100.0)]],
}, open("curvilinear.json", "w"), indent=0)
