//! Files that a writer makes next to a model file.

use std::fs;
use tarragon_documents::Diagnostic;
use tarragon_formats::*;
use tarragon_geometry::SceneGraph;
use tarragon_multibody::*;

const DAE: &str = r##"<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="1"/><up_axis>Z_UP</up_axis></asset><library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>
<accessor source="#a" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 1 3 1 2 3 2 0 3</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"##;

#[test]
fn meshes_that_mujoco_cannot_read_become_files_that_replace_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let names = || {
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names.join(" ")
    };
    fs::write(at("part.dae"), DAE).unwrap();
    let solid = "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n\
                 endloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\n\
                 vertex 0 0 1\nendloop\nendfacet\nendsolid\n";
    fs::write(at("text.stl"), solid).unwrap();
    let visual = |file: &str, scale: &str| {
        format!("<visual><geometry><mesh filename='{file}' scale='{scale}'/></geometry></visual>")
    };
    let visuals = [
        visual("part.dae", "1 1 1"),
        visual("part.dae", "2 2 2"),
        visual("text.stl", "1 1 1"),
    ]
    .concat();
    let inertial = "<inertial><mass value='1'/></inertial>";
    let joint = "<joint name='j' type='continuous'><parent link='world'/><child link='a'/></joint>";
    let urdf = format!("<robot name='r'><link name='a'>{inertial}{visuals}</link>{joint}</robot>");
    fs::write(at("r.urdf"), urdf).unwrap();
    // A file of the user, which has the name that ours would have.
    fs::write(at("out_part.obj"), "o mine\n").unwrap();
    let (mut plant, mut scene) = (
        MultibodyPlantBuilder::new(0.001).unwrap(),
        SceneGraph::new(),
    );
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.add_models(at("r.urdf")).unwrap();
    let plant = plant.build_with_scene(&mut scene).unwrap();
    let writer = ModelWriter::with_scene_graph(&plant, &scene);
    let before = names();
    let written = writer.write_for(at("out.xml")).unwrap();
    assert_eq!(names(), before);
    assert_eq!(written.files.len(), 2);
    for _ in 0..2 {
        let told = writer.save(at("out.xml")).unwrap();
        let added = "body 'a': 2e-14 kg m^2 is added to its moments of inertia";
        assert!(
            told.iter().any(|d| d.message.starts_with(added)),
            "{told:?}"
        );
        let text = fs::read_to_string(at("out.xml")).unwrap();
        assert_eq!(text.matches("file=\"out_part_1.obj\"").count(), 2, "{text}");
        assert_eq!(text.matches("file=\"out_text.obj\"").count(), 1, "{text}");
        let (mut plant, mut scene) = (
            MultibodyPlantBuilder::new(0.001).unwrap(),
            SceneGraph::new(),
        );
        let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
        parser.add_models(at("out.xml")).unwrap();
        assert_eq!(scene.model_inspector().num_geometries(), 3);
    }
    assert_eq!(fs::read_to_string(at("out_part.obj")).unwrap(), "o mine\n");
    let after = "out.xml out_part.obj out_part_1.obj out_text.obj part.dae r.urdf text.stl";
    assert_eq!(names(), after);
    // After a failure, nothing is left.
    fs::create_dir(at("again.xml")).unwrap();
    assert!(writer.save(at("again.xml")).is_err());
    assert!(writer.save(at("missing/again.xml")).is_err());
    assert_eq!(names(), format!("again.xml {after}"));
    // A text alone refers to the files of the model.
    let text = writer.write(OutputFormat::Mjcf).unwrap();
    assert!(text.files.is_empty());
    let refused = |d: &Diagnostic| {
        d.message
            .contains("MuJoCo refuses it, because it reads only")
    };
    assert_eq!(text.diagnostics.iter().filter(|d| refused(d)).count(), 2);
}
