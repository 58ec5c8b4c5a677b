//! Comparison of messages.

use tarragon_lcm::types::{LcmtViewerDraw, LcmtViewerGeometryData, LcmtViewerLoadRobot};

/// Compares two numbers that were rounded from f64 to f32; the last bits may differ.
fn close(a: f32, b: f32) -> bool {
    (a - b).abs() <= 4.0 * f32::EPSILON * (1.0 + a.abs())
}

fn all_close(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(*a, *b))
}

/// Compares two rotations; a half turn is the same with either sign.
fn same_rotation(a: &[f32; 4], b: &[f32; 4]) -> bool {
    all_close(a, b) || (close(a[0], 0.0) && all_close(&a.map(|x| -x), b))
}

/// Three vertices.
type Triangle = [[f32; 3]; 3];

/// Returns the triangles of an inline mesh. Checks that each has its own vertices, in order.
pub(crate) fn triangles(data: &LcmtViewerGeometryData) -> Vec<Triangle> {
    let [vertices, count, floats @ ..] = &data.float_data[..] else {
        panic!("{data:?}");
    };
    assert_eq!(*vertices, 3.0 * count);
    let (positions, indices) = floats.split_at(3 * *vertices as usize);
    let expected: Vec<f32> = (0..*vertices as usize).map(|i| i as f32).collect();
    assert_eq!(indices, expected);
    let (points, _) = positions.as_chunks::<3>();
    points.as_chunks::<3>().0.to_vec()
}

/// Returns whether two surfaces have the same oriented triangles, in any order.
pub(crate) fn same_triangles(a: &[Triangle], b: &[Triangle]) -> bool {
    let same = |a: &Triangle, b: &Triangle| {
        (0..3).any(|turn| (0..3).all(|i| all_close(&a[i], &b[(i + turn) % 3])))
    };
    let mut left: Vec<&Triangle> = b.iter().collect();
    let found = a.iter().all(|a| {
        let at = left.iter().position(|b| same(a, b));
        at.map(|at| left.swap_remove(at)).is_some()
    });
    found && left.is_empty()
}

fn is_inline(data: &LcmtViewerGeometryData) -> bool {
    data.r#type == LcmtViewerGeometryData::MESH && data.string_data.is_empty()
}

/// Compares load messages field by field. The order of triangles is not specified by Drake.
pub(crate) fn assert_same_load(ours: &LcmtViewerLoadRobot, theirs: &LcmtViewerLoadRobot) {
    let links = |load: &LcmtViewerLoadRobot| -> Vec<(String, i32, usize)> {
        let links = load.link.iter();
        links
            .map(|l| (l.name.clone(), l.robot_num, l.geom.len()))
            .collect()
    };
    assert_eq!(links(ours), links(theirs));
    let geometries = |load: &LcmtViewerLoadRobot| {
        let links = load.link.clone().into_iter();
        links.flat_map(|l| l.geom).collect::<Vec<_>>()
    };
    for (a, b) in geometries(ours).iter().zip(&geometries(theirs)) {
        let fields = |g: &LcmtViewerGeometryData| (g.r#type, g.string_data.clone(), g.color);
        assert_eq!(fields(a), fields(b));
        assert!(all_close(&a.position, &b.position), "{a:?}\n{b:?}");
        assert!(same_rotation(&a.quaternion, &b.quaternion), "{a:?}\n{b:?}");
        if is_inline(b) {
            let (ours, theirs) = (triangles(a), triangles(b));
            assert_eq!(ours.len(), theirs.len(), "{a:?}\n{b:?}");
            assert!(same_triangles(&ours, &theirs), "{ours:?}\n{theirs:?}");
        } else {
            assert_eq!(a.float_data, b.float_data);
        }
    }
}

/// Compares draw messages field by field. Drake cuts its timestamps, and we round ours.
pub(crate) fn assert_same_draw(ours: &LcmtViewerDraw, theirs: &LcmtViewerDraw) {
    assert!(
        [0, 1].contains(&(ours.timestamp - theirs.timestamp)),
        "{} ms must equal {} ms, rounded",
        ours.timestamp,
        theirs.timestamp
    );
    let names = |d: &LcmtViewerDraw| (d.link_name.clone(), d.robot_num.clone());
    assert_eq!(names(ours), names(theirs));
    for i in 0..ours.link_name.len() {
        let (a, b) = (ours.position[i], theirs.position[i]);
        assert!(all_close(&a, &b), "link {i}: {a:?} must equal {b:?}");
        let (a, b) = (ours.quaternion[i], theirs.quaternion[i]);
        assert!(same_rotation(&a, &b), "link {i}: {a:?} must equal {b:?}");
    }
}
