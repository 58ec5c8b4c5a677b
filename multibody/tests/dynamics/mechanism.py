"""Records mechanism.json, the kinematics and dynamics of a chain with every kind of joint.

The values are those of Drake 1.51.1: run with a Python that has `drake==1.51.1`.
"""

import json

import numpy as np
from pydrake.all import (
    BallRpyJoint, FixedOffsetFrame, JacobianWrtVariable, JointIndex, MultibodyForces, MultibodyPlant, PlanarJoint,
    PrismaticJoint, RevoluteJoint, RigidTransform, RollPitchYaw, RpyFloatingJoint, ScrewJoint, SpatialInertia,
    UnitInertia, UniversalJoint, WeldJoint,
)


def inertia(k):
    unit = UnitInertia(0.1, 0.11, 0.12, 0.001, -0.002, 0.003)
    return SpatialInertia(mass=1 + 0.1 * k, p_PScm_E=[0.1, -0.02 * k, 0.05], G_SP_E=unit)


def pose(k):
    return RigidTransform(RollPitchYaw(0.1 * k, -0.2, 0.3), [0.1, 0.2 * k, -0.1])


plant = MultibodyPlant(0.001)
parent = plant.world_body()
axis = np.array([0.6, 0.0, 0.8])
make = {
    "rpy": lambda n, f, m: RpyFloatingJoint(n, f, m),
    "universal": lambda n, f, m: UniversalJoint(n, f, m),
    "ball": lambda n, f, m: BallRpyJoint(n, f, m),
    "planar": lambda n, f, m: PlanarJoint(n, f, m, [0, 0, 0]),
    "screw": lambda n, f, m: ScrewJoint(n, f, m, axis, 0.3, 0),
    "revolute": lambda n, f, m: RevoluteJoint(n, f, m, axis),
    "prismatic": lambda n, f, m: PrismaticJoint(n, f, m, axis),
    "weld": lambda n, f, m: WeldJoint(n, f, m, pose(1)),
}
for k, (name, joint) in enumerate(make.items()):
    body = plant.AddRigidBody(name, inertia(k))
    f = plant.AddFrame(FixedOffsetFrame(name + "_F0", parent.body_frame(), pose(k)))
    m = plant.AddFrame(FixedOffsetFrame(name + "_M0", body.body_frame(), pose(k + 2)))
    joint = plant.AddJoint(joint(name, f, m))
    if name == "revolute":
        motor = plant.AddJointActuator("m", joint)
        motor.set_default_rotor_inertia(0.02)
        motor.set_default_gear_ratio(5)
    parent = body
plant.AddRigidBody("free", inertia(9))
plant.Finalize()

context = plant.CreateDefaultContext()
q = np.array([0.3 + 0.1 * i - 0.02 * i * i for i in range(plant.num_positions())])
v = np.array([0.5 - 0.1 * i + 0.01 * i * i for i in range(plant.num_velocities())])
vdot = np.array([0.2 * i - 1 for i in range(plant.num_velocities())])
q[17:21] /= np.linalg.norm(q[17:21])
plant.SetPositions(context, q)
plant.SetVelocities(context, v)
spatial = lambda x: x.rotational().tolist() + x.translational().tolist()
weld = plant.GetBodyByName("weld")
json.dump({
    "q": q.tolist(), "v": v.tolist(), "vdot": vdot.tolist(),
    "mass_matrix": plant.CalcMassMatrix(context).tolist(),
    "bias": plant.CalcBiasTerm(context).tolist(),
    "gravity": plant.CalcGravityGeneralizedForces(context).tolist(),
    "inverse_dynamics": plant.CalcInverseDynamics(context, vdot, MultibodyForces(plant)).tolist(),
    "kinetic_energy": [plant.CalcKineticEnergy(context)],
    "potential_energy": [plant.CalcPotentialEnergy(context)],
    "com": plant.CalcCenterOfMassPositionInWorld(context).tolist(),
    "v_com": plant.CalcCenterOfMassTranslationalVelocityInWorld(context).tolist(),
    "momentum": spatial(plant.CalcSpatialMomentumInWorldAboutPoint(context, [1, 2, 3])),
    "p_weld": plant.EvalBodyPoseInWorld(context, weld).translation().tolist(),
    "v_weld": spatial(weld.EvalSpatialVelocityInWorld(context)),
    "a_weld": spatial(plant.CalcSpatialAccelerationsFromVdot(context, vdot)[int(weld.index())]),
    "qdot": plant.MapVelocityToQDot(context, v).tolist(),
    "jacobian_qdot": plant.CalcJacobianSpatialVelocity(
        context, JacobianWrtVariable.kQDot, weld.body_frame(), [0.1, 0.2, 0.3],
        plant.GetFrameByName("ball"), plant.GetFrameByName("ball_F0")).tolist(),
}, open("mechanism.json", "w"), indent=0)
