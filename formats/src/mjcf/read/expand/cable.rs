//! `<composite type="cable">`: a chain of bodies with ball joints, as in MuJoCo.

use super::expander::{Expander, text};
use crate::mjcf::read::tree::ElementRef;
use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use std::f64::consts::PI;
use tarragon_documents::xml::Parsed;
use tarragon_framework::math;

/// Maximum number of vertices.
const MAX_VERTICES: usize = 10_000;
/// Sine of the angle below which edges are parallel.
const STRAIGHT: f64 = 1e-8;
/// Description of the bodies of a cable.
const LIMP: &str = "it becomes a chain of bodies; its elasticity does not act, and its skin is not \
                    drawn";

/// One body of a cable, along its own x axis.
struct Link {
    rotation: Rotation3<f64>,
    length: f64,
}

/// A cable that was read.
struct Cable {
    prefix: String,
    start: Vector3<f64>,
    links: Vec<Link>,
    initial: &'static str,
}

impl Expander<'_> {
    /// Returns the chain of bodies that a `<composite>` stands for; `None` if it is left out.
    pub(super) fn composite(&mut self, composite: usize) -> Parsed<Option<usize>> {
        let node = self.node(composite);
        let kind = node.text("type").map(str::trim);
        if kind != Some("cable") {
            node.ignored("only composites of type 'cable' are supported");
            return Ok(None);
        }
        node.warning_grouped("type", format!("<composite> is not elastic: {LIMP}"));
        let cable = read_cable(node)?;
        let mut inner = None;
        for i in (0..cable.links.len()).rev() {
            inner = Some(self.link(composite, &cable, i, inner)?);
        }
        self.exclude_neighbours(composite, &cable)?;
        Ok(inner)
    }

    /// Excludes contact between links that follow each other, also where the first is fixed.
    fn exclude_neighbours(&mut self, composite: usize, cable: &Cable) -> Parsed<()> {
        let mut pairs = vec![];
        for i in 1..cable.links.len() {
            let [a, b] = [i - 1, i].map(|i| cable.name("B", i));
            let bodies = vec![("body1", a), ("body2", b)];
            pairs.push(self.make("exclude", composite, bodies, vec![])?);
        }
        let contact = self.make("contact", composite, vec![], pairs)?;
        self.tree.elements[0].children.push(contact);
        Ok(())
    }

    /// Adds link `i` of a cable with the one after it.
    fn link(
        &mut self,
        composite: usize,
        cable: &Cable,
        i: usize,
        next: Option<usize>,
    ) -> Parsed<usize> {
        let last = cable.links.len() - 1;
        let name = |letter: &str| cable.name(letter, i);
        let length = cable.links[i].length;
        let mut children = vec![];
        if i > 0 || cable.initial != "none" {
            let is_free = i == 0 && cable.initial == "free";
            let kind = if is_free { "free" } else { "ball" };
            let given = self.child_attributes(composite, "joint", &["kind", "type", "name"]);
            let given = given.into_iter().filter(|_| !is_free);
            let own = [("type".into(), kind.into()), ("name".into(), name("J"))];
            children.push(self.make_owned("joint", composite, own.into_iter().chain(given))?);
        }
        let geom = format!("{}G{i}", cable.prefix);
        children.extend(self.link_geom(composite, geom, length)?);
        let mut site = |name: String, x: f64| {
            let pos = text(&[x, 0.0, 0.0]);
            self.make(
                "site",
                composite,
                vec![("name", name), ("pos", pos)],
                vec![],
            )
        };
        if i == 0 {
            children.push(site(format!("{}S_first", cable.prefix), 0.0)?);
        }
        if i == last {
            children.push(site(format!("{}S_last", cable.prefix), length)?);
        }
        children.extend(next);
        let (position, rotation) = match i {
            0 => (cable.start, cable.links[0].rotation),
            i => {
                let before = &cable.links[i - 1];
                let rotation = before.rotation.inverse() * cable.links[i].rotation;
                (Vector3::new(before.length, 0.0, 0.0), rotation)
            }
        };
        let q: UnitQuaternion<f64> = math::rotation_from_matrix(rotation.matrix());
        let body = vec![
            ("name", name("B")),
            ("pos", text(position.as_slice())),
            ("quat", text(&[q.w, q.i, q.j, q.k])),
        ];
        self.make("body", composite, body, children)
    }

    /// Adds the geom of a link, which is as long as the link.
    fn link_geom(&mut self, composite: usize, name: String, length: f64) -> Parsed<Option<usize>> {
        let node = self.node(composite);
        let Some(geom) = node.first("geom") else {
            return Ok(None);
        };
        let kind = geom.text("type").map_or("sphere", str::trim);
        let size = geom.numbers("size")?.unwrap_or_default();
        let number = |i: usize| size.get(i).copied().unwrap_or(0.0);
        let half = length / 2.0;
        let (size, turn) = match kind {
            "box" => (text(&[half, number(1), number(2)]), [1.0, 0.0, 0.0, 0.0]),
            "capsule" | "cylinder" => {
                let quarter = (PI / 4.0).sin();
                (text(&[number(0), half]), [quarter, 0.0, -quarter, 0.0])
            }
            other => {
                let message = format!(
                    "<geom> of a cable must be a box, a capsule or a cylinder, got '{other}'"
                );
                return Err(geom.error_at("type", message));
            }
        };
        let own = [
            ("name".to_owned(), name),
            ("size".to_owned(), size),
            ("pos".to_owned(), text(&[half, 0.0, 0.0])),
            ("quat".to_owned(), text(&turn)),
        ];
        let placed = [
            "name",
            "size",
            "pos",
            "quat",
            "euler",
            "axisangle",
            "xyaxes",
            "zaxis",
        ];
        let given = self.child_attributes(composite, "geom", &placed);
        let made = self.make_owned("geom", composite, own.into_iter().chain(given))?;
        Ok(Some(made))
    }

    /// Returns the attributes of a child, except some.
    fn child_attributes(&self, parent: usize, tag: &str, except: &[&str]) -> Vec<(String, String)> {
        let child = self.node(parent).children().find(|c| c.tag() == tag);
        let attributes = child.map_or(&[][..], |c| c.own()).iter();
        let kept = attributes.filter(|a| !except.contains(&&*a.name));
        kept.map(|a| (a.name.clone(), a.value.clone())).collect()
    }

    fn make_owned(
        &mut self,
        tag: &str,
        at: usize,
        attributes: impl Iterator<Item = (String, String)>,
    ) -> Parsed<usize> {
        let attributes: Vec<(String, String)> = attributes.collect();
        let borrowed = attributes
            .iter()
            .map(|(name, value)| (&**name, value.clone()));
        self.make(tag, at, borrowed.collect(), vec![])
    }
}

impl Cable {
    /// Returns the name of link `i` or of its joint.
    fn name(&self, letter: &str, i: usize) -> String {
        let number = match i {
            0 => "first".to_owned(),
            i if i + 1 == self.links.len() => "last".to_owned(),
            i => format!("{i}"),
        };
        format!("{}{letter}_{number}", self.prefix)
    }
}

fn read_cable(node: ElementRef<'_>) -> Parsed<Cable> {
    let vertices: Vec<Vector3<f64>> = match node.numbers("vertex")? {
        Some(numbers) => {
            let (points, rest) = numbers.as_chunks::<3>();
            if !rest.is_empty() || numbers.iter().any(|x| !x.is_finite()) {
                let message = "'vertex' of <composite> must have three finite numbers per vertex";
                return Err(node.error_at("vertex", message));
            }
            points.iter().map(|p| Vector3::from(*p)).collect()
        }
        None => curve(node)?,
    };
    // MuJoCo keeps them in single precision.
    let rounded = |p: Vector3<f64>| p.map(|x| f64::from(x as f32));
    let vertices: Vec<Vector3<f64>> = vertices.into_iter().map(rounded).collect();
    let count = vertices.len();
    if !(3..=MAX_VERTICES).contains(&count) {
        let message = format!("a cable must have 3 to {MAX_VERTICES} vertices, got {count}");
        return Err(node.error(message));
    }
    let Some(links) = links(&vertices) else {
        return Err(node.error("the vertices of a cable must differ from their neighbours"));
    };
    let offset = Vector3::from(node.vector::<3>("offset")?.unwrap_or_default());
    Ok(Cable {
        prefix: node.text("prefix").unwrap_or_default().trim().to_owned(),
        start: vertices[0] + offset,
        links,
        initial: initial(node),
    })
}

/// Returns the joint of the first link.
fn initial(node: ElementRef<'_>) -> &'static str {
    match node.text("initial").map(str::trim) {
        Some("free") => "free",
        Some("none") => "none",
        Some("ball") | None => "ball",
        Some(other) => {
            let message =
                format!("initial must be 'free', 'ball' or 'none', got '{other}'; it is a ball");
            node.warning_at("initial", message);
            "ball"
        }
    }
}

/// Returns the vertices of a curve that is given by a function of `s` for each axis.
fn curve(node: ElementRef<'_>) -> Parsed<Vec<Vector3<f64>>> {
    let count = node.numbers("count")?.and_then(|n| n.first().copied());
    let count = count.unwrap_or(0.0);
    if !(3.0..=MAX_VERTICES as f64).contains(&count) || count.fract() != 0.0 {
        let message = format!(
            "'count' of a cable must be an integer from 3 to {MAX_VERTICES}, got {count:?}"
        );
        return Err(node.error_at("count", message));
    }
    let size = node.numbers("size")?.unwrap_or_default();
    let number = |i: usize| size.get(i).copied().unwrap_or(0.0);
    let words: Vec<&str> = node
        .text("curve")
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let along = |s: f64, axis: usize| match words.get(axis).copied() {
        Some("s") => s * number(0),
        Some("cos(s)") => number(1) * (PI * s * number(2)).cos(),
        Some("sin(s)") => number(1) * (PI * s * number(2)).sin(),
        _ => 0.0,
    };
    let point = |i: usize| {
        let s = i as f64 / (count - 1.0);
        Vector3::new(along(s, 0), along(s, 1), along(s, 2))
    };
    Ok((0..count as usize).map(point).collect())
}

/// Returns the links between vertices, whose frames do not twist; `None` if an edge has no length.
fn links(vertices: &[Vector3<f64>]) -> Option<Vec<Link>> {
    let edges: Vec<Vector3<f64>> = vertices.windows(2).map(|w| w[1] - w[0]).collect();
    let directions: Option<Vec<Vector3<f64>>> =
        edges.iter().map(|e| e.try_normalize(1e-10)).collect();
    let directions = directions?;
    let mut y = first_normal(directions[0], directions[1]);
    let mut before = directions[0];
    let mut links = vec![];
    for (edge, x) in edges.iter().zip(&directions) {
        // The smallest rotation between the edges; half a turn has no axis.
        let (sine, cosine) = (before.cross(x), before.dot(x));
        if cosine > -1.0 + STRAIGHT {
            y += sine.cross(&y) + sine.cross(&sine.cross(&y)) / (1.0 + cosine);
        }
        // Rounding must not add up.
        y = (y - x * x.dot(&y)).try_normalize(1e-10)?;
        before = *x;
        links.push(Link {
            rotation: Rotation3::from_matrix_unchecked(Matrix3::from_columns(&[
                *x,
                y,
                x.cross(&y),
            ])),
            length: edge.norm(),
        });
    }
    Some(links)
}

/// Returns the y axis of the first link: towards the bend, or that of the smallest rotation.
fn first_normal(x: Vector3<f64>, next: Vector3<f64>) -> Vector3<f64> {
    if let Some(binormal) = x.cross(&next).try_normalize(STRAIGHT) {
        return binormal.cross(&x);
    }
    if x.x < -1.0 + STRAIGHT {
        return -Vector3::y();
    }
    let y = Vector3::y() - (Vector3::x() + x) * (x.y / (1.0 + x.x));
    if x.x.abs() < STRAIGHT {
        Vector3::new(y.x, -y.y, -y.z)
    } else {
        y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from MuJoCo 3.3.7.
    #[test]
    fn the_first_frame_is_that_of_mujoco() {
        for (edge, y) in [
            ([1.0, 2.0, 3.0], [-0.53452, 0.77454, -0.33819]),
            ([3.0, 1.0, 2.0], [-0.26726, 0.96036, -0.07929]),
            ([0.0, 1.0, 2.0], [-0.44721, -0.8, 0.4]),
            ([0.0, 0.0, 1.0], [0.0, -1.0, 0.0]),
            ([-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]),
        ] {
            let x = Vector3::from(edge).normalize();
            let error = first_normal(x, x) - Vector3::from(y);
            assert!(error.amax() < 1e-5, "{edge:?}: {error}");
        }
    }
}
