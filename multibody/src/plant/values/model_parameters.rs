//! Parameters of the model that a context holds in place of the model's values, and their storage
//! in the context.
//!
//! All numbers are in one vector over the scalar of the context; a layout, the same for all
//! scalars, tells where those of an element are. Thus the framework converts both to other scalars.

use crate::dynamics::{BodyInertia, Inertias};
use crate::error::{Error, Result};
use crate::model::{BodyIndex, JointIndex};
use crate::plant::multibody_plant::MultibodyPlant;
use nalgebra::{Matrix3, Vector3};
use std::collections::BTreeMap;
use tarragon_framework::Scalar;
use tarragon_framework::prelude::{Declare, Param};
use tarragon_geometry::GeometryId;

/// Contact properties of a geometry in a context; `None` stands for the property that the geometry
/// has in the scene (Drake keeps these only in the scene).
///
/// ```
/// use tarragon_multibody::ContactMaterialOverride;
/// let icy = ContactMaterialOverride {
///     static_friction: Some(0.02),
///     dynamic_friction: Some(0.01),
///     ..ContactMaterialOverride::default()
/// };
/// assert_eq!(icy.stiffness, None); // as registered
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactMaterialOverride<T> {
    /// Coefficient of static friction, which only continuous time uses.
    pub static_friction: Option<T>,
    /// Coefficient of dynamic friction, at most that of static friction.
    pub dynamic_friction: Option<T>,
    /// Stiffness of contact at a point (N/m).
    pub stiffness: Option<T>,
    /// Hunt and Crossley's dissipation (s/m).
    pub dissipation: Option<T>,
    /// Relaxation time of linear dissipation (s).
    pub relaxation_time: Option<T>,
}

impl<T: Copy> ContactMaterialOverride<T> {
    /// Returns the properties of the scene.
    pub(in crate::plant) fn none() -> Self {
        Self::from_fields([None; 5])
    }
    pub(in crate::plant) fn fields(&self) -> [Option<T>; 5] {
        [
            self.static_friction,
            self.dynamic_friction,
            self.stiffness,
            self.dissipation,
            self.relaxation_time,
        ]
    }
    fn from_fields(fields: [Option<T>; 5]) -> Self {
        let [
            static_friction,
            dynamic_friction,
            stiffness,
            dissipation,
            relaxation_time,
        ] = fields;
        Self {
            static_friction,
            dynamic_friction,
            stiffness,
            dissipation,
            relaxation_time,
        }
    }
}

/// Checks coefficients of static and dynamic friction against each other.
pub(in crate::plant) fn check_friction<T: Scalar>(
    place: impl Fn() -> String,
    static_friction: T,
    dynamic_friction: T,
) -> Result<()> {
    let (mu_s, mu_d) = (static_friction.re(), dynamic_friction.re());
    if mu_s >= mu_d {
        Ok(())
    } else {
        Err(Error::invalid(format!(
            "{}: static friction must be at least dynamic friction, got {mu_s:?} and {mu_d:?}; set \
         both",
            place()
        )))
    }
}

/// Mass properties of a body as a context stores them. The unit inertia stays when the mass
/// changes, even to 0 and back.
#[derive(Clone, Copy, Debug)]
pub(in crate::plant) struct StoredInertia<T: Scalar> {
    pub(in crate::plant) mass: T,
    pub(in crate::plant) p_bobcm_b: Vector3<T>,
    /// Unit inertia about Bo: xx, yy, zz, xy, xz, yz (m^2).
    pub(in crate::plant) unit: [T; 6],
}

impl<T: Scalar> StoredInertia<T> {
    pub(in crate::plant) fn numbers(&self) -> [T; 10] {
        let (m, p, [a, b, c, d, e, f]) = (self.mass, &self.p_bobcm_b, self.unit);
        [m, p.x, p.y, p.z, a, b, c, d, e, f]
    }
    pub(super) fn from_numbers(numbers: &[T; 10]) -> Self {
        let [m, x, y, z, a, b, c, d, e, f] = *numbers;
        Self {
            mass: m,
            p_bobcm_b: Vector3::new(x, y, z),
            unit: [a, b, c, d, e, f],
        }
    }
    pub(in crate::plant) fn unit_matrix(&self) -> Matrix3<T> {
        let [xx, yy, zz, xy, xz, yz] = self.unit;
        Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
    }
}

/// An element whose parameters a context may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::plant) enum ParameterOwner {
    /// [`StoredInertia`].
    Body(BodyIndex),
    /// Damping by velocity.
    Joint(JointIndex),
    /// Rotor inertia and gear ratio, by index.
    Actuator(usize),
    /// The constants of a force element, by index.
    Element(usize),
    /// The fields of a [`ContactMaterialOverride`].
    Geometry(GeometryId),
}

/// Where the numbers of an element are.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slot {
    start: usize,
    len: usize,
    /// Of a geometry: which of its fields have a value.
    present: [bool; 5],
}

/// Places of the numbers in a context.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::plant) struct ParameterLayout {
    slots: BTreeMap<ParameterOwner, Slot>,
}

impl ParameterLayout {
    fn numbers<'a, T>(&self, values: &'a [T], owner: ParameterOwner) -> Option<&'a [T]> {
        self.slots.get(&owner).map(|slot| slot.of(values))
    }
    /// Sets the numbers of an element, of which there are as many each time.
    pub(in crate::plant) fn set<T: Copy>(
        &mut self,
        values: &mut Vec<T>,
        owner: ParameterOwner,
        new: &[T],
    ) {
        let known = self.slots.get(&owner).filter(|s| s.len == new.len());
        let known = known.and_then(|s| values.get_mut(s.start..s.start + s.len));
        if let Some(known) = known {
            known.copy_from_slice(new);
            return;
        }
        let slot = Slot {
            start: values.len(),
            len: new.len(),
            present: [true; 5],
        };
        self.slots.insert(owner, slot);
        values.extend_from_slice(new);
    }
    /// Sets the contact properties of a geometry.
    pub(in crate::plant) fn set_material<T: Scalar>(
        &mut self,
        values: &mut Vec<T>,
        geometry: GeometryId,
        material: &ContactMaterialOverride<T>,
    ) {
        let (owner, fields) = (ParameterOwner::Geometry(geometry), material.fields());
        self.set(values, owner, &fields.map(|x| x.unwrap_or_else(T::zero)));
        if let Some(slot) = self.slots.get_mut(&owner) {
            slot.present = fields.map(|x| x.is_some());
        }
    }
}

impl Slot {
    fn of<'a, T>(&self, values: &'a [T]) -> &'a [T] {
        values.get(self.start..self.start + self.len).unwrap_or(&[])
    }
    fn material<T: Copy>(&self, values: &[T]) -> ContactMaterialOverride<T> {
        let numbers = self.of(values);
        let field = |i: usize| numbers.get(i).copied().filter(|_| self.present[i]);
        ContactMaterialOverride::from_fields(std::array::from_fn(field))
    }
}

/// Handles of the parameters in a context.
#[derive(Clone, Copy, Debug)]
pub(in crate::plant) struct ParameterHandles<T: Scalar> {
    pub(in crate::plant) values: Param<Vec<T>>,
    pub(in crate::plant) layout: Param<ParameterLayout>,
}

impl<T: Scalar> ParameterHandles<T> {
    pub(in crate::plant) fn declare(d: &mut Declare<MultibodyPlant, T>) -> Self {
        Self {
            values: d.param(vec![]),
            layout: d.param(ParameterLayout::default()),
        }
    }
}

/// The parameters of a plant in a context, as its computations use them.
#[derive(Clone, Debug)]
pub(in crate::plant) struct ModelParameters<T: Scalar> {
    pub(in crate::plant) inertias: Inertias<T>,
    /// Joint damping by velocity (N m s/rad or N s/m).
    pub(in crate::plant) damping: Vec<T>,
    /// Constants of force elements, by index; empty for those of the model.
    pub(in crate::plant) elements: Vec<Vec<T>>,
    pub(in crate::plant) materials: BTreeMap<GeometryId, ContactMaterialOverride<T>>,
}

impl<T: Scalar> ModelParameters<T> {
    /// Returns the parameters before they are computed.
    pub(in crate::plant) fn empty() -> Self {
        Self {
            inertias: Inertias::of_model(),
            damping: vec![],
            elements: vec![],
            materials: BTreeMap::new(),
        }
    }
}

/// Reads the parameters of elements in a context: its own, or those of the model.
pub(in crate::plant) struct ParameterReader<'a, T: Scalar> {
    pub(in crate::plant) plant: &'a MultibodyPlant,
    pub(in crate::plant) layout: &'a ParameterLayout,
    pub(in crate::plant) values: &'a [T],
}

impl<T: Scalar> ParameterReader<'_, T> {
    /// Returns the mass properties of a body of the plant if the context has its own.
    fn own_inertia(&self, body: BodyIndex) -> Option<StoredInertia<T>> {
        let numbers = self
            .layout
            .numbers(self.values, ParameterOwner::Body(body))?;
        Some(StoredInertia::from_numbers(numbers.try_into().ok()?))
    }

    /// Returns the mass properties of a body of the plant; `None` if its mass is 0 in the model but
    /// not its inertia, so that there is no unit inertia.
    pub(in crate::plant) fn inertia(&self, body: BodyIndex) -> Option<StoredInertia<T>> {
        if let Some(own) = self.own_inertia(body) {
            return Some(own);
        }
        let m = self.plant.bodies[body.index()].spatial_inertia();
        let (mass, i) = (m.mass(), m.rotational_inertia());
        if mass == 0.0 && i != Matrix3::zeros() {
            return None;
        }
        let unit = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];
        let unit = unit.map(|at| if mass == 0.0 { 0.0 } else { i[at] / mass });
        Some(StoredInertia {
            mass: T::from(mass),
            p_bobcm_b: m.center_of_mass().map(T::from),
            unit: unit.map(T::from),
        })
    }

    /// Returns the damping of a joint of the plant, by velocity.
    pub(in crate::plant) fn damping(&self, joint: JointIndex) -> Vec<T> {
        let model = &self.plant.joints[joint.index()].damping;
        self.or(ParameterOwner::Joint(joint), model)
    }

    /// Returns rotor inertia and gear ratio of an actuator of the plant.
    pub(in crate::plant) fn rotor(&self, actuator: usize) -> [T; 2] {
        let model = &self.plant.actuators[actuator];
        let model = [model.rotor_inertia, model.gear_ratio];
        let own = self
            .layout
            .numbers(self.values, ParameterOwner::Actuator(actuator));
        match own {
            Some([rotor, gear]) => [*rotor, *gear],
            _ => model.map(T::from),
        }
    }

    /// Returns the constants of a force element of the plant.
    pub(in crate::plant) fn element(&self, element: usize) -> Vec<T> {
        let model = self.plant.force_elements[element].constants();
        self.or(ParameterOwner::Element(element), &model)
    }

    fn or(&self, owner: ParameterOwner, model: &[f64]) -> Vec<T> {
        match self.layout.numbers(self.values, owner) {
            Some(own) if own.len() == model.len() => own.to_vec(),
            _ => model.iter().map(|x| T::from(*x)).collect(),
        }
    }

    /// Returns what the context has in place of the contact properties of a geometry.
    pub(in crate::plant) fn material(&self, geometry: GeometryId) -> ContactMaterialOverride<T> {
        let slot = self.layout.slots.get(&ParameterOwner::Geometry(geometry));
        slot.map_or_else(ContactMaterialOverride::none, |s| s.material(self.values))
    }

    /// Collects all parameters.
    pub(in crate::plant) fn all(&self) -> ModelParameters<T> {
        let mut all = ModelParameters::empty();
        for joint in &self.plant.topology.order {
            all.damping.extend(self.damping(*joint));
        }
        let plant = self.plant;
        for owner in self.layout.slots.keys() {
            match *owner {
                ParameterOwner::Body(body) => {
                    all.inertias.bodies.resize(plant.bodies.len(), None);
                    let own = self.own_inertia(body);
                    all.inertias.bodies[body.index()] = own.map(|m| BodyInertia {
                        mass: m.mass,
                        moment: m.p_bobcm_b * m.mass,
                        rotational: m.unit_matrix() * m.mass,
                    });
                }
                ParameterOwner::Joint(_) => {}
                ParameterOwner::Actuator(k) => {
                    all.inertias.reflected.resize(plant.bodies.len(), None);
                    // Those of spatial tendons have no inertia.
                    let joint = plant.actuators[k].joint();
                    let outboard = joint.and_then(|joint| plant.outboard_body(joint));
                    if let (Some(joint), Some(body)) = (joint, outboard) {
                        all.inertias.reflected[body.index()] = Some(self.reflected(joint));
                    }
                }
                ParameterOwner::Element(k) => {
                    all.elements.resize(plant.force_elements.len(), vec![]);
                    all.elements[k] = self.element(k);
                }
                ParameterOwner::Geometry(id) => {
                    all.materials.insert(id, self.material(id));
                }
            }
        }
        all
    }

    /// Returns the reflected inertia of all motors of a joint, with its armature.
    fn reflected(&self, joint: JointIndex) -> T {
        let motors = self.plant.actuators.iter().enumerate();
        let motors = motors.filter(|(_, motor)| motor.joint() == Some(joint));
        let armature = self.plant.joints[joint.index()].armature;
        motors.fold(T::from(armature), |sum, (k, _)| {
            let [rotor, gear] = self.rotor(k);
            sum + gear * gear * rotor
        })
    }
}

impl MultibodyPlant {
    /// Returns the body that a joint connects towards the world.
    fn outboard_body(&self, joint: JointIndex) -> Option<BodyIndex> {
        let inboard = &self.topology.inboard;
        let at = inboard.iter().position(|j| *j == Some(joint))?;
        Some(BodyIndex::new(at))
    }
}
