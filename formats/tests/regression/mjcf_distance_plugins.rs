//! Meshes of MuJoCo's signed-distance plugins.

use super::load_mjcf;
use crate::support::loaded::load_with;
use nalgebra::Matrix3;
use rayon::prelude::*;
use tarragon_multibody::*;

/// Plugin, its attributes, `inertia` of the mesh, and the mass (kg) and moments of inertia (kg m^2)
/// in MuJoCo 3.3.7.
type Recorded = (&'static str, &'static str, &'static str, f64, [f64; 3]);

const RECORDED: [Recorded; 19] = [
    (
        "torus",
        "",
        "",
        195.62170779342242,
        [22.823207401879255, 12.407592607420632, 12.407082444269152],
    ),
    (
        "torus",
        "radius1=.15 radius2=.05",
        "",
        10.976840668375129,
        [0.2052143111133855, 0.1085901434906774, 0.10858466521421745],
    ),
    (
        "torus",
        "",
        "exact",
        155.36584591082982,
        [21.650893060080573, 11.699218194356682, 11.698676512606788],
    ),
    (
        "torus",
        "",
        "convex",
        207.2580143575825,
        [23.21492512892735, 12.973677706034564, 12.97367770603452],
    ),
    (
        "torus",
        "",
        "shell",
        2072.296659138845,
        [323.73564336661707, 185.16976073707983, 185.1697492952792],
    ),
    (
        "gear",
        "",
        "",
        1359.4424122467549,
        [1299.6286529347537, 654.6888987935105, 652.1796835471913],
    ),
    (
        "gear",
        "alpha=.3 diameter=1.4 teeth=12 thickness=.3",
        "",
        486.92695705054643,
        [120.27238247577594, 63.2558430160174, 63.245355956766154],
    ),
    (
        "gear",
        "innerdiameter=1.0 teeth=30",
        "",
        1260.8692821576117,
        [1203.8716384453523, 606.6128105502604, 605.0239884505753],
    ),
    (
        "gear",
        "",
        "exact",
        732.6647555164709,
        [1010.4665207177068, 507.70124014275143, 507.5833229406441],
    ),
    (
        "bolt",
        "",
        "",
        572.9259664096854,
        [70.53488748325081, 70.51978073575654, 64.78383614544282],
    ),
    (
        "bolt",
        "radius=.2",
        "",
        518.1201214808256,
        [58.44106118718162, 58.43054017436568, 58.250293217788226],
    ),
    (
        "bolt",
        "",
        "exact",
        552.085901129562,
        [66.8944273315637, 66.88038738665871, 63.80341097904998],
    ),
    (
        "bolt",
        "radius=.7",
        "",
        731.659331148684,
        [155.46449755374496, 155.45562517578517, 146.41598755320337],
    ),
    (
        "nut",
        "",
        "",
        461.55924321460395,
        [61.45598200210487, 38.696758772984126, 38.68181194499733],
    ),
    (
        "nut",
        "radius=.22",
        "",
        443.8446204015184,
        [58.274936444599916, 36.89897431008596, 36.88947299023709],
    ),
    (
        "nut",
        "",
        "exact",
        303.93175980487706,
        [53.9414525504207, 33.14199917333498, 33.13121457858232],
    ),
    (
        "bowl",
        "",
        "",
        5507.298004313866,
        [2564.952792981068, 1830.4472313009126, 1830.4144591023958],
    ),
    (
        "bowl",
        "height=.1 radius=.5 thickness=.05",
        "",
        626.3668829085577,
        [77.4376883891054, 52.78258454575565, 52.781162739092416],
    ),
    (
        "bowl",
        "",
        "exact",
        354.79666639175133,
        [265.3044059480104, 191.6197704512606, 191.59430966640153],
    ),
];

/// Tolerance of masses and of moments of inertia, relative.
const TOLERANCE: f64 = 1e-6;

/// Returns a model with a body that has a geom of the mesh of a plugin.
fn model(plugin: &str, attributes: &str, mesh: &str, geom: &str) -> String {
    let config: String = attributes
        .split_whitespace()
        .filter_map(|a| a.split_once('='))
        .map(|(key, value)| format!("<config key='{key}' value='{value}'/>"))
        .collect();
    format!(
        "<mujoco model='m'><extension><plugin plugin='{plugin}'/></extension>
         <asset><mesh name='p' {mesh}><plugin plugin='{plugin}'>{config}</plugin></mesh></asset>
         <worldbody><body name='b'><freejoint/><geom mesh='p' {geom}/></body></worldbody></mujoco>"
    )
}

/// Returns the mass, the centre of mass and the inertia about it of the body `b`.
fn mass_of(plant: &MultibodyPlant) -> (f64, nalgebra::Vector3<f64>, Matrix3<f64>) {
    let body = plant.body_by_name("b").unwrap();
    let inertia = plant.body(body).unwrap().spatial_inertia();
    let (mass, center) = (inertia.mass(), inertia.center_of_mass());
    let offset =
        Matrix3::from_diagonal_element(center.norm_squared()) - center * center.transpose();
    (mass, center, inertia.rotational_inertia() - offset * mass)
}

/// MuJoCo keeps the mesh where it is: the centre of mass is at the origin of the geom, and the
/// principal moments are about its axes.
#[test]
fn masses_of_the_meshes_of_plugins_are_those_of_mujoco() {
    let check = |(plugin, attributes, kind, mass, moments): Recorded| {
        let inertia = match kind {
            "" => String::new(),
            kind => format!("inertia='{kind}'"),
        };
        let name = format!("mujoco.sdf.{plugin}");
        let text = model(
            &name,
            attributes,
            &inertia,
            "type='sdf' contype='0' conaffinity='0'",
        );
        let model = load_mjcf(&text);
        model.says_nothing();
        let (found, center, inertia) = mass_of(&model.plant);
        let place = format!("{plugin} {attributes} {kind}");
        assert!((found / mass - 1.0).abs() < TOLERANCE, "{place}: {found:?}");
        assert!(center.norm() == 0.0, "{place}: {center}");
        let off = inertia - Matrix3::from_diagonal(&moments.into());
        assert!(off.amax() < TOLERANCE * moments[0], "{place}: {inertia}");
    };
    RECORDED.into_par_iter().for_each(check);
}

/// MuJoCo 3.3.7: mass 3 kg, centre (1, 0, 0), moments 0.35001034894318606 about x and
/// 0.1902747... about the others.
#[test]
fn mesh_of_a_plugin_is_placed_with_its_geom() {
    let text = model(
        "mujoco.sdf.torus",
        "",
        "refpos='.1 .2 .3'",
        "type='mesh' mass='3' pos='1 0 0' euler='30 0 0'",
    );
    let model = load_mjcf(&text);
    model.says_nothing();
    let (mass, center, inertia) = mass_of(&model.plant);
    assert_eq!((mass, center), (3.0, nalgebra::Vector3::x()));
    assert!(
        (inertia.m11 - 0.35001034894318606).abs() < 1e-6,
        "{inertia}"
    );
    assert!((inertia.m22 - 0.1902774268753718).abs() < 1e-6, "{inertia}");
    assert!((inertia.m23 - 3.3877701067030e-6).abs() < 1e-6, "{inertia}");
}

/// MuJoCo 3.3.7: 45.79240925890878 kg.
#[test]
fn instance_of_a_plugin_configures_its_mesh() {
    let model = load_mjcf(
        "<mujoco model='m'><extension><plugin plugin='mujoco.sdf.torus'><instance name='t'>
         <config key='radius1' value='.2'/><config key='radius2' value='.1'/></instance></plugin>
         </extension><asset><mesh name='p'><plugin instance='t'/></mesh></asset>
         <worldbody><body name='b'><freejoint/><geom type='sdf' mesh='p'><plugin instance='t'/>
         </geom></body></worldbody></mujoco>",
    );
    model.says("geoms of type 'sdf' collide with the triangles of their meshes");
    let mass = model.plant.calc_total_mass();
    assert!(
        (mass / 45.79240925890878 - 1.0).abs() < TOLERANCE,
        "{mass:?}"
    );
}

/// MuJoCo 3.3.7: 1000 / 6 kg.
#[test]
fn geom_of_type_sdf_may_have_any_mesh() {
    let model = load_mjcf(
        "<mujoco model='m'><asset><mesh name='p' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset>
         <worldbody><body name='b'><freejoint/><geom type='sdf' mesh='p'/></body></worldbody>
         </mujoco>",
    );
    let mass = model.plant.calc_total_mass();
    assert!((mass * 0.006 - 1.0).abs() < 1e-12, "{mass:?}");
}

/// MuJoCo 3.3.7 refuses each of these.
#[test]
fn mistakes_in_plugins_are_errors_that_say_what_is_right() {
    let torus = |attributes: &str| model("mujoco.sdf.torus", attributes, "", "type='sdf'");
    for (text, expected) in [
        (
            torus("radius3=1"),
            "plugin 'mujoco.sdf.torus' has no attribute 'radius3'; it has radius1, radius2",
        ),
        (
            torus("radius1=wide"),
            "attribute 'radius1' must be a finite number, got 'wide'",
        ),
        (torus("radius1=1 radius1=2"), "'radius1' is given twice"),
        (
            torus("radius2=-0.1"),
            "the half extents of its bounds must be positive",
        ),
        (
            torus("radius2=0.001"),
            "the half extents of its bounds must be positive and at least",
        ),
        (
            model("mujoco.sdf.bowl", "thickness=-0.01", "", "type='sdf'"),
            "its distance function must be negative somewhere",
        ),
        (
            model("mujoco.sdf.torus", "", "scale='2 2 2'", "type='sdf'"),
            "scale of the mesh of a plugin must be 1 1 1, got [2.0, 2.0, 2.0]",
        ),
        (
            torus("").replace(
                "<plugin plugin='mujoco.sdf.torus'></plugin>",
                "<plugin instance='t'/>",
            ),
            "<extension> has no plugin instance 't'",
        ),
        (
            torus("").replace("mesh='p'", ""),
            "geom 'geom0' is of type 'sdf' but has no attribute 'mesh'",
        ),
    ] {
        let model = load_with(|p| p.add_models_from_string(&text, "xml"));
        let error = model.result.unwrap_err().to_string();
        assert!(error.contains(expected), "'{expected}' is not in: {error}");
        assert_eq!(model.plant.num_bodies(), 1);
    }
}

#[test]
fn unsupported_plugins_are_reported() {
    let model = load_mjcf(&model("my.sdf.cube", "", "", "type='sdf'"));
    let said: Vec<&str> = model.diagnostics.iter().map(|d| &*d.message).collect();
    let has = |text: &str| said.iter().any(|s| s.contains(text));
    assert!(has(
        "plugin 'my.sdf.cube' is not supported; the supported ones are mujoco.sdf.bolt"
    ));
    assert!(has(
        "<plugin> is ignored: plugin 'my.sdf.cube' is not supported"
    ));
    assert!(
        has("geom 'geom0' is left out: there is no mesh 'p'"),
        "{said:?}"
    );
}
