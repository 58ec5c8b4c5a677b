//! Models and pictures made by code.

use std::f64::consts::{PI, TAU};
use std::fmt::Write;
use std::path::PathBuf;
use tarragon::geometry::{InMemoryMesh, MemoryFile, Mesh};
use tarragon::sensors::{ImageRgba8U, save_image};
use tempfile::TempDir;

/// Files that are gone with it.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
    fn picture(
        &self,
        name: &str,
        (width, height): (usize, usize),
        color: impl Fn(usize, usize) -> [f64; 4],
    ) -> PathBuf {
        let pixels = (0..width * height).flat_map(|i| color(i % width, i / width));
        let data = pixels
            .map(|c| (c.clamp(0.0, 1.0) * 255.0).round() as u8)
            .collect();
        let path = self.0.path().join(name);
        save_image(&ImageRgba8U::from_data(width, height, data).unwrap(), &path).unwrap();
        path
    }
    fn board(&self) {
        self.picture("board.png", (64, 64), |x, y| {
            let dark = (x / 8 + y / 8) % 2 == 1;
            let edge = x < 3 || y < 3 || x > 60 || y > 60;
            match (edge, dark) {
                (true, _) => [0.3, 0.15, 0.05, 1.0],
                (_, true) => [0.75, 0.45, 0.2, 1.0],
                _ => [0.95, 0.85, 0.6, 1.0],
            }
        });
    }

    /// A cube of side 0.8 m with a texture on every face.
    pub(crate) fn textured_cube(&self) -> PathBuf {
        self.board();
        self.write("cube.mtl", "newmtl board\nKd 1 1 1\nmap_Kd board.png\n");
        let mut obj = String::from("mtllib cube.mtl\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n");
        for k in 0..8 {
            let x = |axis: i32| if k >> axis & 1 == 0 { -0.4 } else { 0.4 };
            writeln!(obj, "v {} {} {}", x(0), x(1), x(2)).unwrap();
        }
        obj += "s off\nusemtl board\n";
        for f in [
            [1, 3, 4, 2],
            [5, 6, 8, 7],
            [1, 2, 6, 5],
            [3, 7, 8, 4],
            [1, 5, 7, 3],
            [2, 4, 8, 6],
        ] {
            let [a, b, c, d] = f;
            writeln!(obj, "f {a}/1 {b}/2 {c}/3 {d}/4").unwrap();
        }
        self.write("cube.obj", obj)
    }

    /// A plane with holes, cut out by the opacity of its texture.
    pub(crate) fn fence(&self) -> PathBuf {
        self.picture("bars.png", (32, 32), |x, y| {
            let bar = x % 8 < 3 || y % 16 < 3;
            [0.35, 0.2, 0.1, f64::from(u8::from(bar))]
        });
        self.write("fence.mtl", "newmtl bars\nKd 1 1 1\nmap_Kd bars.png\n");
        self.write(
            "fence.obj",
            "mtllib fence.mtl\nv -0.5 0 0\nv 0.5 0 0\nv 0.5 0 0.7\nv -0.5 0 0.7\nvt 0 0\nvt 1 0\n\
             vt 1 1\nvt 0 1\nvn 0 -1 0\nusemtl bars\nf 1/1/1 2/2/1 3/3/1 4/4/1\n",
        )
    }

    /// Half of a pipe without an end: its inside are back faces.
    pub(crate) fn half_pipe(&self) -> PathBuf {
        let n = 24;
        let mut obj = String::from("s 1\n");
        for i in 0..=n {
            let (s, c) = (PI * f64::from(i) / f64::from(n)).sin_cos();
            let (y, z) = (0.5 * c, 0.5 - 0.5 * s);
            writeln!(obj, "v -0.5 {y} {z}\nv 0.5 {y} {z}").unwrap();
        }
        for i in 0..n {
            let a = 2 * i + 1;
            writeln!(obj, "f {} {} {} {}", a, a + 1, a + 3, a + 2).unwrap();
        }
        self.write("pipe.obj", obj)
    }

    /// Evening over a meadow, with a low sun.
    pub(crate) fn sky(&self) -> PathBuf {
        self.picture("sky.png", (256, 128), |x, y| {
            let up = 1.0 - (y as f64 + 0.5) / 64.0;
            let sun = ((x as f64 - 96.0).powi(2) + (y as f64 - 44.0).powi(2)).sqrt();
            let glow = (-sun / 14.0).exp() + f64::from(u8::from(sun < 5.0));
            if up > 0.0 {
                let [r, g, b] = [0.85 - 0.6 * up, 0.75 - 0.3 * up, 0.8 + 0.1 * up];
                [r + glow, g + 0.8 * glow, b + 0.4 * glow, 1.0]
            } else {
                let stripe = 0.05 * ((x as f64 * TAU / 32.0).sin());
                [0.3 + stripe, 0.42 + stripe, 0.2, 1.0]
            }
        })
    }

    /// A sphere of 0.4 m in the metallic-roughness model.
    pub(crate) fn ball(&self, name: &str, metallic: f64, roughness: f64) -> PathBuf {
        let n: u32 = 24;
        let (mut bin, mut indices) = (Vec::new(), Vec::new());
        let mut positions = Vec::new();
        for i in 0..=n {
            for j in 0..=2 * n {
                let (a, b) = (
                    PI * f64::from(i) / f64::from(n),
                    PI * f64::from(j) / f64::from(n),
                );
                let p = [a.sin() * b.cos(), a.cos(), a.sin() * b.sin()];
                positions.push(p.map(|x| (0.4 * x) as f32));
                if i < n && j < 2 * n {
                    let k = |i: u32, j: u32| i * (2 * n + 1) + j;
                    let [a, b, c, d] = [k(i, j), k(i, j + 1), k(i + 1, j), k(i + 1, j + 1)];
                    indices.extend([a, b, c, b, d, c]);
                }
            }
        }
        positions
            .iter()
            .flatten()
            .for_each(|x| bin.extend(x.to_le_bytes()));
        let first = bin.len();
        // Normals are positions: they are normalized when they are read.
        indices.iter().for_each(|i| bin.extend(i.to_le_bytes()));
        self.write(&format!("{name}.bin"), &bin);
        self.write(&format!("{name}.gltf"), format!(
            r#"{{"asset": {{"version": "2.0"}}, "scenes": [{{"nodes": [0]}}], "nodes": [{{"mesh": 0}}],
            "buffers": [{{"byteLength": {}, "uri": "{name}.bin"}}],
            "bufferViews": [{{"buffer": 0, "byteLength": {first}}},
                            {{"buffer": 0, "byteOffset": {first}, "byteLength": {}}}],
            "accessors": [{{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": {}}},
                          {{"bufferView": 1, "componentType": 5125, "type": "SCALAR", "count": {}}}],
            "materials": [{{"pbrMetallicRoughness": {{"baseColorFactor": [0.9, 0.55, 0.3, 1],
                "metallicFactor": {metallic}, "roughnessFactor": {roughness}}}}}],
            "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0, "NORMAL": 0}}, "indices": 1,
                "material": 0}}]}}]}}"#,
            bin.len(),
            bin.len() - first,
            positions.len(),
            indices.len()
        ))
    }

    /// Three cubes on top of each other, each turned and smaller than the one below: a chain of
    /// nodes. The lowest has a texture, the middle one colours at its vertices, the upper one is
    /// black and smooth.
    pub(crate) fn gltf_tower(&self) -> PathBuf {
        self.board();
        let (mut bin, mut faces) = (Vec::<u8>::new(), Vec::new());
        for axis in 0..3 {
            for side in [-0.5_f32, 0.5] {
                for [u, v] in [[0.0_f32, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]] {
                    let mut p = [0.0; 3];
                    p[axis] = side;
                    p[(axis + 1) % 3] = u - 0.5;
                    p[(axis + 2) % 3] = v - 0.5;
                    let mut n = [0.0; 3];
                    n[axis] = 2.0 * side;
                    let color = p.map(|x| x + 0.5);
                    let all = p.into_iter().chain(n).chain([u, v]).chain(color);
                    all.for_each(|x| bin.extend(x.to_le_bytes()));
                }
                let a = faces.len() as u16 / 6 * 4;
                let turn = side < 0.0;
                for t in [[0, 1, 2], [0, 2, 3]] {
                    faces.extend(if turn { [t[0], t[2], t[1]] } else { t }.map(|k| a + k));
                }
            }
        }
        let first = bin.len();
        faces.iter().for_each(|i| bin.extend(i.to_le_bytes()));
        self.write("tower.bin", &bin);
        let accessor = |offset: u32, kind: &str| {
            format!(
                r#"{{"bufferView": 0, "byteOffset": {offset}, "componentType": 5126, "type": "{kind}", "count": 24}}"#
            )
        };
        let accessors = [(0, "VEC3"), (12, "VEC3"), (24, "VEC2"), (32, "VEC3")];
        let accessors = accessors
            .map(|(offset, kind)| accessor(offset, kind))
            .join(",");
        self.write("tower.gltf", format!(
            r#"{{"asset": {{"version": "2.0"}}, "scenes": [{{"nodes": [0]}}],
            "nodes": [{{"mesh": 0, "children": [1], "translation": [0, 0.35, 0], "scale": [0.7, 0.7, 0.7]}},
                {{"mesh": 1, "children": [2], "translation": [0, 0.85, 0], "scale": [0.7, 0.7, 0.7],
                  "rotation": [0, 0.3826834, 0, 0.9238795]}},
                {{"mesh": 2, "translation": [0, 0.85, 0], "scale": [0.7, 0.7, 0.7],
                  "rotation": [0, 0.3826834, 0, 0.9238795]}}],
            "buffers": [{{"byteLength": {}, "uri": "tower.bin"}}],
            "bufferViews": [{{"buffer": 0, "byteLength": {first}, "byteStride": 44}},
                            {{"buffer": 0, "byteOffset": {first}, "byteLength": 72}}],
            "accessors": [{accessors},
                          {{"bufferView": 1, "componentType": 5123, "type": "SCALAR", "count": 36}}],
            "images": [{{"uri": "board.png"}}], "textures": [{{"source": 0}}],
            "materials": [
                {{"pbrMetallicRoughness": {{"metallicFactor": 0, "baseColorTexture": {{"index": 0}}}}}},
                {{"pbrMetallicRoughness": {{"metallicFactor": 0, "roughnessFactor": 0.6}}}},
                {{"pbrMetallicRoughness": {{"metallicFactor": 0, "roughnessFactor": 0.4,
                  "baseColorFactor": [0, 0, 0, 1]}}}}],
            "meshes": [
                {{"primitives": [{{"attributes": {{"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2}},
                  "indices": 4, "material": 0}}]}},
                {{"primitives": [{{"attributes": {{"POSITION": 0, "NORMAL": 1, "COLOR_0": 3}},
                  "indices": 4, "material": 1}}]}},
                {{"primitives": [{{"attributes": {{"POSITION": 0, "NORMAL": 1}}, "indices": 4,
                  "material": 2}}]}}]}}"#,
            bin.len()
        ))
    }
}

/// A plate of squares in two colours, in memory.
pub(crate) fn checkers() -> Mesh {
    let mtl = "newmtl light\nKd 0.9 0.9 0.9\nnewmtl dark\nKd 0.3 0.3 0.3\n";
    let mut obj = String::from("mtllib two.mtl\nvn 0 0 1\n");
    let n = 8;
    for k in 0..n * n {
        let (i, j) = (k % n, k / n);
        let corner = |i: i32, j: i32| {
            format!(
                "v {} {} 0\n",
                0.4 * f64::from(i - 4),
                0.4 * f64::from(j - 4)
            )
        };
        obj += &(corner(i, j) + &corner(i + 1, j) + &corner(i + 1, j + 1) + &corner(i, j + 1));
        let name = if (i + j) % 2 == 0 { "light" } else { "dark" };
        writeln!(obj, "usemtl {name}\nf -4//1 -3//1 -2//1 -1//1").unwrap();
    }
    let mut mesh = InMemoryMesh::new(MemoryFile::new(obj, ".obj", "checkers"));
    mesh.supporting_files
        .insert("two.mtl".into(), MemoryFile::new(mtl, ".mtl", "").into());
    Mesh::new(mesh)
}
