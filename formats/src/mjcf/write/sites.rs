//! Sites: those of the plant, and those at the ends of constraints and springs.

use super::tables::{self, PathOwner, PlannedPath, SiteText, SpatialPart, WrapText};
use super::{MjcfWriter, pose_attributes};
use nalgebra::{Isometry3, Point3, Vector3};
use tarragon_multibody::{
    BallConstraint, BodyIndex, Constraint, ForceElement, TendonPart, TendonWrap, walk_tendon,
};

/// Rounding of the poses in a file.
const TOLERANCE: f64 = 1e-13;
/// Names of sites that are added, and what they are.
const BALL_END: [&str; 2] = ["ball_end", "the end of a ball"];
const SPRING_END: [&str; 2] = ["spring_end", "the end of a spring"];
const TENDON_SITE: [&str; 2] = ["tendon_site", "a point of a tendon"];

impl MjcfWriter<'_> {
    /// Names the sites of the plant, and adds those that constraints and springs need.
    pub(super) fn plan_sites(&mut self) {
        let plant = self.document.plant;
        for site in plant.sites() {
            let (instance, name) = (site.model_instance(), site.name());
            let taken = &mut self.names.sites;
            let name = self.document.name(taken, "site", instance, name);
            self.sites.push(SiteText {
                name,
                body: site.body(),
                x_bs: *site.pose_in_body(),
            });
        }
        let poses = self.file_poses();
        let mut default_poses = vec![];
        let computed = plant.calc_body_poses(&plant.default_positions(), &mut default_poses);
        let at_default = |ball: &BallConstraint| {
            let poses = computed.is_ok().then_some(&default_poses)?;
            let x_ba = poses[ball.body_b.index()].inv_mul(&poses[ball.body_a.index()]);
            Some((x_ba * Point3::from(ball.p_ap)).coords)
        };
        for (number, constraint) in plant.constraints().iter().enumerate() {
            let Constraint::Ball(ball) = constraint else {
                continue;
            };
            let Some(p_bq) = ball.p_bq.or_else(|| at_default(ball)) else {
                continue;
            };
            let at = |body: BodyIndex, p: &Vector3<f64>| poses[body.index()] * Point3::from(*p);
            let (p, q) = (at(ball.body_a, &ball.p_ap), at(ball.body_b, &p_bq));
            let scale = 1.0 + p.coords.amax();
            if (p - q).amax() > TOLERANCE * scale {
                let ends = [(ball.body_a, ball.p_ap), (ball.body_b, p_bq)];
                let sites = ends.map(|(body, p)| self.site_at(BALL_END, body, &p));
                self.sites.of_constraints.insert(number, sites);
            }
        }
        for (number, element) in plant.force_elements().iter().enumerate() {
            let ForceElement::LinearSpringDamper {
                body_a,
                p_ap,
                body_b,
                p_bq,
                ..
            } = element
            else {
                continue;
            };
            let ends = [(*body_a, *p_ap), (*body_b, *p_bq)];
            let path = ends.map(|(body, p)| TendonPart::site(body, p));
            self.plan_path(PathOwner::Force(number), (&path, SPRING_END), &poses);
        }
        for (owner, path) in tables::paths(plant) {
            self.plan_path(owner, (path, TENDON_SITE), &poses);
        }
    }

    /// Keeps a path by names. `poses` are those of all bodies as the file states them.
    fn plan_path(
        &mut self,
        owner: PathOwner,
        (path, site): (&[TendonPart], [&str; 2]),
        poses: &[Isometry3<f64>],
    ) {
        let parts = path.iter().map(|part| self.path_part(part, site)).collect();
        let length = walk_tendon(path, |body| poses[body.index()], |_| {});
        let planned = PlannedPath { parts, length };
        self.sites.paths.insert(owner, planned);
    }

    /// Returns a part of a path by names; sites that are missing and geoms are added.
    fn path_part(&mut self, part: &TendonPart, site: [&str; 2]) -> SpatialPart {
        match part {
            TendonPart::Site { body, position } => {
                SpatialPart::Site(self.site_at(site, *body, position))
            }
            TendonPart::Pulley { divisor } => SpatialPart::Pulley(*divisor),
            TendonPart::Wrap(geom) => {
                let side = geom.side.as_ref();
                let side = side.map(|(body, position)| self.site_at(TENDON_SITE, *body, position));
                let same = self.wraps.iter().find(|wrap| {
                    let other = &wrap.geom;
                    (other.body, other.shape, other.radius) == (geom.body, geom.shape, geom.radius)
                        && other.pose == geom.pose
                });
                let name = same.map(|wrap| wrap.name.clone());
                SpatialPart::Geom(name.unwrap_or_else(|| self.add_wrap(geom)), side)
            }
        }
    }

    /// Adds a geom around which a tendon wraps, and returns its name.
    fn add_wrap(&mut self, geom: &TendonWrap) -> String {
        let name = self.names.geoms.take("tendon_wrap");
        let link = &self.bodies[geom.body.index()];
        self.document.warn(format!(
            "geom '{name}' is added to body '{link}': a tendon wraps around it"
        ));
        self.wraps.push(WrapText {
            name: name.clone(),
            geom: geom.clone(),
        });
        name
    }

    /// Returns the name of a site at a position, which is added if there is none.
    fn site_at(
        &mut self,
        [stem, what]: [&str; 2],
        body: BodyIndex,
        position: &Vector3<f64>,
    ) -> String {
        if let Some(site) = self.sites.at(body, position) {
            return site.name.clone();
        }
        let name = self.names.sites.take(stem);
        let link = &self.bodies[body.index()];
        self.document
            .warn(format!("site '{name}' is added to body '{link}': {what}"));
        self.sites.push(SiteText {
            name: name.clone(),
            body,
            x_bs: Isometry3::from(*position),
        });
        name
    }

    /// Returns the poses of all bodies in the world as the file states them: at the reference
    /// positions of joints.
    fn file_poses(&self) -> Vec<Isometry3<f64>> {
        let plant = self.document.plant;
        let mut poses = vec![Isometry3::identity(); plant.num_bodies()];
        for body in &self.layout.order {
            poses[body.index()] = match self.placed(*body) {
                None => self.layout.x_wb(*body),
                Some((base, placed)) => {
                    poses[base.index()] * placed.x_pb * placed.behind.unwrap_or_default()
                }
            };
        }
        poses
    }

    pub(super) fn has_site(&self, body: BodyIndex) -> bool {
        self.sites.of_body(body).next().is_some()
    }

    pub(super) fn write_sites(&mut self, body: BodyIndex) {
        let xml = &mut self.document.xml;
        for site in self.sites.of_body(body) {
            xml.start("site").attribute("name", &site.name);
            pose_attributes(xml, &site.x_bs);
            xml.end();
        }
    }
}
