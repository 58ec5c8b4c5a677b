//! The system that measures the sensors of a plant's model files.

use super::inputs::{Energies, Inputs};
use super::measurement::Measurement;
use super::sensor::{ALL, MeasuredSensor, UnmeasuredSensor, port_names};
use crate::{Error, Result};
use nalgebra::Isometry3;
use std::collections::BTreeSet;
use std::sync::Arc;
use tarragon_framework::prelude::*;
use tarragon_multibody::{MultibodyPlant, PlantParameters, SpatialVector};

/// Sensors of a plant's model files
/// ([`model_sensors`](tarragon_multibody::MultibodyModel::model_sensors)) that measure functions of
/// time, positions and velocities, as MuJoCo measures them. [`add_sensors_from_model`] adds and
/// connects the system.
///
/// | port | name | type |
/// |---|---|---|
/// | input | `body_poses` | `Vec<Isometry3<T>>`, `X_WB` by body |
/// | input | `body_spatial_velocities` | `Vec<SpatialVector<T>>`, `V_WB` by body |
/// | input | `state` | vector `[q; v]` |
/// | input | `parameters` | `PlantParameters<T>`, the masses and springs of a context |
/// | output | `{sensor}` | vector, the measurement of a sensor; direct feedthrough |
/// | output | `sensordata` | vector, all measurements in the order of the plant's sensors |
///
/// An output port has the name of its sensor, with that of the model (`model::sensor`) if sensors
/// of two models have the same name or the sensor is called `sensordata`. An input needs a value
/// only if a sensor that depends on it is evaluated; without `parameters`, the model's hold.
///
/// | kind | measurement | unit |
/// |---|---|---|
/// | `clock` | time of the context | s |
/// | `jointpos` | position q of a joint with one degree of freedom | rad or m |
/// | `jointvel` | velocity v of such a joint | rad/s or m/s |
/// | `actuatorpos` | length of an actuator on joints: its gear times q, of all joints | |
/// | `actuatorvel` | rate of this length | |
/// | `ballquat` | `R_FM` of a ball joint as a quaternion w, x, y, z | |
/// | `ballangvel` | `w_FM_M` of a ball joint, expressed in the child's joint frame M | rad/s |
/// | `framepos` | `p_RoFo_R` | m |
/// | `framequat` | `R_RF` as a quaternion w, x, y, z | |
/// | `framexaxis`, `frameyaxis`, `framezaxis` | an axis of F, expressed in R | |
/// | `framelinvel`, `frameangvel` | `v_RFo_R`, `w_RF_R` | m/s, rad/s |
/// | `velocimeter`, `gyro` | `v_WFo_F`, `w_WF_F` of a site F | m/s, rad/s |
/// | `subtreecom` | position of the center of mass of a body with all that it carries, in W | m |
/// | `subtreelinvel` | velocity of that center in W | m/s |
/// | `subtreeangmom` | angular momentum of these bodies about that center, in W | N m s |
/// | `e_kinetic` | [`MultibodyPlant::calc_kinetic_energy`] | J |
/// | `e_potential` | [`MultibodyPlant::calc_potential_energy`] | J |
///
/// F is the frame of a body, a site, or a frame at the center of mass, of which only the origin is
/// known. R is the reference frame, or the world W. A velocity in R is that which an observer sees
/// who moves with R. The sign of a quaternion is that of the plant's poses; both signs are the same
/// orientation. Masses are the parameters of the context, as in
/// [`in_context`](tarragon_multibody::MultibodyPlantPorts::in_context). For
/// a subtree without mass, the center is the first body's, and its velocity is 0. Unlike in MuJoCo,
/// `e_potential` leaves out the weight that `gravcomp` carries.
///
/// Measurements are ideal: noise is kept in [`ModelSensor`](tarragon_multibody::ModelSensor) and
/// not added. A cutoff clamps every element to its absolute value, but for quaternions and axes;
/// where it does, the derivative is zero.
#[derive(Clone, Debug)]
pub struct ModelSensors {
    num_bodies: usize,
    num_coordinates: usize,
    sensors: Vec<Sensor>,
    unmeasured: Vec<UnmeasuredSensor>,
    /// The plant, if energies are measured.
    plant: Option<Box<MultibodyPlant>>,
}

#[derive(Clone, Debug)]
struct Sensor {
    about: MeasuredSensor,
    measurement: Measurement,
    cutoff: f64,
}

impl ModelSensors {
    /// Creates the measurements of the sensors of a plant.
    ///
    /// # Errors
    /// Returns an error if two measured sensors of a model have the same name.
    pub fn new(plant: &MultibodyPlant) -> Result<Self> {
        let (mut sensors, mut unmeasured): (Vec<Sensor>, _) = (vec![], vec![]);
        let (mut names, mut start) = (BTreeSet::new(), 0);
        let declared = plant.model_sensors().iter().zip(port_names(plant)?);
        for (index, (declared, name)) in declared.enumerate() {
            let measurement = match Measurement::new(plant, declared) {
                Ok(measurement) => measurement,
                Err(why) => {
                    unmeasured.push(UnmeasuredSensor {
                        name,
                        sensor: index,
                        kind: declared.kind.clone(),
                        why,
                    });
                    continue;
                }
            };
            if !names.insert(name.clone()) {
                return Err(Error::exists(format!(
                    "ModelSensors: names of sensors must be unique within a model, got '{name}' \
                     twice; rename one of them"
                )));
            }
            let range = start..start + measurement.size();
            start = range.end;
            let cutoff = if measurement.has_cutoff() {
                declared.cutoff
            } else {
                f64::INFINITY
            };
            sensors.push(Sensor {
                about: MeasuredSensor {
                    name,
                    sensor: index,
                    range,
                },
                measurement,
                cutoff,
            });
        }
        let of_energy = |sensor: &Sensor| matches!(sensor.measurement, Measurement::Energy(_));
        let needs_plant = sensors.iter().any(of_energy);
        Ok(Self {
            num_bodies: plant.num_bodies(),
            num_coordinates: plant.num_positions() + plant.num_velocities(),
            sensors,
            unmeasured,
            plant: needs_plant.then(|| Box::new(plant.clone())),
        })
    }

    /// Returns the measured sensors, in the order of the plant's sensors.
    pub fn measured(&self) -> impl ExactSizeIterator<Item = &MeasuredSensor> {
        self.sensors.iter().map(|sensor| &sensor.about)
    }
    /// Returns the other sensors, in the order of the plant's sensors.
    pub fn unmeasured(&self) -> &[UnmeasuredSensor] {
        &self.unmeasured
    }

    fn measure<T: Scalar>(
        &self,
        sensor: &Sensor,
        inputs: Inputs<T>,
        ctx: &LeafContext<'_, T>,
        y: &mut [T],
    ) -> Result<()> {
        inputs.measure(&sensor.measurement, self.num_bodies, ctx, y)?;
        for y in y {
            if y.re().abs() > sensor.cutoff {
                *y = T::from(sensor.cutoff.copysign(y.re()));
            }
        }
        Ok(())
    }

    fn declare_inputs<T: Scalar>(&self, d: &mut Declare<Self, T>) -> Inputs<T> {
        let body_poses = d.input("body_poses");
        let body_spatial_velocities = d.input("body_spatial_velocities");
        let state = d.vector_input("state", self.num_coordinates);
        let parameters = d.input("parameters");
        let energies = self.plant.as_ref().map(|_| {
            let (none, deps) = (Energies::zero(), (state, parameters));
            d.cache_entry("energies", none, deps, move |sensors, ctx, energies| {
                let (state, own) = (ctx.eval(state)?, ctx.eval_optional(parameters)?);
                let plant = sensors.plant.as_ref();
                plant.map_or(Ok(()), |plant| energies.update(plant, state, own))
            })
        });
        Inputs {
            body_poses,
            body_spatial_velocities,
            state,
            parameters,
            energies,
        }
    }
}

/// Ports of [`ModelSensors`].
#[derive(Clone, Debug)]
pub struct ModelSensorsPorts<T: Scalar> {
    /// `X_WB` by [`BodyIndex`](tarragon_multibody::BodyIndex).
    pub body_poses: InputPort<Vec<Isometry3<T>>>,
    /// `V_WB` by [`BodyIndex`](tarragon_multibody::BodyIndex).
    pub body_spatial_velocities: InputPort<Vec<SpatialVector<T>>>,
    /// State `[q; v]` of the plant.
    pub state: InputPort<Vec<T>>,
    /// Masses and springs of the plant in a context.
    pub parameters: InputPort<PlantParameters<T>>,
    /// All measurements, in the order of the plant's sensors.
    pub sensordata: OutputPort<Vec<T>>,
    sensors: Arc<[(String, OutputPort<Vec<T>>)]>,
}

impl<T: Scalar> ModelSensorsPorts<T> {
    /// Returns the output port of a sensor.
    ///
    /// # Errors
    /// Returns an error if no measured sensor has a port of this name.
    pub fn sensor(&self, name: &str) -> Result<OutputPort<Vec<T>>> {
        let mut ports = self.sensors.iter();
        let found = ports.find(|(known, _)| known == name);
        found.map(|(_, port)| *port).ok_or_else(|| {
            let known: Vec<&str> = self.sensors.iter().map(|(known, _)| &**known).collect();
            Error::not_found(format!(
                "ModelSensors: the name must be one of {known:?}, got '{name}'"
            ))
        })
    }
}

impl<T: Scalar> LeafSystem<T> for ModelSensors {
    type Ports = ModelSensorsPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let inputs = self.declare_inputs(d);
        let mut ports = vec![];
        for (i, sensor) in self.sensors.iter().enumerate() {
            let (name, size) = (&sensor.about.name, sensor.measurement.size());
            let deps = inputs.deps(&sensor.measurement);
            let port = d.vector_output(name, size, deps, move |sensors, ctx, y| {
                sensors.measure(&sensors.sensors[i], inputs, ctx, y)
            });
            ports.push((name.clone(), port));
        }
        let all: Vec<OutputPort<Vec<T>>> = ports.iter().map(|(_, port)| *port).collect();
        let size = self.sensors.last().map_or(0, |last| last.about.range.end);
        let sensordata = d.vector_output(ALL, size, all.clone(), move |sensors, ctx, y| {
            for (sensor, port) in sensors.sensors.iter().zip(&all) {
                y[sensor.about.range.clone()].copy_from_slice(ctx.output(*port)?);
            }
            Ok(())
        });
        ModelSensorsPorts {
            body_poses: inputs.body_poses,
            body_spatial_velocities: inputs.body_spatial_velocities,
            state: inputs.state,
            parameters: inputs.parameters,
            sensordata,
            sensors: ports.into(),
        }
    }
}

/// Adds the sensors of a plant's model files to a diagram, and connects them to the plant. Returns
/// the system, and the sensors that it does not measure.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_formats::{MjcfSemantics, Parser};
/// use tarragon_multibody::MultibodyPlantBuilder;
/// use tarragon_sensors::add_sensors_from_model;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let mut parser = Parser::new(&mut plant);
/// parser.set_mjcf_semantics(MjcfSemantics::MuJoCo);
/// let mjcf = "<mujoco model='m'><worldbody><body><joint name='lift' type='slide'/>
///     <geom size='.1'/><site name='top' pos='0 0 1'/></body></worldbody>
///   <sensor><jointpos joint='lift' name='height'/><gyro site='top' name='imu'/>
///     <touch site='top' name='contact'/></sensor></mujoco>";
/// parser.add_models_from_string(mjcf, "xml")?;
/// let plant = plant.build()?;
///
/// let mut b = DiagramBuilder::new();
/// let plant = b.add("plant", plant);
/// let (sensors, unmeasured) = add_sensors_from_model(&mut b, "sensors", &plant)?;
/// let mut ctx = b.build()?.default_context();
/// plant.set_positions(&mut ctx, &[0.5])?;
/// assert_eq!(ctx.eval(sensors.sensor("height")?)?, &[0.5]);
/// assert_eq!(ctx.eval(sensors.sensordata)?, &[0.5, 0.0, 0.0, 0.0]);
/// assert_eq!(unmeasured[0].name, "contact");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error, and adds nothing, if two measured sensors of a model have the same name.
pub fn add_sensors_from_model(
    builder: &mut DiagramBuilder,
    name: &str,
    plant: &Block<MultibodyPlant>,
) -> Result<(Block<ModelSensors>, Vec<UnmeasuredSensor>)> {
    let sensors = ModelSensors::new(plant.system())?;
    let unmeasured = sensors.unmeasured.clone();
    let sensors = builder.add(name, sensors);
    builder.connect(plant.body_poses, sensors.body_poses);
    let velocities = plant.body_spatial_velocities;
    builder.connect(velocities, sensors.body_spatial_velocities);
    builder.connect(plant.parameters, sensors.parameters);
    if let Ok(state) = plant.state() {
        builder.connect(state, sensors.state);
    }
    Ok((sensors, unmeasured))
}
