//! Point clouds as LCM messages.

use crate::point_cloud::table::NumberType;
use crate::point_cloud::{BaseField, PointCloud};
use crate::{Error, ErrorKind, Result};
use nalgebra::Vector3;
use std::sync::atomic::{AtomicU64, Ordering};
use tarragon_framework::prelude::*;
use tarragon_framework::to_microseconds;
use tarragon_lcm::Bytes;
use tarragon_lcm::refill_bytes;
use tarragon_lcm::types::{LcmtPointCloud, LcmtPointCloudField};

/// Alignment of the data within a message (bytes), as in Drake.
const ALIGNMENT: usize = 16;
/// Size of the parts of constant length before the data in an encoded message (bytes): fingerprint,
/// `utime`, lengths, `width`, `height`, `num_fields`, `flags`, `point_step`, `row_step`,
/// `filler_size`, `data_size`.
const FIXED_BYTES: usize = 8 + 8 + 5 + 8 + 8 + 4 + 8 + 4 + 8 + 2 + 8;
/// Size of the parts of constant length of one field (bytes): the length and the terminator of its
/// name, `byte_offset`, `datatype`, `count`.
const FIELD_BYTES: usize = 5 + 4 + 1 + 4;

/// Writes a cloud into a message, like Drake's `PointCloudToLcm`. The memory of the message is
/// reused, and its `utime` is unchanged.
///
/// Points whose positions are not finite are left out. The other points are little-endian and
/// without gaps: `x`, `y`, `z` (`FLOAT32`), `rgb` (`UINT32`: red, green, blue, 0 in this order) and
/// `normal_x`, `normal_y`, `normal_z` (`FLOAT32`), of which fields that the cloud does not have are
/// omitted. Descriptors are not sent.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_lcm::types::LcmtPointCloud;
/// use tarragon_sensors::{BaseField, PointCloud, decode_point_cloud, encode_point_cloud};
/// let mut cloud = PointCloud::new(2, BaseField::XYZS | BaseField::RGBS);
/// cloud.xyzs_mut()[0] = Vector3::new(1.0, 2.0, 3.0); // the other is NaN
/// let mut message = LcmtPointCloud::default();
/// encode_point_cloud(&cloud, "camera", &mut message);
/// assert_eq!((message.width, message.point_step, message.fields.len()), (1, 16, 4));
/// let mut received = PointCloud::default();
/// decode_point_cloud(&message, &mut received)?;
/// assert_eq!(received, cloud.finite_points()?);
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
pub fn encode_point_cloud(cloud: &PointCloud, frame_name: &str, message: &mut LcmtPointCloud) {
    message.frame_name.clear();
    message.frame_name.push_str(frame_name);
    message.fields.clear();
    let mut step = 0;
    let mut add = |names: &[&str], datatype| {
        for name in names {
            message.fields.push(LcmtPointCloudField {
                name: (*name).into(),
                byte_offset: step,
                datatype,
                count: 1,
            });
            step += 4;
        }
    };
    if cloud.has_xyzs() {
        add(&["x", "y", "z"], LcmtPointCloudField::FLOAT32);
    }
    if cloud.has_rgbs() {
        add(&["rgb"], LcmtPointCloudField::UINT32);
    }
    if cloud.has_normals() {
        add(
            &["normal_x", "normal_y", "normal_z"],
            LcmtPointCloudField::FLOAT32,
        );
    }
    let names: usize = message
        .fields
        .iter()
        .map(|field| FIELD_BYTES + field.name.len())
        .sum();
    let before_data = FIXED_BYTES + frame_name.len() + names;
    let filler = before_data.next_multiple_of(ALIGNMENT) - before_data;
    message.filler = Bytes::from_static(&[0; ALIGNMENT]).slice(..filler);
    let mut is_finite = true;
    refill_bytes(&mut message.data, |data| {
        data.reserve(cloud.size() * step as usize);
        is_finite = write_points(cloud, data);
    });
    message.flags = if is_finite {
        LcmtPointCloud::IS_STRICTLY_FINITE
    } else {
        0
    };
    message.point_step = step;
    let bytes = message.data.len();
    message.row_step = bytes as i64;
    message.width = (bytes / (step as usize).max(1)) as i64;
    message.height = 1;
}

/// Appends the points of a cloud whose positions are finite. Returns whether their normals are
/// finite, too.
fn write_points(cloud: &PointCloud, data: &mut Vec<u8>) -> bool {
    let mut is_finite = true;
    for i in 0..cloud.size() {
        if let Some(xyz) = cloud.xyzs().get(i) {
            if !xyz.iter().all(|x| x.is_finite()) {
                continue;
            }
            data.extend_from_slice(little_endian(xyz).as_flattened());
        }
        if let Some([r, g, b]) = cloud.rgbs().get(i) {
            data.extend_from_slice(&[*r, *g, *b, 0]);
        }
        if let Some(normal) = cloud.normals().get(i) {
            is_finite &= normal.iter().all(|x| x.is_finite());
            data.extend_from_slice(little_endian(normal).as_flattened());
        }
    }
    is_finite
}

fn little_endian(v: &Vector3<f32>) -> [[u8; 4]; 3] {
    [v.x.to_le_bytes(), v.y.to_le_bytes(), v.z.to_le_bytes()]
}

/// Reads a cloud from a message into `cloud`, whose memory is reused.
///
/// Fields may have any order, type and byte order, with gaps between them. Points may be in several
/// rows (`height`), which become one list. These fields are read: positions `x`, `y`, `z`; normals
/// `normal_x`, ... or `nx`, ...; colours `r`, `g`, `b` (0 to 255), or `rgb` or `rgba` of 32 bits
/// with red in the lowest byte, as Drake sends them (PCL has blue in the lowest byte). Other fields
/// are ignored.
///
/// ```
/// use tarragon_lcm::types::{LcmtPointCloud, LcmtPointCloudField};
/// use tarragon_sensors::{PointCloud, decode_point_cloud};
/// let field = |name: &str, byte_offset| LcmtPointCloudField {
///     name: name.into(),
///     byte_offset,
///     datatype: LcmtPointCloudField::FLOAT64,
///     count: 1,
/// };
/// let mut message = LcmtPointCloud {
///     width: 1,
///     height: 1,
///     fields: vec![field("z", 0), field("y", 8), field("x", 16)],
///     point_step: 24,
///     data: [3.0_f64, 2.0, 1.0].map(f64::to_le_bytes).concat().into(),
///     ..Default::default()
/// };
/// let mut cloud = PointCloud::default();
/// decode_point_cloud(&message, &mut cloud)?;
/// assert_eq!(cloud.xyzs()[0].as_slice(), [1.0, 2.0, 3.0]);
/// message.width = 2;
/// let error = decode_point_cloud(&message, &mut cloud).unwrap_err().to_string();
/// let expected = "2 x 1 points of 24 bytes are 48 bytes, but the message has 24";
/// assert_eq!(error, format!("LCM point cloud: {expected}"));
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
///
/// # Errors
/// Returns an error, and empties the cloud, if sizes are negative or do not agree with the data, a
/// field lies outside the points, or no field is known. No memory is allocated for points that the
/// data cannot hold.
pub fn decode_point_cloud(message: &LcmtPointCloud, cloud: &mut PointCloud) -> Result<()> {
    try_decode(message, cloud).map_err(|why| {
        cloud.resize(0);
        Error::new(ErrorKind::Parse, format!("LCM point cloud: {why}"))
    })
}

fn try_decode(message: &LcmtPointCloud, cloud: &mut PointCloud) -> Result<(), String> {
    let points = Points::new(message)?;
    let three = |names: [&str; 3]| -> Result<Option<[Place; 3]>, String> {
        let [a, b, c] = names.map(|name| points.place(message, name));
        Ok(match (a?, b?, c?) {
            (Some(a), Some(b), Some(c)) => Some([a, b, c]),
            _ => None,
        })
    };
    let xyz = three(["x", "y", "z"])?;
    let normal = match three(["normal_x", "normal_y", "normal_z"])? {
        None => three(["nx", "ny", "nz"])?,
        found => found,
    };
    let rgb = three(["r", "g", "b"])?;
    let packed = match points.place(message, "rgb")? {
        None => points.place(message, "rgba")?,
        found => found,
    };
    let packed = packed.filter(|_| rgb.is_none());
    if let Some(place) = packed.filter(|place| place.kind.size() != 4) {
        return Err(format!(
            "the field with colours must have a type of 32 bits, got {:?}",
            place.kind
        ));
    }
    let mut fields = BaseField::NONE;
    for (is_there, field) in [
        (xyz.is_some(), BaseField::XYZS),
        (normal.is_some(), BaseField::NORMALS),
        (rgb.is_some() || packed.is_some(), BaseField::RGBS),
    ] {
        if is_there {
            fields = fields | field;
        }
    }
    if fields == BaseField::NONE {
        return Err(format!(
            "the fields must include x, y and z, normal_x, ... or rgb, but none of the {} fields is known",
            message.fields.len()
        ));
    }
    cloud.set_fields(fields);
    cloud.resize(points.count);
    for (k, place) in xyz.iter().flatten().enumerate() {
        points.read(*place, cloud.xyzs_mut(), |xyz, x| xyz[k] = x as f32);
    }
    for (k, place) in normal.iter().flatten().enumerate() {
        points.read(*place, cloud.normals_mut(), |normal, x| {
            normal[k] = x as f32
        });
    }
    for (k, place) in rgb.iter().flatten().enumerate() {
        points.read(*place, cloud.rgbs_mut(), |rgb, x| rgb[k] = x as u8);
    }
    if let Some(place) = packed {
        // A float field holds the colour in its bits.
        let kind = NumberType::U32;
        points.read(Place { kind, ..place }, cloud.rgbs_mut(), |rgb, x| {
            let [r, g, b, _] = (x as u32).to_le_bytes();
            *rgb = [r, g, b];
        });
    }
    Ok(())
}

/// The position of a field within a point.
#[derive(Clone, Copy, Debug)]
struct Place {
    offset: usize,
    kind: NumberType,
}

/// The encoded points of a message.
struct Points<'a> {
    data: &'a [u8],
    count: usize,
    width: usize,
    step: usize,
    row_step: usize,
    big_endian: bool,
}

impl<'a> Points<'a> {
    fn new(message: &'a LcmtPointCloud) -> Result<Self, String> {
        let (width, height) = (message.width, message.height);
        let size = |n: i64, what: &str| {
            usize::try_from(n).map_err(|_| format!("{what} must be at least 0, got {n}"))
        };
        let (columns, rows) = (size(width, "width")?, size(height, "height")?);
        let step = size(message.point_step.into(), "point_step")?;
        let row_bytes = columns.checked_mul(step);
        let row_step = match size(message.row_step, "row_step")? {
            0 => row_bytes,
            row_step => row_bytes.and_then(|bytes| (bytes <= row_step).then_some(row_step)),
        };
        let row_step = row_step.ok_or_else(|| {
            format!(
                "row_step must be at least {width} points of {step} bytes, got {}",
                message.row_step
            )
        })?;
        let needed = match (columns, rows) {
            (0, _) | (_, 0) => Some(0),
            _ => (row_step.checked_mul(rows - 1)).and_then(|n| n.checked_add(columns * step)),
        };
        // The data do not bound the number of points that have no bytes.
        let count = columns.checked_mul(rows).filter(|n| step > 0 || *n == 0);
        let fits = needed.is_some_and(|needed| needed <= message.data.len());
        let Some(count) = count.filter(|_| fits) else {
            let needed = (columns as u128 * rows as u128).saturating_mul(step as u128);
            return Err(format!(
                "{width} x {height} points of {step} bytes are {needed} bytes, but the message has {}",
                message.data.len()
            ));
        };
        Ok(Self {
            data: &message.data,
            count,
            width: columns,
            step,
            row_step,
            big_endian: message.flags & LcmtPointCloud::IS_BIGENDIAN != 0,
        })
    }

    fn place(&self, message: &LcmtPointCloud, name: &str) -> Result<Option<Place>, String> {
        let Some(field) = message.fields.iter().find(|field| field.name == name) else {
            return Ok(None);
        };
        let kind = match field.datatype {
            LcmtPointCloudField::INT8 => NumberType::I8,
            LcmtPointCloudField::UINT8 => NumberType::U8,
            LcmtPointCloudField::INT16 => NumberType::I16,
            LcmtPointCloudField::UINT16 => NumberType::U16,
            LcmtPointCloudField::INT32 => NumberType::I32,
            LcmtPointCloudField::UINT32 => NumberType::U32,
            LcmtPointCloudField::FLOAT32 => NumberType::F32,
            LcmtPointCloudField::FLOAT64 => NumberType::F64,
            other => {
                return Err(format!(
                    "the datatype of '{name}' must be from 1 to 8, got {other}"
                ));
            }
        };
        let offset = usize::try_from(field.byte_offset).ok();
        let offset = offset.filter(|offset| {
            field.count >= 1
                && offset
                    .checked_add(kind.size())
                    .is_some_and(|end| end <= self.step)
        });
        let offset = offset.ok_or_else(|| {
            format!(
                "'{name}' must lie within a point of {3} bytes, got {0} x {1} bytes at byte {2}",
                field.count,
                kind.size(),
                field.byte_offset,
                self.step
            )
        })?;
        Ok(Some(Place { offset, kind }))
    }

    /// Calls `store` with the value of a field for every point.
    fn read<V>(&self, place: Place, to: &mut [V], store: impl Fn(&mut V, f64)) {
        if self.count == 0 {
            return;
        }
        for (row, to) in self
            .data
            .chunks(self.row_step)
            .zip(to.chunks_mut(self.width))
        {
            for (point, to) in row.chunks(self.step).zip(to) {
                store(to, place.kind.read(&point[place.offset..], self.big_endian));
            }
        }
    }
}

/// System that converts point clouds to messages (Drake's `PointCloudToLcm`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `point_cloud` | [`PointCloud`] |
/// | output | `lcmt_point_cloud` | [`LcmtPointCloud`] |
///
/// The bytes are those of Drake's message; [`encode_point_cloud`] describes them. `utime` is the
/// time of the context, rounded to microseconds, where Drake cuts it.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_sensors::{BaseField, PointCloud, PointCloudToLcm};
/// let mut b = DiagramBuilder::new();
/// let messages = b.add_f64("messages", PointCloudToLcm::new("camera"));
/// let mut ctx = b.build()?.default_context();
/// let mut cloud = PointCloud::new(100, BaseField::XYZS);
/// cloud.xyzs_mut()[..40].fill(nalgebra::Vector3::zeros());
/// ctx.fix(messages.point_cloud, cloud)?;
/// ctx.set_time(0.5);
/// let message = ctx.eval(messages.lcmt_point_cloud)?;
/// assert_eq!((message.utime, &*message.frame_name, message.width), (500_000, "camera", 40));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PointCloudToLcm {
    frame_name: String,
}

impl PointCloudToLcm {
    /// Creates a system for clouds in the frame `frame_name`.
    pub fn new(frame_name: impl Into<String>) -> Self {
        let frame_name = frame_name.into();
        Self { frame_name }
    }
}

/// Ports of [`PointCloudToLcm`].
#[derive(Clone, Copy, Debug)]
pub struct PointCloudToLcmPorts {
    /// Points.
    pub point_cloud: InputPort<PointCloud>,
    /// Messages.
    pub lcmt_point_cloud: OutputPort<LcmtPointCloud>,
}

impl LeafSystem<f64> for PointCloudToLcm {
    type Ports = PointCloudToLcmPorts;

    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let point_cloud = d.input("point_cloud");
        let model = LcmtPointCloud::default();
        let lcmt_point_cloud = d.output(
            "lcmt_point_cloud",
            model,
            (Dep::Time, point_cloud),
            move |system, ctx, message| {
                encode_point_cloud(ctx.eval(point_cloud)?, &system.frame_name, message);
                message.utime = to_microseconds(ctx.time())?;
                Ok(())
            },
        );
        PointCloudToLcmPorts {
            point_cloud,
            lcmt_point_cloud,
        }
    }
}

/// System that converts messages to point clouds, the reverse of [`PointCloudToLcm`].
///
/// | port | name | type |
/// |---|---|---|
/// | input | `lcmt_point_cloud` | [`LcmtPointCloud`] |
/// | output | `point_cloud` | [`PointCloud`] |
///
/// [`decode_point_cloud`] describes the supported messages. Any other message becomes an empty
/// cloud, because messages from other programs must not end a simulation. The first one is logged,
/// and all are [counted](Self::dropped_clouds).
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_lcm::types::LcmtPointCloud;
/// use tarragon_sensors::{BaseField, LcmToPointCloud, PointCloud, encode_point_cloud};
/// let mut b = DiagramBuilder::new();
/// let clouds = b.add_f64("clouds", LcmToPointCloud::new());
/// let mut ctx = b.build()?.default_context();
/// let mut message = LcmtPointCloud::default();
/// encode_point_cloud(&PointCloud::new(5, BaseField::RGBS), "camera", &mut message);
/// ctx.fix(clouds.lcmt_point_cloud, message)?;
/// assert_eq!(ctx.eval(clouds.point_cloud)?.rgbs(), [[0; 3]; 5]);
/// ctx.fix(clouds.lcmt_point_cloud, LcmtPointCloud { width: -1, ..Default::default() })?;
/// assert_eq!(ctx.eval(clouds.point_cloud)?.size(), 0);
/// assert_eq!(clouds.system().dropped_clouds(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct LcmToPointCloud {
    dropped: AtomicU64,
}

impl LcmToPointCloud {
    /// Creates the system.
    pub fn new() -> Self {
        Self::default()
    }
    /// Returns the number of messages in all contexts that could not be read.
    pub fn dropped_clouds(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// Ports of [`LcmToPointCloud`].
#[derive(Clone, Copy, Debug)]
pub struct LcmToPointCloudPorts {
    /// Messages.
    pub lcmt_point_cloud: InputPort<LcmtPointCloud>,
    /// Points.
    pub point_cloud: OutputPort<PointCloud>,
}

impl LeafSystem<f64> for LcmToPointCloud {
    type Ports = LcmToPointCloudPorts;

    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let lcmt_point_cloud = d.input("lcmt_point_cloud");
        let model = PointCloud::default();
        let point_cloud = d.output("point_cloud", model, lcmt_point_cloud, move |system, ctx, cloud| {
            if let Err(error) = decode_point_cloud(ctx.eval(lcmt_point_cloud)?, cloud)
                && system.dropped.fetch_add(1, Ordering::Relaxed) == 0
            {
                tracing::warn!(
                    "LcmToPointCloud: {error}; the cloud is empty, and further errors are only counted"
                );
            }
            Ok(())
        });
        LcmToPointCloudPorts {
            lcmt_point_cloud,
            point_cloud,
        }
    }
}
