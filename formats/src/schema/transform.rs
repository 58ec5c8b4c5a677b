//! Poses as data.

use super::vector::{self, YamlVector3};
use nalgebra::{Isometry3, UnitVector3, Vector3};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_saphyr::Tagged;
use tarragon_documents::yaml::Tagged as Read;
use tarragon_framework::math;

/// A pose relative to a named frame (Drake's `schema::Transform`).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_formats::schema::{Rotation, Transform};
/// let above = Transform {
///     base_frame: Some("table".into()),
///     translation: Vector3::new(0.0, 0.0, 1.0),
///     rotation: Rotation::Rpy { deg: Vector3::new(180.0, 0.0, 0.0) },
/// };
/// let x_fb = above.pose()?;
/// assert!((x_fb.rotation * Vector3::z() + Vector3::z()).norm() < 1e-15); // looks down
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Transform {
    /// Name of the base frame, plain or scoped (`model::frame`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_frame: Option<String>,
    /// Position in the base frame (m).
    #[serde(with = "vector")]
    pub translation: Vector3<f64>,
    /// Orientation in the base frame.
    pub rotation: Rotation,
}

impl Transform {
    /// Returns the pose, without its frame.
    ///
    /// # Errors
    /// Returns a message if a number is not finite or the rotation axis has no length.
    pub fn pose(&self) -> Result<Isometry3<f64>, String> {
        let finite = |what: &str, v: &Vector3<f64>| {
            if v.iter().all(|x| x.is_finite()) {
                return Ok(());
            }
            let v = v.as_slice();
            Err(format!(
                "the {what} must be three finite numbers, got {v:?}"
            ))
        };
        finite("translation", &self.translation)?;
        let rotation = match &self.rotation {
            Rotation::Identity => nalgebra::UnitQuaternion::identity(),
            Rotation::Rpy { deg } => {
                finite("rotation", deg)?;
                let [roll, pitch, yaw] = [deg.x, deg.y, deg.z].map(f64::to_radians);
                math::rpy(roll, pitch, yaw)
            }
            Rotation::AngleAxis { angle_deg, axis } => {
                finite("axis of the rotation", axis)?;
                if !angle_deg.is_finite() {
                    return Err(format!(
                        "the angle must be finite, got {angle_deg:?} degrees"
                    ));
                }
                let unit = UnitVector3::try_new(*axis, 1e-10);
                let axis = unit.ok_or("the axis of the rotation must not have zero length")?;
                math::axis_angle(&axis, angle_deg.to_radians())
            }
        };
        Ok(math::pose(rotation, self.translation))
    }
}

impl From<&Isometry3<f64>> for Transform {
    /// Creates a transform without a base frame, its rotation as roll, pitch and yaw (as in Drake).
    fn from(pose: &Isometry3<f64>) -> Self {
        let rotation = if pose.rotation == nalgebra::UnitQuaternion::identity() {
            Rotation::Identity
        } else {
            let angles = math::rpy_of(&pose.rotation);
            Rotation::Rpy {
                deg: angles.map(f64::to_degrees),
            }
        };
        Self {
            base_frame: None,
            translation: pose.translation.vector,
            rotation,
        }
    }
}

/// A rotation as data (Drake's `schema::Rotation`).
///
/// In YAML it is `!Rpy {deg: [0, 0, 90]}`, `!AngleAxis {angle_deg: 90, axis: [0, 0, 1]}`, or
/// `!Identity {}`, which may be omitted. Drake's `!Uniform`, a random rotation, is an error.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_formats::schema::{Rotation, Transform};
/// let turn = |rotation| Transform { rotation, ..Transform::default() }.pose();
/// let rpy = turn(Rotation::Rpy { deg: Vector3::new(0.0, 0.0, 90.0) })?;
/// let axis = turn(Rotation::AngleAxis { angle_deg: 90.0, axis: Vector3::new(0.0, 0.0, 2.0) })?;
/// assert!(rpy.rotation.angle_to(&axis.rotation) < 1e-15);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Rotation {
    /// No rotation.
    #[default]
    Identity,
    /// Roll, pitch and yaw about the fixed axes x, y, z, in this order.
    Rpy {
        /// The angles (degrees).
        deg: Vector3<f64>,
    },
    /// Rotation about an axis.
    AngleAxis {
        /// The angle (degrees).
        angle_deg: f64,
        /// The axis, of any length but zero.
        axis: Vector3<f64>,
    },
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RotationFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    deg: Option<YamlVector3>,
    #[serde(skip_serializing_if = "Option::is_none")]
    angle_deg: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    axis: Option<YamlVector3>,
}

impl<'de> Deserialize<'de> for Rotation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fail = |why: String| Err(de::Error::custom(why));
        let Read { value, tag } = Read::<RotationFields>::deserialize(deserializer)?;
        let (
            tag,
            RotationFields {
                deg,
                angle_deg,
                axis,
            },
        ) = (tag.as_deref(), value);
        let superfluous = |kind: &str, expected: &str| {
            fail(format!(
                "a rotation {kind} must have only the fields {expected}, got others"
            ))
        };
        match tag {
            None | Some("!Identity") if deg.is_none() && angle_deg.is_none() && axis.is_none() => {
                Ok(Self::Identity)
            }
            None => fail(
                "a rotation must have a tag, got none; write !Rpy, !AngleAxis or !Identity before \
                 it"
                .into(),
            ),
            Some("!Identity") => superfluous("!Identity", "{} (none)"),
            // Drake's defaults: no rotation, about z.
            Some("!Rpy") if angle_deg.is_none() && axis.is_none() => Ok(Self::Rpy {
                deg: deg.map_or_else(Vector3::zeros, |YamlVector3(v)| v),
            }),
            Some("!Rpy") => superfluous("!Rpy", "deg: [roll, pitch, yaw]"),
            Some("!AngleAxis") if deg.is_none() => Ok(Self::AngleAxis {
                angle_deg: angle_deg.unwrap_or(0.0),
                axis: axis.map_or_else(Vector3::z, |YamlVector3(v)| v),
            }),
            Some("!AngleAxis") => superfluous("!AngleAxis", "angle_deg and axis"),
            Some("!Uniform") => fail(
                "a rotation must not be random, got !Uniform; write !Rpy, !AngleAxis or !Identity"
                    .into(),
            ),
            Some(tag) => fail(format!(
                "the tag of a rotation must be !Rpy, !AngleAxis or !Identity, got {tag}"
            )),
        }
    }
}

impl Serialize for Rotation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let none = RotationFields::default();
        let (tag, fields) = match self {
            Self::Identity => return none.serialize(serializer), // as Drake writes it
            Self::Rpy { deg } => (
                "!Rpy",
                RotationFields {
                    deg: Some(YamlVector3(*deg)),
                    ..none
                },
            ),
            Self::AngleAxis { angle_deg, axis } => {
                let (angle_deg, axis) = (Some(*angle_deg), Some(YamlVector3(*axis)));
                (
                    "!AngleAxis",
                    RotationFields {
                        angle_deg,
                        axis,
                        ..none
                    },
                )
            }
        };
        Tagged(fields, Some(tag.into())).serialize(serializer)
    }
}
