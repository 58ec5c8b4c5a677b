"""Draws MJCF files with MuJoCo's renderer, lit by a light that is fixed to the camera.

Every line of standard input is a JSON object: the `file`, `width` and `height` (pixels), `fov_y`
(rad), the `eye` and the `target` of the camera (m), whether the `sky` is drawn, and `out`, the file
that receives red, green and blue of all pixels and then their depths (m, float). A line of standard
output says that it is done, or what is wrong; the first line is the folder of the Python packages.
"""

import json
import math
import os
import sys

os.environ.setdefault("MUJOCO_GL", "egl")

import mujoco
import numpy as np


def draw(case):
    model = mujoco.MjModel.from_xml_path(case["file"])
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    model.vis.global_.fovy = math.degrees(case["fov_y"])
    light = model.vis.headlight
    light.active = 1
    light.ambient[:], light.diffuse[:], light.specular[:] = 0, 1, 0
    model.light_active[:] = 0
    model.mat_emission[:] = 0
    model.vis.map.znear = 0.1 / model.stat.extent
    model.vis.map.zfar = 100 / model.stat.extent

    eye, target = np.array(case["eye"]), np.array(case["target"])
    forward = target - eye
    camera = mujoco.MjvCamera()
    camera.lookat[:] = target
    camera.distance = np.linalg.norm(forward)
    forward /= camera.distance
    camera.azimuth = math.degrees(math.atan2(forward[1], forward[0]))
    camera.elevation = math.degrees(math.asin(forward[2]))

    model.vis.global_.offwidth = case["width"]
    model.vis.global_.offheight = case["height"]
    model.vis.quality.offsamples = 0
    with mujoco.Renderer(model, case["height"], case["width"]) as renderer:
        options = mujoco.MjvOption()
        # Only geoms and skins are compared.
        for flag in ["JOINT", "ACTUATOR", "TENDON", "RANGEFINDER", "SKIN", "STATIC"]:
            is_shown = flag in ["SKIN", "STATIC"]
            options.flags[getattr(mujoco.mjtVisFlag, "mjVIS_" + flag)] = is_shown
        options.sitegroup[:] = 0
        renderer.update_scene(data, camera, options)
        for flag in ["SHADOW", "REFLECTION", "SKYBOX", "FOG", "HAZE"]:
            is_drawn = flag == "SKYBOX" and case["sky"]
            renderer.scene.flags[getattr(mujoco.mjtRndFlag, "mjRND_" + flag)] = is_drawn
        color = renderer.render()
        renderer.enable_depth_rendering()
        depth = renderer.render()
    with open(case["out"], "wb") as out:
        out.write(color.astype(np.uint8).tobytes())
        out.write(depth.astype(np.float32).tobytes())


# Fails where nothing can be drawn.
mujoco.Renderer(mujoco.MjModel.from_xml_string("<mujoco/>"), 8, 8)
print(os.path.dirname(os.path.dirname(mujoco.__file__)), flush=True)
for line in sys.stdin:
    try:
        draw(json.loads(line))
        answer = "done"
    except Exception as error:  # The test decides what it means.
        answer = f"{type(error).__name__}: {error}".replace("\n", " ")
    print(answer, flush=True)
# Objects of the renderer complain when Python ends.
os._exit(0)
