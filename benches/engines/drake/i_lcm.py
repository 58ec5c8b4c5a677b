"""I. Images and poses over LCM. run: taskset -c 1 python i_lcm.py [where Drake's packed message is left]

`bench_util.py` has to be on the path (PYTHONPATH). Python only makes the calls: serializers and systems are C++.
"""
import os

from bench_util import *
from drake import lcmt_image_array, lcmt_viewer_draw
from pydrake.lcm import DrakeLcm
from pydrake.all import (
    DiagramBuilder, DrakeVisualizer, DrakeVisualizerParams, FramePoseVector, GeometryFrame, GeometryInstance, ImageRgba8U,
    ImageToLcmImageArrayT, IllustrationProperties, LcmImageArrayToImages, LcmPublisherSystem, LcmSubscriberSystem,
    PixelType, RigidTransform, SceneGraph, Simulator, Sphere, Value)

W, H = 640, 480
N = W * H


def picture(noisy):
    """As `picture` of lcm.rs."""
    y, x = np.mgrid[0:H, 0:W].astype(np.int64)
    square = (x - 320) ** 2 + (y - 240) ** 2
    light = 220 - square // 150
    tile = np.where((x // 40 + y // 40) % 2 == 0, 180, 120) - (y - 300) // 4
    ball, floor = square < 150 * 150, y > 300
    pick = lambda a, b, c: np.where(ball, a, np.where(floor, b, c))
    rgb = np.stack([pick(light, tile, y // 2), pick(light // 2, tile, 60 + y // 3), pick(light // 3, tile, 200 - x // 16)], axis=2)
    noise = ((y * W + x)[:, :, None] * 3 + np.arange(3)).astype(np.uint32)
    noise = noise * np.uint32(2654435761)
    noise = ((noise ^ (noise >> np.uint32(15))) * np.uint32(2246822519)) >> np.uint32(31)
    image = ImageRgba8U(W, H)
    image.mutable_data[:, :, :3] = (rgb + noise * noisy).astype(np.uint8)
    image.mutable_data[:, :, 3] = 255
    return image


def publishing(lcm, do_compress):
    builder = DiagramBuilder()
    images = builder.AddSystem(ImageToLcmImageArrayT(do_compress))
    port = images.DeclareImageInputPort[PixelType.kRgba8U]("color")
    publisher = builder.AddSystem(LcmPublisherSystem.Make("IMAGE", lcmt_image_array, lcm, 1.0, use_cpp_serializer=True))
    builder.Connect(images.get_output_port(0), publisher.get_input_port(0))
    builder.ExportInput(port)
    diagram = builder.Build()
    return diagram, diagram.CreateDefaultContext()


KINDS = (("", False, True), ("_zlib", True, True), ("_zlib.smooth", True, False))
packed_bytes = {}
port = 40000 + os.getpid() % 20000
for bus, url in (("", "memq://"), (".udpm", f"udpm://239.255.76.67:{port}?ttl=0")):
    for packed, do_compress, noisy in KINDS:
        image = picture(noisy)
        lcm, heard = DrakeLcm(url), []
        if not bus:
            lcm.Subscribe("IMAGE", heard.append)
        diagram, context = publishing(lcm, do_compress)

        def prepare(i):
            heard.clear()
            if not bus:
                lcm.HandleSubscriptions(0)
            diagram.get_input_port(0).FixValue(context, Value(image))
        samples = time_pairs(prepare, lambda: diagram.ForcedPublish(context), 60)
        if not bus:
            lcm.HandleSubscriptions(0)
            packed_bytes[packed] = heard[-1]
        emit(f"I1.lcm_encode_publish.image_rgba{packed}{bus}", N, "ms", samples, 1e-6, bytes=len(packed_bytes[packed]))
if len(sys.argv) > 1:
    open(sys.argv[1], "wb").write(packed_bytes["_zlib"])


def receiving(message_type, channel):
    builder, lcm = DiagramBuilder(), DrakeLcm("memq://")
    subscriber = builder.AddSystem(LcmSubscriberSystem.Make(channel, message_type, lcm, use_cpp_serializer=True))
    return builder, lcm, subscriber


def receiving_images():
    """A bus, what handles its messages and asks for the colour image, and the image."""
    builder, lcm, subscriber = receiving(lcmt_image_array, "IMAGE")
    images = builder.AddSystem(LcmImageArrayToImages())
    builder.Connect(subscriber.get_output_port(0), images.get_input_port(0))
    simulator = Simulator(builder.Build())
    simulator.Initialize()
    context = images.GetMyContextFromRoot(simulator.get_context())
    output, t = images.color_image_output_port(), [0.0]

    def handle():
        lcm.HandleSubscriptions(0)
        t[0] += 0.001
        simulator.AdvanceTo(t[0], interruptible=False)
        return output.EvalAbstract(context) if hasattr(output, "EvalAbstract") else output.Eval(context)
    return lcm, handle, lambda: output.Eval(context)


for packed, do_compress, noisy in KINDS:
    image = picture(noisy)
    lcm, handle, received = receiving_images()
    samples = time_pairs(lambda i: lcm.Publish("IMAGE", packed_bytes[packed]), handle, 60)
    assert (received().data == image.data).all()
    emit(f"I2.lcm_decode.image_rgba{packed}", N, "ms", samples, 1e-6)

    lcm, handle, received = receiving_images()
    sender, sending = publishing(lcm, do_compress)

    def send_and_take():
        sender.ForcedPublish(sending)
        return handle()
    samples = time_pairs(lambda i: sender.get_input_port(0).FixValue(sending, Value(image)), send_and_take, 60)
    assert (received().data == image.data).all()
    emit(f"I3.lcm_both_ways.image_rgba{packed}", N, "ms", samples, 1e-6)

# A thousand spheres that move, shown by DrakeVisualizer; then the same message received.
n = 1000
builder, lcm, heard = DiagramBuilder(), DrakeLcm("memq://"), []
lcm.Subscribe("DRAKE_VIEWER_DRAW", heard.append)
scene = builder.AddSystem(SceneGraph())
source = scene.RegisterSource("source")
frames = [scene.RegisterFrame(source, GeometryFrame(f"frame_{i}")) for i in range(n)]
for i, frame in enumerate(frames):
    instance = GeometryInstance(RigidTransform(), Sphere(0.1), f"sphere_{i}")
    instance.set_illustration_properties(IllustrationProperties())
    scene.RegisterGeometry(source, frame, instance)
DrakeVisualizer.AddToBuilder(builder, scene, lcm, DrakeVisualizerParams())
builder.ExportInput(scene.get_source_pose_port(source))
diagram = builder.Build()
context = diagram.CreateDefaultContext()
poses = []
for k in range(8):
    vector = FramePoseVector()
    for i, frame in enumerate(frames):
        vector.set_value(frame, RigidTransform([0.5 * i, 0.01 * k, 0.25]))
    poses.append(Value(vector))


def prepare(i):
    heard.clear()
    while lcm.HandleSubscriptions(0):
        pass
    diagram.get_input_port(0).FixValue(context, poses[i % 8])


emit("I1.lcm_encode_publish.draw", n, "us", time_pairs(prepare, lambda: diagram.ForcedPublish(context), 200), 1e-3)
lcm.HandleSubscriptions(0)
draw = heard[-1]
builder, lcm, subscriber = receiving(lcmt_viewer_draw, "DRAW")
simulator = Simulator(builder.Build())
simulator.Initialize()
t = [0.0]


def handle():
    lcm.HandleSubscriptions(0)
    t[0] += 0.001
    simulator.AdvanceTo(t[0], interruptible=False)


samples = time_pairs(lambda i: lcm.Publish("DRAW", draw), handle, 200)
emit("I2.lcm_decode.draw", n, "us", samples, 1e-3, bytes=len(draw))
