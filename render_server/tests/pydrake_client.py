"""Draws a scene with Drake's RenderEngineGltfClient; the test draws the same scene in process.

Arguments: base_url, the directory of the mesh files, and the path for the images. Reads one line
per camera pose from standard input: x y z roll pitch yaw of X_WC. Writes, for each, the raw pixels
of the colour (RGBA u8), depth (f32) and label (i16) image to the path and answers with "done".
"""

import sys

import numpy as np
from pydrake.geometry import (
    Box, Capsule, ClippingRange, ColorRenderCamera, Cylinder, DepthRange, DepthRenderCamera,
    Ellipsoid, FramePoseVector, GeometryFrame, GeometryInstance, HalfSpace,
    MakeRenderEngineGltfClient, Mesh, PerceptionProperties, RenderCameraCore,
    RenderEngineGltfClientParams, RenderLabel, Rgba, SceneGraph, Sphere)
from pydrake.math import RigidTransform, RollPitchYaw
from pydrake.systems.sensors import CameraInfo, RgbdSensor
from pydrake.systems.framework import DiagramBuilder

base_url, assets, out = sys.argv[1:]

scene = SceneGraph()
scene.AddRenderer("client", MakeRenderEngineGltfClient(
    RenderEngineGltfClientParams(base_url=base_url)))
source = scene.RegisterSource("test")


def add(shape, xyz, rpy, label, diffuse, **phong):
    pose = RigidTransform(RollPitchYaw(rpy), xyz)
    geometry = GeometryInstance(pose, shape, str(label))
    properties = PerceptionProperties()
    properties.AddProperty("label", "id", RenderLabel(label))
    if diffuse is not None:
        properties.AddProperty("phong", "diffuse", Rgba(*diffuse))
    for name, value in phong.items():
        properties.AddProperty("phong", name, value)
    geometry.set_perception_properties(properties)
    scene.RegisterAnchoredGeometry(source, geometry)


add(Box(0.2, 0.3, 0.4), [0, 0, 2], [0.4, 0.5, 0.6], 300, (0.1, 0.2, 0.8, 1))
add(Sphere(0.2), [0.5, 0, 2], [0, 0, 0], 7, (1, 0, 0, 1))
add(Cylinder(0.1, 0.3), [0, 0.5, 2], [0.9, 0.2, 0.1], 8, (0.2, 0.7, 0.3, 1))
add(Capsule(0.1, 0.3), [-0.5, 0, 2], [1.2, 0.3, 0], 9, (0.9, 0.8, 0.1, 1))
add(Ellipsoid(0.1, 0.2, 0.3), [-0.5, 0.5, 2], [0.1, 0.2, 0.3], 10, (0.3, 0.3, 0.9, 1))
add(HalfSpace(), [0, 0, 5], [3.1, 0.2, 0], 256, (0.6, 0.6, 0.6, 1))
add(Mesh(assets + "/bowl.obj", 0.2), [0.5, 0.5, 2], [0.3, 0.2, 0.1], 11, (0.8, 0.4, 0.2, 1))
add(Mesh(assets + "/wedge.obj", 0.3), [0.1, -0.5, 2], [0.8, 0.6, 0.1], 12, None)
add(Mesh(assets + "/tile.gltf", 0.5), [-0.4, -0.5, 1.8], [0.1, 0.2, 0.3], 13, None)
add(Box(0.25, 0.2, 0.15), [0.6, -0.5, 2], [0.4, 0.5, 0.6], 14, None,
    diffuse_map=assets + "/checker.png")

builder = DiagramBuilder()
builder.AddSystem(scene)
core = RenderCameraCore("client", CameraInfo(320, 240, 300.0, 310.0, 150.25, 121.5),
                        ClippingRange(0.05, 20.0), RigidTransform())
frame = scene.RegisterFrame(source, GeometryFrame("camera"))
camera = builder.AddSystem(RgbdSensor(
    frame, RigidTransform(), ColorRenderCamera(core),
    DepthRenderCamera(core, DepthRange(0.1, 10.0))))
builder.Connect(scene.get_query_output_port(), camera.query_object_input_port())
builder.ExportInput(scene.get_source_pose_port(source), "poses")
diagram = builder.Build()
context = diagram.CreateDefaultContext()

for line in sys.stdin:
    numbers = [float(x) for x in line.split()]
    poses = FramePoseVector()
    poses.set_value(frame, RigidTransform(RollPitchYaw(numbers[3:]), numbers[:3]))
    diagram.get_input_port(0).FixValue(context, poses)
    own = camera.GetMyContextFromRoot(context)
    with open(out, "wb") as file:
        for port, dtype in [(camera.color_image_output_port(), np.uint8),
                            (camera.depth_image_32F_output_port(), np.float32),
                            (camera.label_image_output_port(), np.int16)]:
            file.write(np.ascontiguousarray(port.Eval(own).data, dtype=dtype).tobytes())
    print("done", flush=True)
