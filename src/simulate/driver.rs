//! Drivers of models in a scenario: the sources of their actuation.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use tarragon::documents::yaml::Tagged;
use tarragon::multibody::PdControllerGains;

/// Driver of one model. In YAML, its tag selects it: `!ZeroForceDriver {}`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Driver {
    /// The efforts of motors are 0, controllers and servos hold the initial positions, and there
    /// are no sliders.
    ZeroForce,
    /// Built-in controllers hold the initial positions; gains by actuator.
    JointStiffness(BTreeMap<String, PdControllerGains>),
    /// One of Drake's drivers that does not exist here, by name.
    Unsupported(String),
}

/// Keys of all drivers; those of unsupported ones are not looked at.
#[derive(Default, Deserialize)]
#[serde(default)]
struct DriverKeys {
    gains: BTreeMap<String, GainKeys>,
    #[serde(flatten)]
    others: BTreeMap<String, IgnoredAny>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct GainKeys {
    p: f64,
    d: f64,
}

impl<'de> Deserialize<'de> for Driver {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Tagged { value, tag } = Tagged::<Option<DriverKeys>>::deserialize(deserializer)?;
        let keys = value.unwrap_or_default();
        let unknown = |key: &str, driver: &str| {
            Err(de::Error::custom(format!("{driver} has no key '{key}'")))
        };
        match tag.as_deref() {
            Some(name @ "!ZeroForceDriver") => {
                let gains = keys.gains.keys().next().map(|_| "gains");
                match gains.or(keys.others.keys().next().map(String::as_str)) {
                    Some(key) => unknown(key, &name[1..]),
                    None => Ok(Self::ZeroForce),
                }
            }
            Some(name @ "!JointStiffnessDriver") => {
                if let Some(key) = keys.others.keys().next() {
                    return unknown(key, &name[1..]);
                }
                let gains = keys.gains.into_iter();
                let gains =
                    gains.map(|(name, GainKeys { p, d })| (name, PdControllerGains { p, d }));
                Ok(Self::JointStiffness(gains.collect()))
            }
            Some(name @ ("!IiwaDriver" | "!SchunkWsgDriver")) => {
                Ok(Self::Unsupported(name[1..].into()))
            }
            tag => Err(de::Error::custom(format!(
                "the tag of a driver must be !ZeroForceDriver or !JointStiffnessDriver, got {}",
                tag.unwrap_or("none")
            ))),
        }
    }
}
