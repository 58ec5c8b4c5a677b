"""Reads the SDFormat files that are named on standard input, one per line, with pydrake 1.51.1, and
prints what became of each as a line of JSON."""

import json
import logging
import sys

from pydrake.geometry import Role
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph
from pydrake.multibody.tree import ModelInstanceIndex
from pydrake.systems.framework import DiagramBuilder

logging.getLogger("drake").setLevel(logging.CRITICAL)


def number(properties, group, name):
    return properties.GetProperty(group, name) if properties.HasProperty(group, name) else None


def describe(path):
    builder = DiagramBuilder()
    plant, scene = AddMultibodyPlantSceneGraph(builder, 0.01)
    models = Parser(plant).AddModels(path)
    if not models:
        return {"ok": False, "error": "no model"}
    plant.Finalize()
    model = plant.deformable_model()
    inspector = scene.model_inspector()
    diagram = builder.Build()
    context = plant.GetMyContextFromRoot(diagram.CreateDefaultContext())
    bodies = []
    for instance in range(plant.num_model_instances()):
        for body_id in model.GetBodyIds(ModelInstanceIndex(instance)):
            body = model.GetBody(body_id)
            config = body.config()
            geometry = body.geometry_id()
            contact = inspector.GetProximityProperties(geometry)
            friction = contact.GetProperty("material", "coulomb_friction")
            perception = inspector.GetPerceptionProperties(geometry)
            bodies.append({
                "name": body.scoped_name().get_full(),
                "geometry": inspector.GetName(geometry),
                "config": [
                    # JSON has no infinity.
                    min(config.youngs_modulus(), 1e300), config.poissons_ratio(), config.mass_density(),
                    config.mass_damping_coefficient(), config.stiffness_damping_coefficient(),
                ],
                "material": str(config.material_model()).split(".")[-1],
                "friction": [friction.static_friction(), friction.dynamic_friction()],
                "dissipation": number(contact, "material", "hunt_crossley_dissipation"),
                "relaxation_time": number(contact, "material", "relaxation_time"),
                "illustration": inspector.GetIllustrationProperties(geometry) is not None,
                "perception": perception is not None,
                "embedded": None if perception is None else
                number(perception, "deformable", "embedded_mesh"),
                "reference": model.GetReferencePositions(body_id).T.ravel().tolist(),
                "positions": model.GetPositions(context, body_id).T.ravel().tolist(),
            })
    frames = [plant.get_frame(i) for m in models for i in plant.GetFrameIndices(m)]
    return {
        "ok": True,
        "bodies": sorted(bodies, key=lambda body: body["name"]),
        "num_bodies": plant.num_bodies(),
        "frames": [[f.name(), f.body().name()] for f in frames],
        "candidates": len(inspector.GetCollisionCandidates()),
        "roles": [inspector.NumGeometriesWithRole(r)
                  for r in (Role.kProximity, Role.kIllustration, Role.kPerception)],
    }


for line in sys.stdin:
    try:
        answer = describe(line.strip())
    except Exception as error:  # pylint: disable=broad-except
        answer = {"ok": False, "error": str(error)[:300]}
    print(json.dumps(answer), flush=True)
