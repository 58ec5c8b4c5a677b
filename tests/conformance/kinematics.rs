//! Robot models of the reference set as plants, and the derivatives of their poses.

use crate::support::{find, read_json};
use nalgebra::Vector3;
use serde_json::Value;
use std::path::Path;
use tarragon_formats::{MjcfSemantics, Parser};
use tarragon_framework::math;
use tarragon_geometry::SceneGraph;
use tarragon_multibody::{MultibodyPlant, MultibodyPlantBuilder};

/// A model of the reference set, read by our parser.
pub(crate) struct Ours {
    pub(crate) plant: MultibodyPlant,
    pub(crate) scene: SceneGraph,
}

pub(crate) fn load_model(root: &Path, file: &str) -> Result<Ours, String> {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let mut scene = SceneGraph::new();
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.set_mjcf_semantics(MjcfSemantics::Drake);
    let models = root.join("models");
    for (name, folder) in read_json(&models.join("packages.json"))
        .as_object()
        .unwrap()
    {
        let folder = models.join(folder.as_str().unwrap());
        parser.package_map_mut().add(name, folder).unwrap();
    }
    let parsed = parser.add_models(models.join(file));
    parsed.map_err(|e| e.to_string())?;
    let plant = plant
        .build_with_scene(&mut scene)
        .map_err(|e| e.to_string())?;
    Ok(Ours { plant, scene })
}

pub(crate) fn text(v: &Value) -> &str {
    v.as_str().unwrap_or("")
}

pub(crate) fn items(v: &Value) -> &[Value] {
    v.as_array().map_or(&[], |a| a)
}

/// Derivatives of body poses with respect to the positions on a real robot, by dual numbers and by
/// central differences.
#[test]
fn pose_derivatives_match_differences() {
    const ROBOT: &str = "models/drake_models/jaco_description/urdf/j2n6s300.urdf";
    let Some(file) = find(ROBOT) else {
        return;
    };
    let root = file.ancestors().nth(5).unwrap();
    let ours = load_model(root, ROBOT.strip_prefix("models/").unwrap()).unwrap();
    let plant = &ours.plant;
    let n = plant.num_positions();
    let mut q: Vec<f64> = (0..n).map(|i| 0.3 + 0.1 * i as f64).collect();
    let r = math::rpy(0.3, -0.4, 0.5);
    q[..4].copy_from_slice(&[r.w, r.i, r.j, r.k]);
    let point = |q: &[f64]| -> Vector3<f64> {
        let mut poses = vec![];
        plant.calc_body_poses(q, &mut poses).unwrap();
        poses.last().unwrap() * nalgebra::Point3::new(0.1, 0.2, 0.3) - nalgebra::Point3::origin()
    };
    for i in 0..n {
        let lifted = q.iter().enumerate().map(|(j, q)| {
            if i == j {
                tarragon_framework::AutoDiff::variable(*q, 0)
            } else {
                tarragon_framework::AutoDiff::from(*q)
            }
        });
        let lifted: Vec<_> = lifted.collect();
        let mut poses = vec![];
        plant.calc_body_poses(&lifted, &mut poses).unwrap();
        let p = nalgebra::Point3::new(0.1, 0.2, 0.3).map(tarragon_framework::AutoDiff::from);
        let dual = (poses.last().unwrap() * p).coords.map(|x| x.eps[0]);
        let h = 1e-6;
        let (mut above, mut below) = (q.clone(), q.clone());
        above[i] += h;
        below[i] -= h;
        let central = (point(&above) - point(&below)) / (2.0 * h);
        let error = (dual - central).amax();
        assert!(error < 1e-8, "position {i}: {error:e}");
    }
}
