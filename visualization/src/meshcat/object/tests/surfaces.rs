//! Lines, surfaces and points in cases that were not recorded.

use super::files::PNG;
use super::*;
use nalgebra::{DMatrix, Vector3};
use proptest::prelude::*;
use tarragon_sensors::{BaseField, PointCloud};

fn dark() -> SurfaceStyle {
    SurfaceStyle::default()
}

fn wires() -> SurfaceStyle {
    SurfaceStyle {
        wireframe: true,
        ..dark()
    }
}

/// The order in which pydrake 1.51 draws the elements of grids, numbered row by row.
#[test]
fn wireframes_are_one_continuous_line_in_drakes_order() {
    let server = Server::default();
    for (rows, columns, expected) in [
        (1, 3, vec![0, 1, 2, 2, 1, 0]),
        (3, 1, vec![0, 1, 2, 2, 1, 0]),
        (2, 2, vec![0, 1, 3, 2, 2, 0, 1, 3]),
        (3, 2, vec![0, 1, 3, 2, 4, 5, 5, 3, 1, 0, 2, 4]),
        (
            3,
            3,
            vec![0, 1, 2, 5, 4, 3, 6, 7, 8, 8, 5, 2, 1, 4, 7, 6, 3, 0],
        ),
        (
            5,
            4,
            vec![
                0, 1, 2, 3, 7, 6, 5, 4, 8, 9, 10, 11, 15, 14, 13, 12, 16, 17, 18, 19, 19, 15, 11,
                7, 3, 2, 6, 10, 14, 18, 17, 13, 9, 5, 1, 0, 4, 8, 12, 16,
            ],
        ),
    ] {
        let x = DMatrix::from_fn(rows, columns, |r, c| (r * columns + c) as f64);
        let object = plot_surface(&server.encoder(), &x, &x, &x, &wires()).unwrap();
        let points = floats(at(&decoded(object), POSITIONS));
        let found: Vec<i32> = points.chunks(3).map(|p| p[0] as i32).collect();
        assert_eq!(found, expected, "{rows} x {columns}");
    }
}

proptest! {
    /// The triangles of a grid cover it once, and all face the same side.
    #[test]
    fn triangles_cover_the_grid(rows in 2usize..9, columns in 2usize..9) {
        let server = Server::default();
        let x = DMatrix::from_fn(rows, columns, |_, c| c as f64);
        let y = DMatrix::from_fn(rows, columns, |r, _| r as f64);
        let object = plot_surface(&server.encoder(), &x, &y, &(&x * 0.0), &dark()).unwrap();
        let object = decoded(object);
        let points = floats(at(&object, POSITIONS));
        prop_assert_eq!(points.len(), 3 * rows * columns);
        let corner = |i: u32| [points[3 * i as usize], points[3 * i as usize + 1]];
        let triangles = indices(at(&object, INDEX));
        prop_assert_eq!(triangles.len(), 6 * (rows - 1) * (columns - 1));
        for t in triangles.chunks(3) {
            let [a, b, c] = [t[0], t[1], t[2]].map(corner);
            let doubled = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
            prop_assert_eq!(doubled, -1.0, "half a cell, always with the same orientation");
        }
    }
}

#[test]
fn matrices_of_wrong_sizes_are_rejected() {
    let server = Server::default();
    let e = &server.encoder();
    let m = |r, c| DMatrix::<f64>::zeros(r, c);
    refused(
        plot_surface(e, &m(2, 3), &m(2, 3), &m(3, 2), &dark()),
        &[
            "plot_surface: X, Y and Z must have the same numbers of rows and columns, got 2 x 3, 2 x 3 and 3 x 2",
        ],
    );
    refused(
        plot_surface(e, &m(1, 3), &m(1, 3), &m(1, 3), &dark()),
        &["must have at least 2 rows and 2 columns, got 1 row and 3 columns"],
    );
    let nothing = m(0, 3);
    refused(
        plot_surface(e, &nothing, &nothing, &nothing, &wires()),
        &["at least 1 row", "got 0 rows"],
    );
}

#[test]
fn faces_and_colours_are_checked() {
    let server = Server::default();
    let e = &server.encoder();
    let vertices = [Vector3::zeros(), Vector3::x(), Vector3::y()];
    refused(
        triangle_mesh(e, &vertices, &[[0, 1, 2], [0, 1, 3]], &dark()),
        &["set_triangle_mesh: the vertices of faces[1] must exist, got [0, 1, 3] for 3 vertices"],
    );
    let faces = [[0, 1, 2]];
    refused(
        triangle_color_mesh(e, &vertices, &faces, &[[0.0; 3]; 2], &dark()),
        &["there must be one color per vertex, got 2 colors for 3 vertices"],
    );
    for wrong in [1.5, -0.1, f64::NAN] {
        let colors = [[0.0; 3], [0.0, wrong, 0.0], [1.0; 3]];
        refused(
            triangle_color_mesh(e, &vertices, &faces, &colors, &dark()),
            &["colors[1] must have values from 0 to 1", "got [0.0, "],
        );
    }
    let thin = SurfaceStyle {
        wireframe_line_width: -1.0,
        ..dark()
    };
    refused(
        triangle_mesh(e, &vertices, &faces, &thin),
        &["wireframe_line_width must be a positive finite number of pixels, got -1.0"],
    );
}

/// Without an index, three.js would treat the vertices themselves as triangles.
#[test]
fn a_surface_without_faces_shows_nothing() {
    let server = Server::default();
    let vertices = [Vector3::zeros(), Vector3::x(), Vector3::y()];
    let object = triangle_mesh(&server.encoder(), &vertices, &[], &dark()).unwrap();
    assert_eq!(indices(at(&decoded(object), INDEX)), [0u32; 0]);
}

#[test]
fn vertex_colours_keep_the_opacity_of_the_style() {
    let server = Server::default();
    let vertices = [Vector3::zeros(), Vector3::x(), Vector3::y()];
    let style = SurfaceStyle {
        rgba: Some(rgba(1.0, 0.0, 0.0, 0.25)),
        ..dark()
    };
    let e = &server.encoder();
    let object = triangle_color_mesh(e, &vertices, &[[0, 1, 2]], &[[0.5; 3]; 3], &style).unwrap();
    let object = decoded(object);
    let material = at(&object, "materials.0");
    assert_eq!(at(material, "opacity").as_f64(), Some(0.25));
    assert_eq!(at(material, "transparent").as_bool(), Some(true));
    assert_eq!(at(material, "color").as_u64(), Some(0xe5e5e5));
}

#[test]
fn lines_are_checked_and_may_be_translucent() {
    let server = Server::default();
    let e = &server.encoder();
    let points = [Vector3::zeros(), Vector3::x()];
    refused(
        line_segments(e, &points, &points[..1], 1.0, grey()),
        &["set_line_segments: there must be as many starts as ends, got 2 starts and 1 ends"],
    );
    for width in [0.0, f64::NAN, f64::INFINITY] {
        let expected = [
            "the line width must be",
            "a positive finite number of pixels, got",
        ];
        refused(line(e, &points, width, grey()), &expected);
        refused(line_segments(e, &points, &points, width, grey()), &expected);
    }
    let object = decoded(line(e, &points, 1.0, rgba(1.0, 1.0, 1.0, 0.5)).unwrap());
    assert_eq!(at(&object, "materials.0.opacity").as_f64(), Some(0.5));
    assert_eq!(at(&object, "materials.0.transparent").as_bool(), Some(true));
    let empty = decoded(line(e, &[], 1.0, grey()).unwrap());
    assert_eq!(floats(at(&empty, POSITIONS)), [0f32; 0]);
}

#[test]
fn points_that_are_not_finite_are_left_out_with_their_colours() {
    let server = Server::default();
    let e = &server.encoder();
    let mut cloud = PointCloud::new(4, BaseField::XYZS | BaseField::RGBS);
    let p = Vector3::new;
    cloud.xyzs_mut().copy_from_slice(&[
        p(0.0, f32::NAN, 0.0),
        p(1.0, 2.0, 3.0),
        p(f32::INFINITY, 0.0, 0.0),
        p(4.0, 5.0, 6.0),
    ]);
    let colors = [[9; 3], [1, 2, 3], [9; 3], [100, 254, 255]];
    cloud.rgbs_mut().copy_from_slice(&colors);
    let object = decoded(point_cloud(e, &cloud, 0.001, grey()).unwrap());
    assert_eq!(
        floats(at(&object, POSITIONS)),
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    );
    // Values that pydrake 1.51 sends for these colours.
    let sent: [f32; 6] = [
        0.003_921_569,
        0.007_843_138,
        0.011_764_706,
        0.392_156_87,
        0.996_078_43,
        1.0,
    ];
    let colors = at(&object, "geometries.0.data.attributes.color.array");
    assert_eq!(floats(colors), sent);

    let object =
        decoded(point_cloud(e, &PointCloud::new(0, BaseField::XYZS), 0.1, grey()).unwrap());
    assert_eq!(floats(at(&object, POSITIONS)), [0f32; 0]);
    refused(
        point_cloud(e, &PointCloud::new(3, BaseField::NORMALS), 0.1, grey()),
        &["must have positions", "BaseField::XYZS"],
    );
    refused(
        point_cloud(e, &cloud, 0.0, grey()),
        &["the point size must be", "metres, got 0.0"],
    );
}

/// Numbers that are not finite would reach the page, which then could not compute the bounds of the
/// object.
#[test]
fn points_that_are_not_finite_leave_gaps() {
    let server = Server::default();
    let e = &server.encoder();
    let p = |x: f64| Vector3::new(x, 0.0, 0.0);
    let points = [
        p(0.0),
        p(1.0),
        p(f64::NAN),
        p(2.0),
        p(1e300),
        p(3.0),
        p(4.0),
    ];
    let object = decoded(line(e, &points, 1.0, grey()).unwrap());
    assert_eq!(at(&object, "object.type").as_str(), Some("LineSegments"));
    let xs = |object: &Value| -> Vec<f32> {
        floats(at(object, POSITIONS))
            .chunks(3)
            .map(|p| p[0])
            .collect()
    };
    assert_eq!(xs(&object), [0.0, 1.0, 3.0, 4.0]);
    let object = line_segments(e, &points[..3], &points[3..6], 1.0, grey()).unwrap();
    assert_eq!(xs(&decoded(object)), [0.0, 2.0]);

    let faces = [[0, 1, 3], [1, 2, 3], [3, 4, 5], [3, 5, 6]];
    let object = decoded(triangle_mesh(e, &points, &faces, &dark()).unwrap());
    assert_eq!(indices(at(&object, INDEX)), [0, 1, 3, 3, 5, 6]);
    assert_eq!(xs(&object), [0.0, 1.0, 0.0, 2.0, 0.0, 3.0, 4.0]);
    let nowhere = [p(f64::NAN); 3];
    let object = decoded(triangle_mesh(e, &nowhere, &[[0, 1, 2]], &dark()).unwrap());
    assert_eq!(
        (indices(at(&object, INDEX)).len(), xs(&object)),
        (0, vec![0.0; 3])
    );

    // A corner of a grid is missing: one triangle of its cell, or two lines of the wireframe.
    let x = DMatrix::from_fn(2, 3, |r, c| (3 * r + c) as f64);
    let mut z = &x * 0.0;
    z[(0, 0)] = f64::NAN;
    let object = decoded(plot_surface(e, &x, &x, &z, &dark()).unwrap());
    assert_eq!(indices(at(&object, INDEX)), [1, 3, 2, 2, 3, 4, 3, 5, 4]);
    let object = decoded(plot_surface(e, &x, &x, &z, &wires()).unwrap());
    let pairs = xs(&object);
    assert!(!pairs.contains(&0.0));
    assert_eq!(pairs[..8], [1.0, 2.0, 2.0, 5.0, 5.0, 4.0, 4.0, 3.0]);
}

/// Drake's defaults.
#[test]
fn each_function_has_its_own_default_colour() {
    let server = Server::default();
    let e = &server.encoder();
    let x = DMatrix::from_fn(2, 2, |r, _| r as f64);
    let y = x.transpose();
    let color = |object: Result<Object>| {
        let object = decoded(object.unwrap());
        at(&object, "materials.0.color").as_u64()
    };
    for (style, plotted, mesh) in [
        (dark(), rgba(0.1, 0.1, 0.9, 1.0), rgba(0.1, 0.1, 0.1, 1.0)),
        (wires(), rgba(0.1, 0.1, 0.9, 1.0), rgba(0.1, 0.1, 0.1, 1.0)),
    ] {
        let found = color(plot_surface(e, &x, &y, &x, &style));
        assert_eq!(found, Some(material::hex(plotted)));
        let corners = [Vector3::zeros(), Vector3::x(), Vector3::y()];
        let found = color(triangle_mesh(e, &corners, &[[0, 1, 2]], &style));
        assert_eq!(found, Some(material::hex(mesh)));
    }
    let green = SurfaceStyle {
        rgba: Some(rgba(0.0, 1.0, 0.0, 1.0)),
        ..dark()
    };
    let found = color(plot_surface(e, &x, &y, &x, &green));
    assert_eq!(found, Some(0x00_ff_00));
}

/// A skin or an embedded surface may have an image, if its vertices have coordinates in it.
#[test]
fn driven_meshes_are_painted_with_an_image() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("wood.png");
    std::fs::write(&image, PNG).unwrap();
    let corners = [Vector3::zeros(), Vector3::x(), Vector3::y()];
    let encoded = |uv_indices: [u32; 3], file: &str| {
        let mesh = RenderMesh {
            positions: corners.map(Into::into).to_vec(),
            normals: vec![Vector3::z()],
            triangles: vec![[0, 1, 2], [0, 2, 1]],
            triangle_normals: vec![[0; 3]; 2],
            uvs: vec![[0.0, 0.25], [0.5, 0.75], [1.0, 0.0]],
            triangle_uvs: vec![uv_indices, [0, 2, 1]],
            ..RenderMesh::default()
        };
        let map = (folder.path().join(file), rgba(1.0, 0.5, 0.0, 0.25));
        let paint = Paint::new(grey(), Some(&map));
        let server = Server::default();
        let e = &server.encoder();
        decoded(driven_mesh(e, &Arc::new(mesh), &corners, paint).unwrap())
    };
    let object = encoded([0, 1, 2], "wood.png");
    let uv = at(&object, "geometries.0.data.attributes.uv");
    assert_eq!(at(uv, "itemSize").as_u64(), Some(2));
    assert_eq!(floats(at(uv, "array")), [0.0, 0.25, 0.5, 0.75, 1.0, 0.0]);
    let text = |path: &str| at(&object, path).as_str().unwrap().to_owned();
    assert_eq!(text("images.0.url"), "data:image/png;base64,iVBORw0KGgo=");
    assert_eq!(text("textures.0.image"), text("images.0.uuid"));
    assert_eq!(text("materials.0.map"), text("textures.0.uuid"));
    assert_eq!(at(&object, "materials.0.color").as_u64(), Some(0xff7f00));
    assert_eq!(at(&object, "materials.0.opacity").as_f64(), Some(0.25));
    // Without the image, or with two pairs of coordinates at a vertex, the mesh has its colour.
    for object in [
        encoded([0, 1, 2], "missing.png"),
        encoded([1, 1, 2], "wood.png"),
        encoded([RenderMesh::NO_UV, 1, 2], "wood.png"),
    ] {
        assert_eq!(at(&object, "materials.0.color").as_u64(), Some(0xe5e5e5));
        assert_eq!(
            keys(&object),
            ["metadata", "geometries", "materials", "object"]
        );
    }
}
