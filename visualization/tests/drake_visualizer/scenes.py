"""Publishes scenes with Drake's DrakeVisualizer.

Reads a list of scenes as JSON. Writes the messages that each publishes at once: pairs of channel and bytes.
"""

import json
import sys

from pydrake.geometry import (
    AddCompliantHydroelasticProperties,
    AddCompliantHydroelasticPropertiesForHalfSpace,
    AddRigidHydroelasticProperties,
    Box,
    Capsule,
    Convex,
    Cylinder,
    DrakeVisualizer,
    DrakeVisualizerParams,
    Ellipsoid,
    FramePoseVector,
    GeometryFrame,
    GeometryInstance,
    HalfSpace,
    IllustrationProperties,
    InMemoryMesh,
    Mesh,
    PerceptionProperties,
    ProximityProperties,
    Rgba,
    Role,
    SceneGraph,
    Sphere,
)
from pydrake.common import MemoryFile
from pydrake.common.eigen_geometry import Quaternion
from pydrake.lcm import DrakeLcm
from pydrake.math import RigidTransform
from pydrake.systems.framework import DiagramBuilder

ROLES = {
    "illustration": Role.kIllustration,
    "proximity": Role.kProximity,
    "perception": Role.kPerception,
}


def pose_of(numbers):
    return RigidTransform(Quaternion(numbers[:4]), numbers[4:])


def shape_of(form):
    if form == "HalfSpace":
        return HalfSpace()
    ((name, value),) = form.items()
    if name == "Sphere":
        return Sphere(value)
    if name in ("MeshOf", "ConvexOf"):
        file = MemoryFile(value["obj"].encode(), ".obj", "mesh.obj")
        shape = Mesh if name == "MeshOf" else Convex
        return shape(InMemoryMesh(mesh_file=file), scale3=value["scale"])
    if name == "MeshAt":
        return Mesh(value["path"], scale3=value["scale"])
    return {"Box": Box, "Cylinder": Cylinder, "Capsule": Capsule, "Ellipsoid": Ellipsoid}[name](*value)


def paint(properties, color):
    if color is not None:
        properties.AddProperty("phong", "diffuse", Rgba(*color))
    return properties


def assign_roles(scene_graph, source, geometry, spec):
    if (look := spec["illustration"]) is not None:
        scene_graph.AssignRole(source, geometry, paint(IllustrationProperties(), look["diffuse"]))
    if (look := spec["perception"]) is not None:
        scene_graph.AssignRole(source, geometry, paint(PerceptionProperties(), look["diffuse"]))
    if (touch := spec["proximity"]) is not None:
        properties = paint(ProximityProperties(), touch["diffuse"])
        if touch["rigid"] is not None:
            AddRigidHydroelasticProperties(touch["rigid"], properties)
        if (hint := touch["compliant"]) is not None:
            if spec["shape"] == "HalfSpace":
                AddCompliantHydroelasticPropertiesForHalfSpace(hint, 1e6, properties)
            else:
                AddCompliantHydroelasticProperties(hint, 1e6, properties)
        scene_graph.AssignRole(source, geometry, properties)


def publish(spec):
    builder = DiagramBuilder()
    scene_graph = builder.AddSystem(SceneGraph())
    sources = [scene_graph.RegisterSource(name) for name in spec["sources"]]
    frames = []
    for f in spec["frames"]:
        frame = GeometryFrame(f["name"], f["group"])
        parent = [] if f["parent"] is None else [frames[f["parent"]]]
        frames.append(scene_graph.RegisterFrame(sources[f["source"]], *parent, frame))
    for g in spec["geometries"]:
        source = sources[g["source"]]
        instance = GeometryInstance(pose_of(g["pose"]), shape_of(g["shape"]), g["name"])
        if g["frame"] is None:
            geometry = scene_graph.RegisterAnchoredGeometry(source, instance)
        else:
            geometry = scene_graph.RegisterGeometry(source, frames[g["frame"]], instance)
        assign_roles(scene_graph, source, geometry, g)
    lcm = DrakeLcm("memq://")
    heard = []
    lcm.SubscribeAllChannels(lambda channel, data: heard.append((channel, data.hex())))
    params = DrakeVisualizerParams(
        role=ROLES[spec["role"]],
        show_hydroelastic=spec["show_hydroelastic"],
        use_role_channel_suffix=spec["use_role_channel_suffix"],
        default_color=Rgba(*spec["default_color"]),
    )
    DrakeVisualizer.AddToBuilder(builder, scene_graph, lcm, params)
    diagram = builder.Build()
    context = diagram.CreateDefaultContext()
    for i, source in enumerate(sources):
        poses = FramePoseVector()
        for f, frame in zip(spec["frames"], frames):
            if f["source"] == i:
                poses.set_value(frame, pose_of(f["pose"]))
        port = scene_graph.get_source_pose_port(source)
        port.FixValue(scene_graph.GetMyMutableContextFromRoot(context), poses)
    context.SetTime(spec["time"])
    diagram.ForcedPublish(context)
    while lcm.HandleSubscriptions(0):
        pass
    return heard


json.dump([publish(spec) for spec in json.load(sys.stdin)], sys.stdout)
