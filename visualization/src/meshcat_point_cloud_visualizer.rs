//! System that shows a point cloud.

use crate::meshcat::{Meshcat, full_path};
use crate::meshcat_visualizer::{light_grey, real_pose};
use crate::{Error, Result};
use nalgebra::Isometry3;
use tarragon_framework::prelude::*;
use tarragon_geometry::Rgba;
use tarragon_sensors::PointCloud;

/// Shows a point cloud in Meshcat (Drake's `MeshcatPointCloudVisualizer`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `cloud` | [`PointCloud`] with positions (m), possibly with colours |
/// | input | `X_ParentCloud` | `Isometry3<T>`, pose of the cloud in the frame of the parent path |
///
/// If `X_ParentCloud` is not connected, it is the identity.
///
/// It publishes every [period](Self::with_publish_period) and at every forced publish. Points that
/// are not finite are left out.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_framework::prelude::*;
/// use tarragon_sensors::{BaseField, PointCloud};
/// use tarragon_visualization::{Meshcat, MeshcatParams, MeshcatPointCloudVisualizer};
/// let meshcat = Meshcat::new(MeshcatParams { port: Some(0), ..Default::default() })?;
/// let mut b = DiagramBuilder::new();
/// let cloud = MeshcatPointCloudVisualizer::new(meshcat.clone(), "camera/points")?;
/// let cloud = b.add("cloud", cloud);
/// let mut ctx = b.build()?.default_context();
/// let mut points = PointCloud::new(2, BaseField::XYZS);
/// points.xyzs_mut()[1] = Vector3::new(0.0, 0.0, 1.0);
/// ctx.fix(cloud.cloud, points)?;
/// ctx.force_publish()?;
/// assert!(meshcat.has_path("camera/points"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MeshcatPointCloudVisualizer {
    meshcat: Meshcat,
    path: String,
    publish_period: f64,
    point_size: f64,
    default_rgba: Rgba,
}

impl MeshcatPointCloudVisualizer {
    /// Shows a cloud at `path` every 1/32 s of simulated time, with points of 1 mm that are light
    /// grey if the cloud has no colours.
    ///
    /// # Errors
    /// Returns an error if the path is empty or `/`, because the cloud would replace everything
    /// else.
    pub fn new(meshcat: Meshcat, path: &str) -> Result<Self> {
        let full = full_path(path);
        if full == full_path("") || full == "/" {
            return Err(Error::invalid(format!(
                "MeshcatPointCloudVisualizer: the path must not be the root, got '{path}'; choose one such as \
                 'cloud'"
            )));
        }
        Ok(Self {
            meshcat,
            path: full,
            publish_period: 1.0 / 32.0,
            point_size: 0.001,
            default_rgba: light_grey(),
        })
    }
    /// Sets the publish period (s). With 0, the cloud is shown once, when a simulation is
    /// initialized, and at every forced publish.
    ///
    /// # Errors
    /// Returns an error if the period is negative or not finite.
    pub fn with_publish_period(mut self, period: f64) -> Result<Self> {
        if !(period >= 0.0 && period.is_finite()) {
            let what =
                format!("the publish period must be finite and not negative, got {period:?} s");
            return Err(self.wrong(&what));
        }
        self.publish_period = period;
        Ok(self)
    }
    /// Sets the size of the points (m).
    ///
    /// # Errors
    /// Returns an error if the size is not positive and finite.
    pub fn set_point_size(&mut self, size: f64) -> Result<()> {
        if !(size > 0.0 && size.is_finite()) {
            let what = format!("the point size must be positive and finite, got {size:?} m");
            return Err(self.wrong(&what));
        }
        self.point_size = size;
        Ok(())
    }
    /// Sets the colour for clouds without colours.
    pub fn set_default_rgba(&mut self, rgba: Rgba) {
        self.default_rgba = rgba;
    }
    /// Deletes the cloud; the next publish shows it again.
    pub fn delete(&self) {
        self.meshcat.delete(&self.path);
    }

    fn wrong(&self, what: &str) -> Error {
        Error::invalid(format!(
            "MeshcatPointCloudVisualizer '{}': {what}",
            self.path
        ))
    }

    fn publish(&self, time: f64, cloud: &PointCloud, x_pc: &Isometry3<f64>) -> Result<()> {
        let (size, rgba) = (self.point_size, self.default_rgba);
        self.meshcat
            .set_point_cloud(&self.path, cloud, size, rgba)?;
        self.meshcat.set_transform_at_time(&self.path, x_pc, time)
    }
}

/// Ports of [`MeshcatPointCloudVisualizer`].
#[derive(Clone, Copy, Debug)]
pub struct MeshcatPointCloudVisualizerPorts<T> {
    /// The cloud, with positions in metres.
    pub cloud: InputPort<PointCloud>,
    /// Pose of the cloud in the frame of the parent path.
    pub x_parent_cloud: InputPort<Isometry3<T>>,
}

impl<T: Scalar> LeafSystem<T> for MeshcatPointCloudVisualizer {
    type Ports = MeshcatPointCloudVisualizerPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let cloud = d.input::<PointCloud>("cloud");
        let x_parent_cloud = d.input::<Isometry3<T>>("X_ParentCloud");
        let (period, offset) = (self.publish_period, 0.0);
        let timed = match period {
            0.0 => Trigger::Initialization,
            period => Trigger::Periodic { period, offset },
        };
        for trigger in [timed, Trigger::Forced] {
            d.publish_on(trigger, move |visualizer, ctx| {
                let points = ctx.eval(cloud)?;
                let pose = ctx.eval_optional(x_parent_cloud)?;
                let pose = pose.map_or_else(Isometry3::identity, real_pose);
                visualizer.publish(ctx.time().re(), points, &pose)?;
                Ok(EventStatus::Succeeded)
            });
        }
        MeshcatPointCloudVisualizerPorts {
            cloud,
            x_parent_cloud,
        }
    }
}
