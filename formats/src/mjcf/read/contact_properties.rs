//! Contact properties of geoms.

use super::sections::GlobalSections;
use super::tree::ElementRef;
use tarragon_documents::xml::Parsed;
use tarragon_geometry::{CoulombFriction, ProximityProperties};
use tarragon_multibody::MujocoContact;

const OWN_CONTACT: &str = "the plant's contact model has its own stiffness and dissipation";
const BOTH_GEOMS: &str = "contacts combine the properties of both geoms";
const IGNORED: [(&str, &str); 6] = [
    ("gap", "forces act wherever geoms overlap"),
    ("margin", "forces act only where geoms overlap"),
    ("priority", BOTH_GEOMS),
    ("solimp", OWN_CONTACT),
    ("solmix", BOTH_GEOMS),
    ("solref", OWN_CONTACT),
];

/// Warns about contact properties of a geom that a reading as by Drake ignores.
pub(super) fn check_contact(node: ElementRef<'_>, as_drake: bool) {
    if as_drake {
        node.lost().ignore_attributes(&IGNORED);
    }
}

/// Contact properties of a geom.
pub(super) struct GeomContact {
    /// Whether the geom has collision geometry.
    pub(super) collides: bool,
    /// Bits of `contype` and `conaffinity`.
    pub(super) masks: [u32; 2],
    friction: CoulombFriction,
    as_in_mujoco: Option<MujocoContact>,
}

impl GeomContact {
    pub(super) fn properties(&self) -> crate::Result<ProximityProperties> {
        let mut properties = ProximityProperties::new().with_friction(self.friction);
        if let Some(contact) = self.as_in_mujoco {
            properties.add("material", "mujoco_contact", contact)?;
        }
        Ok(properties)
    }
}

impl GlobalSections {
    pub(super) fn read_contact(&self, node: ElementRef<'_>, name: &str) -> Parsed<GeomContact> {
        let number = |name: &str, default| Ok(node.number(name)?.unwrap_or(default));
        let (contype, conaffinity) = (number("contype", 1.0)?, number("conaffinity", 1.0)?);
        let collides = contype != 0.0 || conaffinity != 0.0;
        if !self.main_compiler().as_drake() {
            let bits = |mask: f64| mask.rem_euclid(f64::from(u32::MAX) + 1.0) as u32;
            return Ok(GeomContact {
                collides: collides || self.paired_geoms.contains(name),
                masks: [bits(contype), bits(conaffinity)],
                friction: read_friction(node, false)?,
                as_in_mujoco: Some(self.read_mujoco_contact(node)?),
            });
        }
        if collides && (contype, conaffinity) != (1.0, 1.0) {
            let at = match node.text("contype") {
                Some(_) => "contype",
                None => "conaffinity",
            };
            let message = format!(
                "contype={contype:?} and conaffinity={conaffinity:?} are ignored: the geom is tested \
                 against all others"
            );
            node.lost().warning_grouped(at, message);
        }
        if let Some(condim) = node.number("condim")?.filter(|c| *c != 3.0) {
            let message = format!("condim={condim:?} is ignored: contacts have condim=3");
            node.warning_grouped("condim", message);
        }
        Ok(GeomContact {
            collides,
            masks: [1; 2],
            friction: read_friction(node, true)?,
            as_in_mujoco: None,
        })
    }

    fn read_mujoco_contact(&self, node: ElementRef<'_>) -> Parsed<MujocoContact> {
        let contact = MujocoContact {
            priority: node.number("priority")?.unwrap_or(0.0) as i32,
            solmix: node.number("solmix")?.unwrap_or(1.0),
            margin: node.number("margin")?.unwrap_or(0.0),
            gap: node.number("gap")?.unwrap_or(0.0),
            ..self.read_solver_parameters(node)?
        };
        let checked = contact.check();
        checked.map_err(|why| node.error_at("solmix", why))?;
        Ok(contact)
    }

    /// Reads `solref`, `solimp` and the dimension of contacts.
    pub(super) fn read_solver_parameters(&self, node: ElementRef<'_>) -> Parsed<MujocoContact> {
        let default = MujocoContact::default();
        let solref = overlaid(node, "solref", default.solref)?;
        let solimp = overlaid(node, "solimp", default.solimp)?;
        let condim = read_condim(node)?.unwrap_or(3.0);
        Ok(MujocoContact {
            is_frictionless: condim == 1.0,
            cone_edges: if self.contact_options.is_pyramidal {
                (2.0 * (condim - 1.0)).clamp(0.0, 10.0) as u8
            } else {
                0
            },
            impratio: self.contact_options.impratio,
            prevents_slip: self.contact_options.prevents_slip,
            ..MujocoContact::from_solver_parameters(solref, solimp)
        })
    }
}

/// Reads finite numbers, of which those that are missing have defaults.
fn overlaid<const N: usize>(
    node: ElementRef<'_>,
    name: &str,
    default: [f64; N],
) -> Parsed<[f64; N]> {
    let given = node.numbers_over_defaults(name)?;
    let mut numbers = default;
    for (number, given) in numbers.iter_mut().zip(&given) {
        *number = *given;
    }
    match numbers.iter().find(|x| !x.is_finite()) {
        None => Ok(numbers),
        Some(bad) => {
            let message = format!("attribute '{name}' must have finite numbers, got {bad:?}");
            Err(node.error_at(name, message))
        }
    }
}

/// Reads the dimension of contacts, and warns about those that resist more than sliding.
pub(super) fn read_condim(node: ElementRef<'_>) -> Parsed<Option<f64>> {
    let condim = node.number("condim")?;
    if let Some(condim) = condim.filter(|c| *c > 3.0) {
        let message = format!(
            "condim={condim:?} acts as condim=3: torsional and rolling friction are not supported"
        );
        node.warning_grouped("condim", message);
    }
    Ok(condim)
}

/// Reads the sliding friction of a geom.
fn read_friction(node: ElementRef<'_>, warn_of_others: bool) -> Parsed<CoulombFriction> {
    let numbers = node.numbers("friction")?.unwrap_or_default();
    if numbers.len() > 1 && warn_of_others {
        let message = "torsional and rolling friction are ignored: only sliding friction is \
                       supported";
        node.warning_grouped("friction", message);
    }
    let mu = numbers.first().copied().unwrap_or(1.0);
    CoulombFriction::new(mu, mu).map_err(|e| node.error_at("friction", e))
}
