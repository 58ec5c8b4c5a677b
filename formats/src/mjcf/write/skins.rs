//! Skins, with all their numbers in the document.

use super::MjcfWriter;
use crate::writing::document::TakenNames;
use tarragon_geometry::{GeometryId, Rgba, Role, SceneGraphInspector, Skin};
use tarragon_multibody::ModelInstanceIndex;

impl MjcfWriter<'_> {
    pub(super) fn write_skins(&mut self) {
        let Some(scene) = self.document.scene else {
            return;
        };
        let inspector = scene.model_inspector();
        let mut taken = TakenNames::default();
        let mut is_open = false;
        for (id, skin) in self.document.skins() {
            let lost = skin.bones().iter().find_map(|bone| {
                let body = self.document.plant.body_from_frame_id(bone.frame);
                let is_written = body.is_some_and(|body| !self.merged.contains(&body));
                (!is_written).then(|| inspector.frame_name(bone.frame).unwrap_or_default())
            });
            let name = self.document.geometry_name(id);
            if let Some(frame) = lost {
                self.document.warn(format!(
                    "skin '{name}': left out, because its bone '{frame}' is no body of the document"
                ));
                continue;
            }
            if !is_open {
                self.document.xml.start("deformable");
                is_open = true;
            }
            let own = name.rsplit("::").next().unwrap_or_default();
            let instance = ModelInstanceIndex::DEFAULT;
            let own = self.document.name(&mut taken, "skin", instance, own);
            self.write_skin(&inspector, id, skin, &own);
        }
        if is_open {
            self.document.xml.end();
        }
    }

    fn write_skin(
        &mut self,
        inspector: &SceneGraphInspector<'_>,
        id: GeometryId,
        skin: &Skin,
        name: &str,
    ) {
        let roles = [Role::Illustration, Role::Perception];
        let properties = roles.map(|role| inspector.properties(id, role).ok().flatten());
        let of_roles = roles.iter().zip(&properties).filter(|(_, p)| p.is_some());
        let mut meshes = of_roles.filter_map(|(role, _)| {
            let meshes = inspector.driven_render_meshes(id, *role);
            meshes.ok()?.into_iter().next()
        });
        let Some(mesh) = meshes.next() else { return };
        let mut shown = properties.iter().flatten();
        let color = shown.find_map(|p| p.try_get::<Rgba>("phong", "diffuse").ok().flatten());
        let has_map = properties
            .iter()
            .flatten()
            .any(|p| p.has("phong", "diffuse_map"));
        if has_map {
            let format = self.document.format.name();
            self.document.warn(format!(
                "skin '{name}': its texture is left out, because {format} is written without textures"
            ));
        }
        let vertices: Vec<f64> = mesh
            .positions
            .iter()
            .flat_map(|p| [p.x, p.y, p.z])
            .collect();
        let faces = mesh.triangles.as_flattened().iter().map(|v| f64::from(*v));
        let faces: Vec<f64> = faces.collect();
        let xml = &mut self.document.xml;
        xml.start("skin").attribute("name", name);
        if let Some(color) = color {
            xml.numbers("rgba", &color.rgba());
        }
        if skin.inflation() != 0.0 {
            xml.numbers("inflate", &[skin.inflation()]);
        }
        xml.numbers("vertex", &vertices).numbers("face", &faces);
        for bone in skin.bones() {
            let Some(body) = self.document.plant.body_from_frame_id(bone.frame) else {
                continue;
            };
            let (p, q) = (bone.x_wf.translation.vector, bone.x_wf.rotation);
            let (indices, weights): (Vec<f64>, Vec<f64>) = bone
                .weights
                .iter()
                .map(|(v, w)| (f64::from(*v), *w))
                .unzip();
            let xml = &mut self.document.xml;
            xml.start("bone")
                .attribute("body", &self.bodies[body.index()]);
            xml.numbers("bindpos", p.as_slice());
            xml.numbers("bindquat", &[q.w, q.i, q.j, q.k]);
            xml.numbers("vertid", &indices)
                .numbers("vertweight", &weights);
            xml.end();
        }
        self.document.xml.end();
    }
}
