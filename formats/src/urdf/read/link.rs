//! Links.

use super::builder::UrdfBuilder;
use super::geometry::GeometryNames;
use crate::Error;
use nalgebra::{Isometry3, UnitQuaternion};
use tarragon_documents::xml::XmlNode;
use tarragon_documents::xml::{Parsed, Reported};
use tarragon_multibody::{BodyIndex, SpatialInertia, check_rotational, rotational_inertia};

impl UrdfBuilder<'_, '_> {
    pub(super) fn read_link(&mut self, node: XmlNode<'_>) -> Parsed<()> {
        let name = self.reader.required(node, "name")?.to_string();
        let world = name == "world";
        if !world && self.links.contains_key(&name) {
            let message = format!("names of links must be unique, got '{name}' twice");
            return Err(self.reader.error_at(node, "name", message));
        }
        let inertia = match self.reader.child(node, "inertial") {
            Some(inertial) if world => {
                let message = "the world link has no inertia; <inertial> is ignored";
                self.reader.warning(inertial, message);
                SpatialInertia::zero()
            }
            // The error was reported. The body is still added, since its joints would cause errors
            // otherwise.
            Some(inertial) => {
                let read = self.read_inertial(inertial, &name);
                read.unwrap_or_else(|Reported| SpatialInertia::zero())
            }
            None => SpatialInertia::zero(),
        };
        let body = if world {
            BodyIndex::WORLD
        } else {
            let added = self
                .target
                .plant
                .add_rigid_body(&name, self.instance, inertia);
            self.check(node, added)?
        };
        self.links.insert(name, body);
        if !self.target.has_scene() {
            return Ok(());
        }
        for (tag, visual) in [("visual", true), ("collision", false)] {
            let mut names = GeometryNames::default();
            for geometry in self.reader.children(node, tag) {
                let _ = if visual {
                    self.read_visual(geometry, body, &mut names)
                } else {
                    self.read_collision(geometry, body, &mut names)
                };
            }
        }
        Ok(())
    }

    /// Reads mass properties; those that are absent are 0 with a warning, as in Drake.
    fn numbers_or_zero<const N: usize>(
        &self,
        node: XmlNode<'_>,
        names: [&str; N],
    ) -> Parsed<[f64; N]> {
        let mut numbers = [0.0; N];
        let mut absent = vec![];
        for (number, name) in numbers.iter_mut().zip(names) {
            match self.reader.number(node, name)? {
                Some(given) => *number = given,
                None => absent.push(format!("'{name}'")),
            }
        }
        if !absent.is_empty() {
            let (tag, absent) = (self.reader.tag(node), absent.join(", "));
            let message = format!("<{tag}> has no {absent}: 0 is used");
            self.reader.warning(node, message);
        }
        Ok(numbers)
    }

    /// Reads the mass properties. An inertia that is physically impossible is replaced with a
    /// warning, as in Drake.
    fn read_inertial(&self, node: XmlNode<'_>, link: &str) -> Parsed<SpatialInertia> {
        let x_bbi = self.origin(node)?;
        let mass = match self.reader.child(node, "mass") {
            Some(mass) => {
                let [mass] = self.numbers_or_zero(mass, ["value"])?;
                mass
            }
            None => 0.0,
        };
        let (mut moments, mut products) = ([0.0; 3], [0.0; 3]);
        let inertia_node = self.reader.child(node, "inertia");
        if let Some(inertia) = inertia_node {
            moments = self.numbers_or_zero(inertia, ["ixx", "iyy", "izz"])?;
            for (product, name) in products.iter_mut().zip(["ixy", "ixz", "iyz"]) {
                *product = self.reader.number(inertia, name)?.unwrap_or(0.0);
            }
        }
        let at = inertia_node.unwrap_or(node);
        let massless = mass == 0.0 && moments == [0.0; 3] && products == [0.0; 3];
        if massless {
            return Ok(SpatialInertia::zero());
        }
        let p_bobcm_b = x_bbi.translation.vector;
        let i_bbcm_b = rotational_inertia(moments, products, &x_bbi);
        // Checked in the frame of the file, so that the message shows the numbers of the file.
        let check_unturned = || {
            if x_bbi.rotation == UnitQuaternion::identity() {
                Ok(())
            } else {
                let unturned = rotational_inertia(moments, products, &Isometry3::identity());
                check_rotational(&unturned)
            }
        };
        let turns = if mass > 0.0 {
            Ok(())
        } else {
            Err(Error::invalid(format!(
                "the mass must be positive if there is an inertia, got {mass:?} kg"
            )))
        };
        let inertia = turns
            .and_then(|()| check_unturned())
            .and_then(|()| SpatialInertia::from_central(mass, p_bobcm_b, i_bbcm_b));
        inertia.or_else(|why| {
            let plausible = SpatialInertia::plausible(mass, p_bobcm_b);
            let plausible = plausible.map_err(|e| self.reader.error(at, e))?;
            let used = plausible.mass();
            let message = format!(
                "link '{link}': {why}; the inertia of a sphere of water of {used:?} kg is used instead"
            );
            self.reader.warning(at, message);
            Ok(plausible)
        })
    }
}
