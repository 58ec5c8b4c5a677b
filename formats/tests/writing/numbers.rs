//! Numbers, poses, joints, shapes and properties from a seed.

use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};
use tarragon_framework::trajectories::PiecewiseConstantCurvatureTrajectory;
use tarragon_geometry::{
    BoxShape, Capsule, CoulombFriction, Cylinder, Ellipsoid, HalfSpace, IllustrationProperties,
    PerceptionProperties, ProximityProperties, Rgba, Shape, Sphere,
};
use tarragon_multibody::*;

/// Numbers from a seed (SplitMix64).
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
    /// From -1 to 1.
    pub(super) fn signed(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
    pub(super) fn positive(&mut self) -> f64 {
        self.signed().abs() + 0.01
    }
    pub(super) fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.signed())
    }
    pub(super) fn rotation(&mut self) -> UnitQuaternion<f64> {
        match self.below(5) {
            0 => UnitQuaternion::identity(),
            // A pitch of 90 degrees, where roll and yaw are not determined, or nearly so.
            1 => {
                let off = [0.0, 1e-13, 1e-9, 1e-5][self.below(4)];
                let (roll, yaw) = (3.0 * self.signed(), 3.0 * self.signed());
                tarragon_framework::math::rpy(roll, std::f64::consts::FRAC_PI_2 - off, yaw)
            }
            _ => tarragon_framework::math::rotation_exp(&(self.vector() * 3.0)),
        }
    }
    pub(super) fn pose(&mut self) -> Isometry3<f64> {
        if self.chance(30) {
            Isometry3::identity()
        } else {
            Isometry3::from_parts(Translation3::from(self.vector()), self.rotation())
        }
    }
    pub(super) fn inertia(&mut self) -> SpatialInertia {
        if self.chance(10) {
            return SpatialInertia::zero();
        }
        // Moments of a body made of mass on three axes, so that they are possible.
        let [x, y, z] = [0; 3].map(|_| {
            if self.chance(10) {
                0.0
            } else {
                self.positive()
            }
        });
        let moments = Vector3::new(y + z, x + z, x + y);
        let r = self.rotation().to_rotation_matrix();
        let turned = r * Matrix3::from_diagonal(&moments) * r.inverse();
        let central = (turned + turned.transpose()) * 0.5;
        let scale = [1.0, 1e-6, 1e3][self.below(3)];
        let mass = self.positive() * scale;
        SpatialInertia::from_central(mass, self.vector(), central * scale)
            .unwrap_or(SpatialInertia::zero())
    }
    pub(super) fn limits(&mut self, n: usize) -> (Vec<f64>, Vec<f64>) {
        let one = |numbers: &mut Self| match numbers.below(4) {
            0 => (f64::NEG_INFINITY, f64::INFINITY),
            1 => (-1.5, f64::INFINITY),
            2 => {
                let x = numbers.positive();
                (-x, x)
            }
            _ => (-numbers.positive(), numbers.positive()),
        };
        (0..n).map(|_| one(self)).unzip()
    }
}

pub(super) fn kind(numbers: &mut Numbers) -> JointKind {
    let axis = nalgebra::Unit::new_normalize(if numbers.chance(50) {
        Vector3::ith(numbers.below(3), 1.0)
    } else {
        numbers.vector() + Vector3::repeat(1e-3)
    });
    match numbers.below(14) {
        0 | 1 => JointKind::Weld {
            x_fm: numbers.pose(),
        },
        2..=4 => JointKind::Revolute { axis },
        5 | 6 => JointKind::Prismatic { axis },
        7 => JointKind::Screw {
            axis,
            pitch: numbers.signed(),
        },
        8 => {
            let r = numbers.rotation();
            let path = PiecewiseConstantCurvatureTrajectory::new(
                &[0.0, 0.7, 1.9],
                &[0.0, numbers.signed()],
                &(r * Vector3::x()),
                &(r * Vector3::z()),
                &Vector3::zeros(),
                numbers.chance(50),
            );
            JointKind::Curvilinear {
                path: path.unwrap().into(),
            }
        }
        9 => JointKind::Universal,
        10 => JointKind::BallRpy,
        11 => JointKind::BallQuaternion,
        12 => JointKind::Planar,
        _ => JointKind::QuaternionFloating,
    }
}

pub(super) fn shape(numbers: &mut Numbers) -> Shape {
    let [a, b, c] = [0; 3].map(|_| numbers.positive());
    match numbers.below(6) {
        0 => BoxShape::new(a, b, c).unwrap().into(),
        1 => Sphere::new(a).unwrap().into(),
        2 => Cylinder::new(a, b).unwrap().into(),
        3 => Capsule::new(a, b).unwrap().into(),
        4 => Ellipsoid::new(a, b, c).unwrap().into(),
        _ => HalfSpace.into(),
    }
}

pub(super) fn proximity(numbers: &mut Numbers) -> ProximityProperties {
    let mut p = ProximityProperties::new();
    let dynamic = numbers.positive();
    let mu = CoulombFriction::new(dynamic + numbers.positive(), dynamic);
    p = p.with_friction(mu.unwrap());
    if numbers.chance(30) {
        p = p.with_dissipation(numbers.positive()).unwrap();
    }
    if numbers.chance(30) {
        p = p.with_point_stiffness(numbers.positive() * 1e5).unwrap();
    }
    if numbers.chance(20) {
        p = p.with_relaxation_time(numbers.positive()).unwrap();
    }
    if numbers.chance(10) {
        p = p.with_slab_thickness(numbers.positive()).unwrap();
    }
    if numbers.chance(10) {
        p = p.with_true_surface();
    }
    if numbers.chance(30) {
        let contact = MujocoContact {
            priority: numbers.below(3) as i32 - 1,
            is_frictionless: numbers.chance(30),
            solmix: numbers.positive(),
            solref: [[0.01, 0.7], [-500.0, -3.0]][numbers.below(2)],
            solimp: [0.9, 0.95 + 0.04 * numbers.signed(), 0.002, 0.4, 3.0],
            cone_edges: 0,
            prevents_slip: false,
            impratio: 2.5,
            margin: [0.0, 0.1 * numbers.signed()][numbers.below(2)],
            gap: [0.0, 0.1 * numbers.signed()][numbers.below(2)],
        };
        p.add("material", "mujoco_contact", contact).unwrap();
    }
    p
}

pub(super) fn visual(numbers: &mut Numbers) -> VisualProperties {
    let channels = [0; 4].map(|_| numbers.positive().min(1.0));
    let color = Rgba::from_slice(&channels).unwrap();
    let (shown, seen) = (numbers.chance(80), numbers.chance(80));
    let seen = seen.then(|| {
        if numbers.chance(80) {
            PerceptionProperties::phong(color).with_accepting_renderers(["left"])
        } else {
            PerceptionProperties::new()
        }
    });
    VisualProperties {
        illustration: shown.then(|| IllustrationProperties::phong(color)),
        perception: seen,
    }
}
