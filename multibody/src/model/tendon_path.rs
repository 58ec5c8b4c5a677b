//! Paths of spatial tendons: over sites, around spheres and cylinders, by pulleys.

use super::index::BodyIndex;
use nalgebra::{Isometry3, Vector3};

/// A part of the path of a [`ForceElement::SpatialTendon`](crate::ForceElement::SpatialTendon), in
/// the order from one end to the other, as in MuJoCo.
///
/// A tendon is straight from site to site, except where a wrapping geom is between two sites. A
/// pulley ends a branch of the path and begins the next one. Every branch begins and ends with a
/// site, and a wrapping geom is between two sites.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use std::f64::consts::PI;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.0)?;
/// let body = plant.add_rigid_body("b", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// plant.add_joint(Joint::weld("w", BodyIndex::WORLD, body, Isometry3::identity()))?;
/// // From one side of a drum around it to the other.
/// let path = vec![
///     TendonPart::site(body, Vector3::new(-1.0, 0.5, 0.0)),
///     TendonPart::Wrap(TendonWrap {
///         body: BodyIndex::WORLD,
///         pose: Isometry3::identity(),
///         shape: WrapShape::Cylinder,
///         radius: 0.5,
///         side: Some((BodyIndex::WORLD, Vector3::new(1.0, 0.0, 0.0))),
///     }),
///     TendonPart::site(body, Vector3::new(-1.0, -0.5, 0.0)),
/// ];
/// plant.add_force_element(ForceElement::SpatialTendon {
///     path: path.clone(),
///     free_lengths: [0.0, 4.0],
///     stiffness: 100.0,
///     damping: 1.0,
/// })?;
/// let plant = plant.build()?;
/// let positions = plant.calc_position_kinematics::<f64>(&[])?;
/// let length = plant.calc_tendon_length(&positions, &path)?;
/// assert!((length - (2.0 + 0.5 * PI)).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum TendonPart {
    /// A point of a body through which the tendon passes.
    Site {
        /// The body B.
        body: BodyIndex,
        /// Position of the point in B (m).
        position: Vector3<f64>,
    },
    /// The beginning of a branch whose length counts less.
    Pulley {
        /// Number by which the length of the branch is divided; it is 1 before the first pulley.
        divisor: f64,
    },
    /// A geom that is in the way of the tendon.
    Wrap(TendonWrap),
}

/// A sphere or a cylinder of infinite length around which a tendon wraps if it is in the way of the
/// straight line between two sites.
///
/// Without a side site, the tendon takes the shorter way around. With a side site outside, it takes
/// the way on its side, and also wraps where the straight line passes on the other side. With a
/// side site inside (closer than the radius to the centre), the tendon is pulled to the inner side:
/// it touches the geom at one point wherever the straight line does not cross the geom. Sites
/// inside the geom do not wrap.
#[derive(Clone, Debug, PartialEq)]
pub struct TendonWrap {
    /// The body B that the geom is attached to.
    pub body: BodyIndex,
    /// Pose `X_BG` of the geom in B; a cylinder is along z of G.
    pub pose: Isometry3<f64>,
    /// The shape.
    pub shape: WrapShape,
    /// Radius (m).
    pub radius: f64,
    /// Body S and position in S (m) of the side site.
    pub side: Option<(BodyIndex, Vector3<f64>)>,
}

/// Shape of a [`TendonWrap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrapShape {
    /// A sphere.
    Sphere,
    /// A cylinder without ends.
    Cylinder,
}

impl TendonPart {
    /// Returns a site: a point of a body B at a position in B (m).
    pub fn site(body: BodyIndex, position: Vector3<f64>) -> Self {
        Self::Site { body, position }
    }

    fn is_site(&self) -> bool {
        matches!(self, Self::Site { .. })
    }

    /// Returns the body that the part is attached to, and that of its side site.
    pub fn bodies(&self) -> impl Iterator<Item = BodyIndex> {
        let (body, side) = match self {
            Self::Site { body, .. } => (Some(*body), None),
            Self::Pulley { .. } => (None, None),
            Self::Wrap(wrap) => (Some(wrap.body), wrap.side.map(|(body, _)| body)),
        };
        body.into_iter().chain(side)
    }

    /// Returns the numbers that must be finite.
    fn numbers(&self) -> Vec<f64> {
        match self {
            Self::Site { position, .. } => position.iter().copied().collect(),
            Self::Pulley { divisor } => vec![*divisor],
            Self::Wrap(wrap) => {
                let pose = wrap.pose.rotation.coords.iter();
                let pose = pose.chain(wrap.pose.translation.vector.iter());
                let side = wrap.side.iter().flat_map(|(_, position)| position.iter());
                pose.chain([&wrap.radius]).chain(side).copied().collect()
            }
        }
    }

    /// Returns the reason why the numbers of the part are wrong; `None` if they are not.
    fn wrong_number(&self) -> Option<String> {
        if let Some(bad) = self.numbers().iter().find(|x| !x.is_finite()) {
            return Some(format!("all numbers must be finite, got {bad:?}"));
        }
        match self {
            Self::Pulley { divisor } if *divisor <= 0.0 => Some(format!(
                "the divisor of a pulley must be positive, got {divisor:?}"
            )),
            Self::Wrap(wrap) if wrap.radius <= 0.0 => Some(format!(
                "the radius of a wrapping geom must be positive, got {:?} m",
                wrap.radius
            )),
            _ => None,
        }
    }
}

/// Returns the first part of a path that is wrong, and the reason; `None` if there is none. An
/// empty path is wrong at part 0.
pub fn wrong_tendon_part(path: &[TendonPart]) -> Option<(usize, String)> {
    if path.is_empty() {
        return Some((0, "a path must have at least two sites, got none".into()));
    }
    path.iter().enumerate().find_map(|(i, part)| {
        let before = i.checked_sub(1).and_then(|i| path.get(i));
        let after = path.get(i + 1);
        let is_site = |part: Option<&TendonPart>| part.is_some_and(TendonPart::is_site);
        // A branch ends at a pulley and at the ends of the path.
        let goes_on = |part: Option<&TendonPart>| {
            part.is_some_and(|part| !matches!(part, TendonPart::Pulley { .. }))
        };
        let why = match part {
            TendonPart::Site { .. } if !goes_on(before) && !goes_on(after) => {
                "a branch of a path must have at least two sites, got one"
            }
            TendonPart::Pulley { .. } if !is_site(after) => "a pulley must be before a site",
            TendonPart::Wrap(_) if !(is_site(before) && is_site(after)) => {
                "a wrapping geom must be between two sites"
            }
            _ => return part.wrong_number().map(|why| (i, why)),
        };
        Some((i, why.into()))
    })
}
