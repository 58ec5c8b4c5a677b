//! The extension `KHR_texture_transform`.

use gltf::json::Value;

/// Name of the extension.
pub(super) const NAME: &str = "KHR_texture_transform";

/// Transformation of texture coordinates.
#[derive(Debug, PartialEq)]
pub(super) struct TextureTransform {
    /// Rows of the matrix that maps `(u, v, 1)`, with v up.
    pub(super) matrix: [[f64; 3]; 2],
    /// Number of the set of texture coordinates, if it replaces that of the texture.
    pub(super) uv_set: Option<u32>,
}

impl TextureTransform {
    /// Reads the transformation; the identity if there is none.
    ///
    /// # Errors
    /// Returns what is invalid, to be read after the place of the texture.
    pub(super) fn read(extension: Option<&Value>) -> Result<Self, String> {
        let member = |name: &str| extension.and_then(|e| e.get(name));
        let wrong = |name: &str, expected: &str, found: &Value| {
            let found: String = found.to_string().chars().take(40).collect();
            format!("has a {NAME} whose {name} must be {expected}, got {found}")
        };
        let pair = |name: &str, otherwise: f64| {
            let Some(value) = member(name) else {
                return Ok([otherwise; 2]);
            };
            let numbers = value.as_array().filter(|all| all.len() == 2);
            let numbers = numbers.and_then(|all| Some([all[0].as_f64()?, all[1].as_f64()?]));
            numbers.ok_or_else(|| wrong(name, "two numbers", value))
        };
        let ([tu, tv], [su, sv]) = (pair("offset", 0.0)?, pair("scale", 1.0)?);
        let angle = member("rotation").map(|value| {
            let angle = value.as_f64();
            angle.ok_or_else(|| wrong("rotation", "a number", value))
        });
        let uv_set = member("texCoord").map(|value| {
            let set = value.as_u64().and_then(|set| u32::try_from(set).ok());
            set.ok_or_else(|| wrong("texCoord", "a number of a set", value))
        });
        let (sin, cos) = angle.transpose()?.unwrap_or(0.0).sin_cos();
        // Rows for v down, as in the file; the rotation is counter-clockwise there.
        let u = [cos * su, sin * sv, tu];
        let v = [-sin * su, cos * sv, tv];
        let matrix = [[u[0], -u[1], u[1] + u[2]], [-v[0], v[1], 1.0 - v[1] - v[2]]];
        if matrix.iter().flatten().all(|x| x.is_finite()) {
            Ok(Self {
                matrix,
                uv_set: uv_set.transpose()?,
            })
        } else {
            Err(format!("has a {NAME} whose numbers are too large"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Transforms coordinates that are given with v down, as in the file.
    fn mapped(extension: &Value, [u, v]: [f64; 2]) -> [f64; 2] {
        let rows = TextureTransform::read(Some(extension)).unwrap().matrix;
        let [u, v] = rows.map(|row| row[0] * u + row[1] * (1.0 - v) + row[2]);
        [u, 1.0 - v]
    }

    #[test]
    fn coordinates_are_scaled_then_rotated_then_moved() {
        let close = |a: [f64; 2], b: [f64; 2]| {
            assert!(
                (a[0] - b[0]).abs() + (a[1] - b[1]).abs() < 1e-12,
                "{a:?}, not {b:?}"
            );
        };
        let none = TextureTransform::read(None).unwrap();
        assert_eq!(none.matrix, crate::mesh::Texture::UNTRANSFORMED);
        close(
            mapped(&json!({"offset": [0.5, 0.25]}), [0.1, 0.2]),
            [0.6, 0.45],
        );
        close(
            mapped(&json!({"scale": [2.0, 3.0]}), [0.1, 0.2]),
            [0.2, 0.6],
        );
        // A quarter turn takes v, which points down, to u.
        let turn = json!({"rotation": std::f64::consts::FRAC_PI_2});
        close(mapped(&turn, [0.0, 1.0]), [1.0, 0.0]);
        close(mapped(&turn, [1.0, 0.0]), [0.0, -1.0]);
        let all = json!({"rotation": std::f64::consts::FRAC_PI_2, "scale": [2.0, 3.0],
            "offset": [10.0, 20.0], "texCoord": 1});
        close(mapped(&all, [1.0, 1.0]), [13.0, 18.0]);
        assert_eq!(TextureTransform::read(Some(&all)).unwrap().uv_set, Some(1));
    }

    #[test]
    fn invalid_values_are_named() {
        for (value, expected) in [
            (
                json!({"offset": [1.0]}),
                "offset must be two numbers, got [1.0]",
            ),
            (json!({"scale": 2.0}), "scale must be two numbers, got 2.0"),
            (
                json!({"rotation": "a"}),
                "rotation must be a number, got \"a\"",
            ),
            (
                json!({"texCoord": -1}),
                "texCoord must be a number of a set, got -1",
            ),
            (
                json!({"scale": [1e308, 1e308], "offset": [1e308, 1e308]}),
                "too large",
            ),
        ] {
            let error = TextureTransform::read(Some(&value)).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
