//! Reads MJCF from a grammar: replicas of replicas, attached models that attach themselves, height
//! fields, tendons, actuators and keyframes.
#![no_main]

#[path = "support/grammar.rs"]
mod grammar;
#[path = "support/model.rs"]
mod model;

use grammar::Element;
use libfuzzer_sys::fuzz_target;

const BODY: &str = "body body frame replicate attach geom geom joint joint freejoint inertial site \
                    camera composite flexcomp include";

const ELEMENTS: &[Element] = &[
    Element::new(
        "mujoco",
        "model=name",
        "compiler option size default asset worldbody worldbody worldbody contact tendon equality \
         actuator keyframe include sensor",
    ),
    Element::new(
        "compiler",
        "angle=degree|radian autolimits=flag fitaabb=flag settotalmass=number boundmass=number \
         boundinertia=number balanceinertia=flag inertiafromgeom=flag inertiagrouprange=2 \
         coordinate=local|global eulerseq=xyz|zyx|XYZ|q discardvisual=flag fusestatic=flag \
         strippath=flag",
        "lengthrange",
    ),
    Element::new("lengthrange", "mode=none|muscle", ""),
    Element::new("option", "gravity=3 timestep=number", "flag"),
    Element::new("size", "nconmax=count memory=name", ""),
    Element::new(
        "default",
        "class=name",
        "default geom joint mesh material site motor position velocity damper muscle general \
         equality tendon pair",
    ),
    Element::new("asset", "", "mesh hfield texture material model"),
    Element::new(
        "mesh",
        "name=name file=file scale=3 refpos=3 refquat=4 vertex=12 face=12 \
         inertia=exact|convex|legacy|shell smoothnormal=flag builtin=sphere|hemisphere|cone|plate \
         params=3 class=name",
        "plugin",
    ),
    Element::new(
        "hfield",
        "name=name file=file nrow=count ncol=count size=4 elevation=9",
        "",
    ),
    Element::new(
        "texture",
        "name=name type=2d|cube|skybox builtin=gradient|checker|flat width=count height=count \
         file=file fileright=file fileup=file rgb1=3 rgb2=3 mark=edge|cross|random markrgb=3 \
         random=number gridsize=2 gridlayout=R|RL|.UDFB hflip=flag vflip=flag nchannel=count",
        "",
    ),
    Element::new(
        "material",
        "name=name texture=name rgba=4 texrepeat=2 texuniform=flag class=name",
        "layer",
    ),
    Element::new("model", "name=name file=file content_type=name", ""),
    Element::new("worldbody", "childclass=name", BODY),
    Element::new(
        "body",
        "name=name pos=3 quat=4 euler=3 axisangle=4 xyaxes=6 zaxis=3 childclass=name mocap=flag \
         gravcomp=number",
        BODY,
    ),
    Element::new(
        "frame",
        "name=name pos=3 quat=4 euler=3 childclass=name",
        BODY,
    ),
    Element::new(
        "replicate",
        "count=count offset=3 euler=3 sep=name childclass=name",
        BODY,
    ),
    Element::new("attach", "model=name body=name prefix=name", ""),
    Element::new(
        "geom",
        "name=name type=plane|hfield|sphere|capsule|ellipsoid|cylinder|box|mesh size=3 pos=3 \
         quat=4 fromto=6 mass=number density=number friction=3 contype=count conaffinity=count \
         condim=1|3|4|6 priority=count solmix=number solref=2 solimp=5 margin=number gap=number \
         mesh=name hfield=name material=name group=count rgba=4 fitscale=number shellinertia=flag \
         geom=name sidesite=name class=name",
        "plugin",
    ),
    Element::new(
        "joint",
        "name=name joint=name type=hinge|slide|ball|free pos=3 axis=3 range=2 limited=flag \
         damping=number armature=number frictionloss=number stiffness=number springref=number \
         springdamper=2 ref=number actuatorfrcrange=2 joint1=name joint2=name polycoef=5 \
         coef=number active=flag class=name",
        "",
    ),
    Element::new("freejoint", "name=name align=flag", ""),
    Element::new(
        "inertial",
        "pos=3 mass=number diaginertia=3 fullinertia=6 quat=4",
        "",
    ),
    Element::new(
        "site",
        "name=name site=name pos=3 quat=4 size=3 fromto=6",
        "",
    ),
    Element::new(
        "camera",
        "name=name pos=3 quat=4 fovy=number resolution=2 output=rgb|depth mode=fixed|track",
        "",
    ),
    Element::new(
        "composite",
        "prefix=name type=cable|cloth|grid|loop count=3 size=3 curve=s|l|cos(s)|0 offset=3 \
         initial=free|ball|none vertex=9",
        "joint geom site plugin",
    ),
    Element::new(
        "flexcomp",
        "name=name type=grid|box|cylinder|ellipsoid|mesh|direct|gmsh count=3 spacing=3 dim=1|2|3 \
         mass=number radius=number rigid=flag file=file point=12 element=4 scale=3",
        "edge elasticity contact pin",
    ),
    Element::new("edge", "equality=flag damping=number", ""),
    Element::new(
        "elasticity",
        "young=number poisson=number damping=number",
        "",
    ),
    Element::new("pin", "id=count range=2 grid=3", ""),
    Element::new("include", "file=file", ""),
    Element::new("contact", "", "pair exclude"),
    Element::new(
        "pair",
        "geom1=name geom2=name friction=5 condim=1|3|4|6 solref=2 solimp=5 class=name",
        "",
    ),
    Element::new("exclude", "name=name body1=name body2=name", ""),
    Element::new(
        "tendon",
        "tendon1=name tendon2=name polycoef=5",
        "fixed spatial",
    ),
    Element::new(
        "fixed",
        "name=name range=2 limited=flag stiffness=number damping=number springlength=2 class=name",
        "joint",
    ),
    Element::new(
        "spatial",
        "name=name range=2 stiffness=number damping=number springlength=2",
        "site geom pulley",
    ),
    Element::new("pulley", "divisor=number", ""),
    Element::new("equality", "", "connect weld joint tendon flex"),
    Element::new(
        "connect",
        "name=name body1=name body2=name anchor=3 site1=name site2=name active=flag",
        "",
    ),
    Element::new(
        "weld",
        "name=name body1=name body2=name relpose=7 anchor=3 site1=name site2=name active=flag",
        "",
    ),
    Element::new(
        "actuator",
        "",
        "motor position velocity intvelocity damper cylinder muscle general adhesion",
    ),
    Element::new(
        "motor",
        "name=name joint=name tendon=name gear=6 ctrlrange=2 ctrllimited=flag forcerange=2 \
         forcelimited=flag class=name",
        "",
    ),
    Element::new(
        "position",
        "name=name joint=name tendon=name kp=number kv=number dampratio=number timeconst=number \
         inheritrange=number ctrlrange=2 ctrllimited=flag forcerange=2 forcelimited=flag gear=1 \
         class=name",
        "",
    ),
    Element::new(
        "velocity",
        "name=name joint=name kv=number ctrlrange=2 class=name",
        "",
    ),
    Element::new(
        "intvelocity",
        "name=name joint=name kp=number actrange=2 actlimited=flag inheritrange=number",
        "",
    ),
    Element::new("damper", "name=name joint=name kv=number +ctrlrange=2", ""),
    Element::new("cylinder", "name=name joint=name area=number bias=3", ""),
    Element::new("muscle", "name=name joint=name force=number range=2", ""),
    Element::new(
        "general",
        "name=name joint=name tendon=name site=name gaintype=fixed|affine|muscle gainprm=3 \
         biastype=none|affine|muscle biasprm=3 dyntype=none|integrator|filter|muscle gear=1 \
         ctrlrange=2 ctrllimited=flag forcerange=2 forcelimited=flag actrange=2 actlimited=flag \
         actdim=count class=name",
        "",
    ),
    Element::new("adhesion", "name=name body=name gain=number", ""),
    Element::new("keyframe", "", "key"),
    Element::new(
        "key",
        "name=name time=number qpos=7 ctrl=2 act=1 qvel=6",
        "",
    ),
    Element::new("sensor", "", "jointpos gyro actuatorfrc framepos subtreecom tendonpos clock"),
    Element::new("jointpos", "name=name joint=name noise=number cutoff=number", ""),
    Element::new("gyro", "name=name site=name", ""),
    Element::new("actuatorfrc", "name=name actuator=name", ""),
    Element::new(
        "framepos",
        "name=name objtype=body|xbody|site|geom objname=name reftype=body|site refname=name",
        "",
    ),
    Element::new("subtreecom", "name=name body=name", ""),
    Element::new("tendonpos", "name=name tendon=name", ""),
    Element::new("clock", "name=name user=3", ""),
    Element::new("flag", "gravity=enable|disable", ""),
    Element::new("layer", "texture=name role=rgb", ""),
    Element::new("plugin", "plugin=name instance=name", ""),
    Element::new("flex", "flex=name", ""),
];

fuzz_target!(|bytes: &[u8]| {
    model::check(grammar::document(bytes, ELEMENTS).as_bytes(), "model.xml");
});
