//! `<compiler>` and `<option>`: settings that apply to the whole file.

use super::mesh_inertia::RigidInertia;
use super::tree::ElementRef;
use super::vocabulary;
use crate::reading::mjcf_semantics::MjcfSemantics;
use nalgebra::{Isometry3, Quaternion, SymmetricEigen, Unit, UnitQuaternion, Vector3};
use std::f64::consts::PI;
use std::path::Path;
use tarragon_documents::xml::Parsed;
use tarragon_framework::math;
use tarragon_framework::math::direction;
use tarragon_multibody::{MultibodyPlantBuilder, SpatialInertia};

/// Attributes of `<compiler>` that are ignored, with the reasons.
const IGNORED: [(&str, &str); 3] = [
    ("alignfree", "free joints move body frames as they are"),
    ("discardvisual", "all geometry is kept"),
    ("fusestatic", "bodies without joints are kept and welded"),
];
/// Attributes of `<compiler>` that Drake ignores in addition.
const IGNORED_BY_DRAKE: [(&str, &str); 8] = [
    ("balanceinertia", "impossible inertias are errors"),
    ("boundinertia", "inertias are taken as they are"),
    ("boundmass", "masses are taken as they are"),
    ("inertiagrouprange", "geoms of all groups count for inertia"),
    ("settotalmass", "masses are taken as they are"),
    ("strippath", "paths of files are taken as they are"),
    ("texturedir", "textures are not read"),
    ("exactmeshinertia", "mesh inertia is always exact"),
];

const OWN_SOLVER: &str = "the plant has its own solver";
const NO_MEDIUM: &str = "no medium is simulated: bodies move without drag and lift";
const OWN_PAIRS: &str = "contact properties are those of the two geoms";
/// Attributes of `<option>` that are ignored with a warning, with the reasons. The others, but for
/// `gravity`, set iterations and tolerances of MuJoCo's algorithms and are ignored silently.
const IGNORED_OPTIONS: [(&str, &str); 8] = [
    ("collision", "collision filters select the pairs"),
    ("solver", OWN_SOLVER),
    (
        "actuatorgroupdisable",
        "groups of actuators are not supported; all actuators act",
    ),
    ("density", NO_MEDIUM),
    (
        "integrator",
        "a discrete plant has its own step, which is implicit in contact, damping and servos",
    ),
    (
        "magnetic",
        "no magnetic field is simulated; magnetometers measure none",
    ),
    ("viscosity", NO_MEDIUM),
    ("wind", NO_MEDIUM),
];

/// Attributes of `<option>` that Drake ignores in addition.
const IGNORED_BY_DRAKE_IN_OPTION: [(&str, &str); 7] = [
    ("cone", "the plant has its own contact model"),
    ("impratio", OWN_SOLVER),
    ("noslip_iterations", OWN_SOLVER),
    ("o_friction", OWN_PAIRS),
    ("o_margin", OWN_PAIRS),
    ("o_solimp", OWN_PAIRS),
    ("o_solref", OWN_PAIRS),
];

/// Bodies whose inertia is computed from their geoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InertiaFromGeom {
    Never,
    /// For bodies without `<inertial>`.
    Auto,
    Always,
}

#[derive(Clone, Debug)]
pub(super) struct CompilerOptions {
    pub(super) semantics: MjcfSemantics,
    degrees: bool,
    /// Axes of Euler angles in order; upper case stands for fixed axes.
    euler: [char; 3],
    pub(super) autolimits: bool,
    pub(super) inertia_from_geom: InertiaFromGeom,
    /// Directory of mesh files.
    pub(super) mesh_directory: String,
    /// Whether shapes are fitted to the bounding box of a mesh instead of its inertia box.
    pub(super) fit_aabb: bool,
    pub(super) texture_directory: String,
    /// Whether directories in the names of files are left out.
    pub(super) strip_path: bool,
    /// Whether meshes are solids bounded by their faces, unless they say otherwise.
    pub(super) exact_mesh_inertia: bool,
    /// Whether impossible moments of inertia are replaced by their mean.
    pub(super) balance_inertia: bool,
    /// Lower bounds of mass (kg) and moments of inertia (kg m^2); 0 if there is none.
    pub(super) bounds: [f64; 2],
    /// Groups of the geoms that count for inertia.
    pub(super) inertia_groups: [f64; 2],
    /// Mass of the model (kg), if it is set.
    pub(super) total_mass: Option<f64>,
}

impl Default for CompilerOptions {
    fn default() -> Self {
        Self {
            degrees: true,
            euler: ['x', 'y', 'z'],
            autolimits: true,
            inertia_from_geom: InertiaFromGeom::Auto,
            mesh_directory: String::new(),
            fit_aabb: false,
            semantics: MjcfSemantics::default(),
            texture_directory: String::new(),
            strip_path: false,
            exact_mesh_inertia: false,
            balance_inertia: false,
            bounds: [0.0; 2],
            inertia_groups: [0.0, f64::INFINITY],
            total_mass: None,
        }
    }
}

impl CompilerOptions {
    /// Reads all `<compiler>` elements of a file; later ones override earlier ones.
    pub(super) fn read(root: ElementRef<'_>, semantics: MjcfSemantics) -> Self {
        let mut compiler = Self {
            semantics,
            ..Self::default()
        };
        for node in root.children_named("compiler") {
            // Errors were reported.
            let _ = compiler.update(node);
        }
        compiler
    }

    fn update(&mut self, node: ElementRef<'_>) -> Parsed<()> {
        node.ignore_attributes(&IGNORED);
        if self.as_drake() {
            node.lost().ignore_attributes(&IGNORED_BY_DRAKE)
        } else {
            self.update_masses(node)?
        }
        for child in node.children() {
            if child.tag() == "lengthrange" {
                child.ignored("actuators have no lengths");
            }
        }
        self.degrees = match node.text("angle").map(str::trim) {
            Some("degree") => true,
            Some("radian") => false,
            None => self.degrees,
            Some(other) => {
                let message =
                    format!("angle must be 'degree' or 'radian', got '{other}'; it is ignored");
                node.warning_at("angle", message);
                self.degrees
            }
        };
        self.autolimits = boolean(node, "autolimits")?.unwrap_or(self.autolimits);
        self.fit_aabb = boolean(node, "fitaabb")?.unwrap_or(self.fit_aabb);
        self.inertia_from_geom = match node.text("inertiafromgeom").map(str::trim) {
            Some("false") => InertiaFromGeom::Never,
            Some("auto") => InertiaFromGeom::Auto,
            Some("true") => InertiaFromGeom::Always,
            None => self.inertia_from_geom,
            Some(other) => {
                let message = format!(
                    "inertiafromgeom must be 'true', 'false' or 'auto', got '{other}'; it is \
                     ignored"
                );
                node.warning_at("inertiafromgeom", message);
                self.inertia_from_geom
            }
        };
        for directory in ["assetdir", "meshdir"] {
            if let Some(text) = node.text(directory) {
                self.mesh_directory = text.into();
            }
        }
        for directory in ["assetdir", "texturedir"] {
            if let Some(text) = node.text(directory) {
                self.texture_directory = text.into();
            }
        }
        if let Some(sequence) = node.text("eulerseq") {
            let axes: Vec<char> = sequence.trim().chars().collect();
            let known = axes.iter().all(|a| "xyzXYZ".contains(*a));
            self.euler = <[char; 3]>::try_from(axes)
                .ok()
                .filter(|_| known)
                .ok_or_else(|| {
                    let message = format!(
                        "eulerseq must be three letters out of x, y, z (rotating axes) and X, Y, Z \
                         (fixed axes), got '{sequence}'"
                    );
                    node.error_at("eulerseq", message)
                })?;
        }
        if let Some(other) = node.text("coordinate").filter(|c| c.trim() != "local") {
            let message = format!(
                "coordinate must be 'local', got '{other}'; load the model into MuJoCo 2.3 and \
                 save it to get local coordinates"
            );
            return Err(node.error_at("coordinate", message));
        }
        Ok(())
    }

    /// Reads the attributes about masses and files, which Drake ignores.
    fn update_masses(&mut self, node: ElementRef<'_>) -> Parsed<()> {
        let flags = [
            ("strippath", &mut self.strip_path),
            ("exactmeshinertia", &mut self.exact_mesh_inertia),
            ("balanceinertia", &mut self.balance_inertia),
        ];
        for (name, flag) in flags {
            *flag = boolean(node, name)?.unwrap_or(*flag);
        }
        for (name, bound) in ["boundmass", "boundinertia"]
            .into_iter()
            .zip(&mut self.bounds)
        {
            *bound = node.number(name)?.unwrap_or(*bound).max(0.0);
        }
        let groups = node.vector::<2>("inertiagrouprange")?;
        self.inertia_groups = groups.unwrap_or(self.inertia_groups);
        if let Some(total) = node.number("settotalmass")? {
            self.total_mass = Some(total).filter(|total| *total > 0.0);
        }
        Ok(())
    }

    /// Returns the mass properties of a body after `boundmass`, `boundinertia` and
    /// `balanceinertia`.
    ///
    /// # Errors
    /// Returns an error if no body can have them.
    pub(super) fn corrected(&self, body: RigidInertia) -> crate::Result<SpatialInertia> {
        let RigidInertia {
            mut mass,
            center,
            mut inertia,
        } = body;
        let [least_mass, least_moment] = self.bounds;
        mass = mass.max(least_mass);
        if (least_moment > 0.0 || self.balance_inertia) && inertia.iter().all(|x| x.is_finite()) {
            let mut eigen = SymmetricEigen::new(inertia);
            let moments = &mut eigen.eigenvalues;
            moments.apply(|m| *m = m.max(least_moment));
            let unbalanced = 2.0 * moments.max() > moments.sum();
            if self.balance_inertia && unbalanced {
                moments.fill(moments.mean());
            }
            inertia = eigen.recompose();
            inertia = (inertia + inertia.transpose()) * 0.5;
        }
        SpatialInertia::from_central(mass, center, inertia)
    }

    /// Returns true if the file is read as by Drake.
    pub(super) fn as_drake(&self) -> bool {
        self.semantics == MjcfSemantics::Drake
    }

    /// Returns the name of a file in one of the directories of the compiler.
    pub(super) fn file_name(&self, directory: &str, file: &str) -> String {
        if file.contains("://") {
            return file.into();
        }
        let file = Path::new(file);
        let stripped = file.file_name().filter(|_| self.strip_path);
        let file = stripped.map_or(file, Path::new);
        Path::new(directory)
            .join(file)
            .to_string_lossy()
            .into_owned()
    }

    /// Returns the rotation of Euler angles in the units of the file.
    pub(super) fn euler(&self, angles: [f64; 3]) -> UnitQuaternion<f64> {
        let turns = self.euler.iter().zip(angles);
        turns.fold(UnitQuaternion::identity(), |r, (axis, angle)| {
            let angle = self.angle(angle);
            let turn = match axis.to_ascii_lowercase() {
                'x' => math::rotation_x(angle),
                'y' => math::rotation_y(angle),
                _ => math::rotation_z(angle),
            };
            if axis.is_ascii_lowercase() {
                r * turn
            } else {
                turn * r
            }
        })
    }

    /// Makes the directories of assets relative to that of the file itself.
    pub(super) fn prepend_directory(&mut self, directory: &Path) {
        for own in [&mut self.mesh_directory, &mut self.texture_directory] {
            *own = directory.join(&*own).to_string_lossy().into_owned();
        }
    }

    /// Converts an angle of the file to radians.
    pub(super) fn angle(&self, angle: f64) -> f64 {
        if self.degrees {
            angle * (PI / 180.0)
        } else {
            angle
        }
    }

    /// Reads the pose of an element in its body from `pos`, its orientation and the frames around
    /// it; the identity if it has none of them.
    pub(super) fn pose(&self, node: ElementRef<'_>) -> Parsed<Isometry3<f64>> {
        let pose = self.pose_in_frame(node)?;
        Ok(node.frame().map_or(pose, |frame| frame.pose * pose))
    }

    /// Reads the pose of an element in the innermost frame around it.
    pub(super) fn pose_in_frame(&self, node: ElementRef<'_>) -> Parsed<Isometry3<f64>> {
        let position = node.vector::<3>("pos")?.unwrap_or_default();
        let rotation = self.orientation(node)?.unwrap_or_default();
        Ok(math::pose(rotation, position.into()))
    }

    /// Reads the rotation given by one of `quat`, `axisangle`, `euler`, `xyaxes` and `zaxis`.
    fn orientation(&self, node: ElementRef<'_>) -> Parsed<Option<UnitQuaternion<f64>>> {
        let given = super::tree::ORIENTATIONS.map(|name| node.text(name).map(|_| name));
        let given: Vec<&str> = given.into_iter().flatten().collect();
        let (name, others) = match given.split_first() {
            None => return Ok(None),
            Some((name, others)) => (*name, others),
        };
        if !others.is_empty() {
            let message = format!(
                "<{}> must have at most one orientation attribute, got '{}'",
                node.tag(),
                given.join("' and '")
            );
            return Err(node.error(message));
        }
        let degenerate = |why: &str| {
            node.warning_at(name, format!("attribute '{name}': {why}; it is ignored"));
            UnitQuaternion::identity()
        };
        Ok(Some(match name {
            "quat" => {
                let q = node.vector::<4>(name)?.unwrap_or_default();
                math::quaternion_wxyz(q)
                    .ok_or_else(|| node.error_at(name, "the quaternion must not be zero"))?
            }
            "axisangle" => {
                let [x, y, z, angle] = node.vector::<4>(name)?.unwrap_or_default();
                match direction(Vector3::new(x, y, z), 1e-10) {
                    Some(axis) => math::axis_angle(&axis, self.angle(angle)),
                    None => degenerate("the axis is zero"),
                }
            }
            "euler" => {
                let angles = node.vector::<3>(name)?.unwrap_or_default();
                self.euler(angles)
            }
            "xyaxes" => {
                let [x0, x1, x2, y0, y1, y2] = node.vector::<6>(name)?.unwrap_or_default();
                let x = direction(Vector3::new(x0, x1, x2), 1e-10);
                let y = Vector3::new(y0, y1, y2);
                let y = x.and_then(|x| direction(y - x.into_inner() * x.dot(&y), 1e-10));
                match (x, y) {
                    (Some(x), Some(y)) => {
                        let columns = [x.into_inner(), y.into_inner(), x.cross(&y)];
                        math::rotation_from_matrix(&nalgebra::Matrix3::from_columns(&columns))
                    }
                    _ => degenerate("the axes are zero or parallel"),
                }
            }
            _ => {
                let z = node.vector::<3>(name)?.unwrap_or_default();
                match direction(Vector3::from(z), 1e-10) {
                    Some(z) => z_to(&z),
                    None => degenerate("the axis is zero"),
                }
            }
        }))
    }
}

/// Returns the smallest rotation that takes the z axis to `z`; half a turn about x if it is not
/// unique.
pub(super) fn z_to(z: &Unit<Vector3<f64>>) -> UnitQuaternion<f64> {
    if z.z < -1.0 + 1e-14 {
        return UnitQuaternion::new_unchecked(Quaternion::new(0.0, 1.0, 0.0, 0.0));
    }
    math::rotation_between(&Vector3::z_axis(), z)
}

/// Reads `true` or `false`; anything else is ignored with a warning.
pub(super) fn boolean(node: ElementRef<'_>, name: &str) -> Parsed<Option<bool>> {
    Ok(match node.text(name).map(str::trim) {
        Some("true") => Some(true),
        Some("false") => Some(false),
        None => None,
        Some(other) => {
            let message =
                format!("'{name}' must be 'true' or 'false', got '{other}'; it is ignored");
            node.warning_at(name, message);
            None
        }
    })
}

/// Time step (s) of a file without one in MuJoCo.
const TIME_STEP: f64 = 0.002;

/// Reads gravity from `<option>`; returns the time step (s).
pub(super) fn read_options(
    root: ElementRef<'_>,
    plant: &mut MultibodyPlantBuilder,
    semantics: MjcfSemantics,
) -> f64 {
    let mut time_step = TIME_STEP;
    for node in root.children_named("option") {
        node.ignore_attributes(&IGNORED_OPTIONS);
        if semantics == MjcfSemantics::Drake {
            node.lost().ignore_attributes(&IGNORED_BY_DRAKE_IN_OPTION);
        }
        if let Ok(Some(gravity)) = node.vector::<3>("gravity")
            && let Err(error) = plant.set_gravity(gravity.into())
        {
            node.error_at("gravity", error);
        }
        match node.number("timestep") {
            Ok(Some(given)) if given > 0.0 => time_step = given,
            Ok(Some(other)) => {
                let message =
                    format!("'timestep' must be positive, got {other:?} s; it is ignored");
                node.warning_at("timestep", message);
            }
            _ => {}
        }
        for child in node.children() {
            match child.tag() {
                "flag" if semantics == MjcfSemantics::Drake => vocabulary::check_flags(child),
                "flag" => {}
                // The vocabulary check reports all others.
                _ => {}
            }
        }
    }
    time_step
}
