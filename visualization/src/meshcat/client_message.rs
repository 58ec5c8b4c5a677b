//! Messages from pages: untrusted bytes.

use super::drag::Drag;
use nalgebra::Vector3;
use rmpv::Value;

/// Maximum depth of nesting in a message.
const MAX_DEPTH: usize = 8;
/// Maximum number of buttons or axes of a gamepad.
const MAX_GAMEPAD: usize = 256;

/// State of a gamepad, as reported by the page's browser.
///
/// The order of buttons and axes is that of the [W3C's standard
/// mapping](https://w3c.github.io/gamepad/#remapping).
///
/// ```
/// use tarragon_visualization::Gamepad;
/// assert_eq!(Gamepad::default().index, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gamepad {
    /// Index of the device in the browser; `None` until a gamepad was used.
    pub index: Option<u32>,
    /// How far each button is pressed, from 0 to 1.
    pub button_values: Vec<f64>,
    /// Axes of the sticks, from -1 to 1. In the standard mapping: left x, left y, right x, right y.
    pub axes: Vec<f64>,
}

/// A message from a page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ClientMessage {
    Button {
        name: String,
    },
    Slider {
        name: String,
        value: f64,
    },
    Gamepad(Gamepad),
    Drag(Drag),
    /// End of a drag.
    Drop,
    /// Pose of the camera in three.js's world, column by column.
    CameraPose {
        matrix: Box<[f64; 16]>,
        is_perspective: bool,
    },
}

impl ClientMessage {
    /// Decodes a binary message. The error describes the problem in the message.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, String> {
        let mut rest = bytes;
        let value = rmpv::decode::read_value_with_max_depth(&mut rest, MAX_DEPTH)
            .map_err(|e| format!("not msgpack: {e}"))?;
        let fields = Fields(value);
        match fields.text("type")? {
            "button" => Ok(Self::Button {
                name: fields.text("name")?.into(),
            }),
            "slider" => Ok(Self::Slider {
                name: fields.text("name")?.into(),
                value: fields.number("value")?,
            }),
            "gamepad" => Ok(Self::Gamepad(gamepad(&fields)?)),
            "drag" => Ok(Self::Drag(Drag {
                path: fields.text("path")?.into(),
                point: fields.point("point")?,
                target: fields.point("target")?,
            })),
            "drop" => Ok(Self::Drop),
            "camera_pose" => {
                let numbers = fields.numbers("camera_pose", 16)?;
                let matrix = <[f64; 16]>::try_from(numbers);
                let matrix = matrix
                    .map_err(|n| format!("'camera_pose' must have 16 numbers, got {}", n.len()))?;
                let is_perspective = fields.get("is_perspective")?.as_bool();
                Ok(Self::CameraPose {
                    matrix: matrix.into(),
                    is_perspective: is_perspective.ok_or("'is_perspective' is not a boolean")?,
                })
            }
            other => Err(format!(
                "the type must be button, slider, gamepad, drag, drop or camera_pose, got '{}'",
                other.escape_debug().take(40).collect::<String>()
            )),
        }
    }
}

fn gamepad(fields: &Fields) -> Result<Gamepad, String> {
    let Value::Map(map) = fields.get("gamepad")? else {
        return Err("'gamepad' is not a map".into());
    };
    if map.is_empty() {
        return Ok(Gamepad::default());
    }
    let fields = Fields(Value::Map(map.clone()));
    let index = fields.number("index")?;
    if !(index >= 0.0 && index <= f64::from(u32::MAX) && index.fract() == 0.0) {
        return Err(format!("'index' must be a whole number, got {index:?}"));
    }
    Ok(Gamepad {
        index: Some(index as u32),
        button_values: fields.numbers("button_values", MAX_GAMEPAD)?,
        axes: fields.numbers("axes", MAX_GAMEPAD)?,
    })
}

/// Fields of a map.
struct Fields(Value);

impl Fields {
    fn get(&self, key: &str) -> Result<&Value, String> {
        let map = self.0.as_map().ok_or("not a map")?;
        let found = map.iter().find(|(k, _)| k.as_str() == Some(key));
        Ok(&found.ok_or_else(|| format!("no field '{key}'"))?.1)
    }
    fn text(&self, key: &str) -> Result<&str, String> {
        let text = self.get(key)?.as_str();
        text.ok_or_else(|| format!("'{key}' is not a text"))
    }
    fn number(&self, key: &str) -> Result<f64, String> {
        number(self.get(key)?).ok_or_else(|| format!("'{key}' is not a finite number"))
    }
    fn point(&self, key: &str) -> Result<Vector3<f64>, String> {
        let numbers = <[f64; 3]>::try_from(self.numbers(key, 3)?);
        let numbers =
            numbers.map_err(|n| format!("'{key}' must have 3 numbers, got {}", n.len()))?;
        Ok(numbers.into())
    }
    fn numbers(&self, key: &str, max: usize) -> Result<Vec<f64>, String> {
        let array = self.get(key)?.as_array();
        let array = array.ok_or_else(|| format!("'{key}' is not an array"))?;
        if array.len() > max {
            return Err(format!(
                "'{key}' must have at most {max} numbers, got {}",
                array.len()
            ));
        }
        let numbers: Option<Vec<f64>> = array.iter().map(number).collect();
        numbers.ok_or_else(|| format!("'{key}' has an element that is not a finite number"))
    }
}

/// Reads a number; JavaScript sends whole numbers as integers.
fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Integer(n) => n.as_f64()?,
        Value::F32(x) => f64::from(*x),
        Value::F64(x) => *x,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(hex: &str) -> Result<ClientMessage, String> {
        let byte = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        ClientMessage::decode(&bytes)
    }

    /// Frames sent by a browser with Drake's page.
    #[test]
    fn recorded_frames_are_decoded() {
        assert_eq!(
            decode("82a474797065a6627574746f6ea46e616d65a362746e"),
            Ok(ClientMessage::Button { name: "btn".into() })
        );
        assert_eq!(
            decode("83a474797065a6736c69646572a46e616d65a2736ca576616c7565cb3fe3333333333334"),
            Ok(ClientMessage::Slider {
                name: "sl".into(),
                value: 0.6000000000000001
            })
        );
        assert_eq!(
            decode(
                "83a474797065a767616d65706164a46e616d65a0a767616d6570616483a5696e64657800ad627574746f6e5f\
                 76616c7565739201cb3fbeb851eb851eb8a46178657392cb3fd51eb851eb851fff"
            ),
            Ok(ClientMessage::Gamepad(Gamepad {
                index: Some(0),
                button_values: vec![1.0, 0.12],
                axes: vec![0.33, -1.0]
            }))
        );
        assert_eq!(
            decode("83a474797065a767616d65706164a46e616d65a0a767616d6570616480"),
            Ok(ClientMessage::Gamepad(Gamepad::default()))
        );
        let pose = decode(
            "83a474797065ab63616d6572615f706f7365ab63616d6572615f706f7365dc00100100000000cb3fee5b9d136c6d96\
             cbbfd43d136248490f0000cb3fd43d136248490fcb3fee5b9d136c6d960000010301ae69735f7065727370656374697665c3",
        );
        let Ok(ClientMessage::CameraPose {
            matrix,
            is_perspective: true,
        }) = pose
        else {
            panic!("{pose:?}");
        };
        assert_eq!(matrix[12..], [0.0, 1.0, 3.0, 1.0]);
        assert_eq!(matrix[5], 0.9486832980505138);
    }

    #[test]
    fn errors_describe_the_problem() {
        let message = |write: &dyn Fn(&mut crate::meshcat::msgpack::Writer)| {
            let mut w = crate::meshcat::msgpack::Writer::default();
            write(&mut w);
            ClientMessage::decode(&w.into_inner()).unwrap_err()
        };
        assert_eq!(
            message(&|w| {
                w.uint(5);
            }),
            "not a map"
        );
        assert_eq!(
            message(&|w| {
                w.map(0);
            }),
            "no field 'type'"
        );
        assert_eq!(
            message(&|w| {
                w.map(1).key_str("type", "reboot");
            }),
            "the type must be button, slider, gamepad, drag, drop or camera_pose, got 'reboot'"
        );
        assert_eq!(
            message(&|w| {
                w.map(3).key_str("type", "slider").key_str("name", "q");
                w.key_f64("value", f64::NAN);
            }),
            "'value' is not a finite number"
        );
        // False lengths and endless nesting.
        assert!(ClientMessage::decode(&[0xdd, 0xff, 0xff, 0xff, 0xff]).is_err());
        assert!(ClientMessage::decode(&[0x91; 100_000]).is_err());
        assert!(ClientMessage::decode(&[]).is_err());
    }
}
