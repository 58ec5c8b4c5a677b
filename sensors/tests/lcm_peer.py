"""Drake's side of the LCM tests: answers one line of hex per line of input.

images HEX              the images that LcmImageArrayToImages extracts from a message, as width,
                        height and bytes per port
make COMPRESS W H       the message that ImageToLcmImageArrayT makes of test images
cloud HEX               a point cloud message, decoded and encoded again
make_cloud FIELDS N     the message that PointCloudToLcm makes of a test cloud
publish URL CHANNEL HEX publishes bytes
hear URL CHANNEL        waits for a message, then answers like images
"""

import sys
import time

import numpy as np
import pydrake.systems.lcm as systems_lcm
from drake import lcmt_image_array, lcmt_point_cloud
from pydrake.lcm import DrakeLcm
from pydrake.all import (
    BaseField, DiagramBuilder, Fields, ImageDepth32F, ImageLabel16I, ImageRgba8U, ImageToLcmImageArrayT,
    LcmImageArrayToImages, LcmPublisherSystem, LcmSubscriberSystem, PointCloud, PointCloudToLcm, Simulator, Value,
)


def serializer(name):
    found = [n for n in dir(systems_lcm) if n.startswith("_Serializer_") and f"{name}\U0001d4e4" in n]
    return getattr(systems_lcm, found[0])()


def show(receiver, context):
    out = []
    for k in range(3):
        image = receiver.get_output_port(k).Eval(context)
        out.append(f"{image.width()} {image.height()} {image.data.tobytes().hex()}")
    return ", ".join(out)


def images(data):
    message = (s := serializer("lcmt_image_array")).CreateDefaultValue()
    s.Deserialize(bytes.fromhex(data), message)
    receiver = LcmImageArrayToImages()
    context = receiver.CreateDefaultContext()
    receiver.get_input_port(0).FixValue(context, message)
    return show(receiver, context)


def publish_once(system, values, message_type, seconds):
    """Returns the bytes that a publisher sends when a system converts the values."""
    builder, lcm, heard = DiagramBuilder(), DrakeLcm("memq://"), []
    builder.AddSystem(system)
    lcm.Subscribe("TEST", heard.append)
    publisher = builder.AddSystem(
        LcmPublisherSystem.Make("TEST", message_type, lcm, 0.0, use_cpp_serializer=True))
    builder.Connect(system.get_output_port(0), publisher.get_input_port(0))
    for i in range(len(values)):
        builder.ExportInput(system.get_input_port(i))
    diagram = builder.Build()
    context = diagram.CreateDefaultContext()
    context.SetTime(seconds)
    for i, value in enumerate(values):
        diagram.get_input_port(i).FixValue(context, Value(value))
    diagram.ForcedPublish(context)
    lcm.HandleSubscriptions(0)
    return heard[0].hex()


def make(compress, width, height):
    width, height = int(width), int(height)
    color, depth, label = (t(width, height) for t in (ImageRgba8U, ImageDepth32F, ImageLabel16I))
    i = np.arange(width * height * 4, dtype=np.int64)
    if len(i):
        color.mutable_data[:] = (i * i // 7 % 256).astype(np.uint8).reshape(height, width, 4)
        i = i[: width * height]
        depth.mutable_data[:] = (i % 97 / 8).astype(np.float32).reshape(height, width, 1)
        label.mutable_data[:] = (i // 5 % 1000).astype(np.int16).reshape(height, width, 1)
    system = ImageToLcmImageArrayT("color", "depth", "label", compress == "true")
    return publish_once(system, [color, depth, label], lcmt_image_array, 1.25)


def make_cloud(fields, size):
    base = BaseField(0)
    for name, field in (("xyz", BaseField.kXYZs), ("rgb", BaseField.kRGBs), ("normal", BaseField.kNormals)):
        if name in fields:
            base = base | field
    cloud = PointCloud(int(size), Fields(base))
    i = np.arange(3 * int(size)).reshape(-1, 3).T
    if cloud.has_xyzs():
        xyzs = i * 0.25 + 0.5
        xyzs[0, 3::7] = np.nan
        xyzs[1, 4::7] = np.inf
        cloud.mutable_xyzs()[:] = xyzs
    if cloud.has_rgbs():
        cloud.mutable_rgbs()[:] = i % 256
    if cloud.has_normals():
        cloud.mutable_normals()[:] = i * -0.125
    return publish_once(PointCloudToLcm("frame"), [cloud], lcmt_point_cloud, 2.5)


def cloud(data):
    message = lcmt_point_cloud.decode(bytes.fromhex(data))
    fields = " ".join(f"{f.name}@{f.byte_offset}:{f.datatype}x{f.count}" for f in message.fields)
    return f"{message.width} {message.height} {message.frame_name} {fields} {message.encode().hex()}"


def publish(url, channel, data):
    DrakeLcm(url).Publish(channel, bytes.fromhex(data))
    return "published"


def hear(url, channel):
    builder, lcm = DiagramBuilder(), DrakeLcm(url)
    subscriber = builder.AddSystem(
        LcmSubscriberSystem.Make(channel, lcmt_image_array, lcm, use_cpp_serializer=True))
    receiver = builder.AddSystem(LcmImageArrayToImages())
    builder.Connect(subscriber.get_output_port(0), receiver.get_input_port(0))
    diagram = builder.Build()
    simulator = Simulator(diagram)
    print("listening", flush=True)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if lcm.HandleSubscriptions(100):
            simulator.AdvanceTo(simulator.get_context().get_time() + 0.01)
            return show(receiver, receiver.GetMyContextFromRoot(simulator.get_context()))
    return "no message received"


COMMANDS = {f.__name__: f for f in (images, make, cloud, make_cloud, publish, hear)}
for line in sys.stdin:
    command, *arguments = line.split()
    print(COMMANDS[command](*arguments), flush=True)
