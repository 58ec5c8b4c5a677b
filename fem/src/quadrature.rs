//! Points of elements where force densities are evaluated.

/// Barycentric coordinates of the centroids of the parts of a tetrahedron that is divided into
/// four of equal volume at its centroid, and each part again, `count` times.
pub(super) fn quadrature_points(count: u32) -> Vec<[f64; 4]> {
    let mut parts = vec![[
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]];
    for _ in 0..count {
        let divided = parts.iter().flat_map(|part| {
            let center = centroid(part);
            (0..4).map(move |k| {
                let mut smaller = *part;
                smaller[k] = center;
                smaller
            })
        });
        parts = divided.collect();
    }
    parts.iter().map(centroid).collect()
}

fn centroid(part: &[[f64; 4]; 4]) -> [f64; 4] {
    std::array::from_fn(|i| part.iter().map(|vertex| vertex[i]).sum::<f64>() / 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quadrature_points_are_as_many_as_parts_and_have_the_centroid_on_average() {
        for count in 0..=4 {
            let points = quadrature_points(count);
            assert_eq!(points.len(), 4_usize.pow(count));
            for i in 0..4 {
                let mean = points.iter().map(|p| p[i]).sum::<f64>() / points.len() as f64;
                assert!((mean - 0.25).abs() < 1e-14);
            }
        }
    }
}
