//! All registered visuals in the order of ids, and their partition into chunks.

use super::visual::{Visual, VisualForm};
use crate::ids::GeometryId;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Id of an empty pixel.
pub(crate) const NO_ID: i32 = i32::MAX;

/// Number of visuals in a chunk.
const GROUP: usize = 16;
/// Number of a mesh's clusters in a chunk.
const CLUSTERS: usize = 64;
/// Maximum number of items in a chunk.
pub(crate) const MOST_ITEMS: usize = if GROUP > CLUSTERS { GROUP } else { CLUSTERS };

/// Registered visuals. The number of a visual is its index in the order of ids.
#[derive(Clone, Default)]
pub(crate) struct Visuals {
    ids: Vec<GeometryId>,
    /// Visuals, shared by copies of the engine.
    visuals: Vec<Arc<Visual>>,
    /// Tables that the first image after a change creates.
    plan: OnceLock<Arc<DrawPlan>>,
}

/// Tables over all visuals, shared by all images.
pub(crate) struct DrawPlan {
    /// Labels by number of the visual.
    pub(crate) labels: Vec<i16>,
    /// First part id by number of the visual, followed by `NO_ID`, which no part has.
    first_part: Vec<i32>,
    /// Chunks of clusters: the number of a mesh, and the first cluster of the chunk.
    clusters: Vec<(u32, u32)>,
    /// Number of chunks of visuals.
    groups: usize,
}

/// Unit of work in the preparation of an image.
pub(crate) enum VisualChunk {
    /// Some visuals, by number.
    Visuals(Range<usize>),
    /// Some clusters of a mesh, with the mesh's number.
    Clusters(usize, Range<usize>),
}

impl Visuals {
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
    pub(crate) fn contains(&self, id: GeometryId) -> bool {
        self.ids.binary_search(&id).is_ok()
    }
    /// Adds a visual. Its id must be new.
    pub(crate) fn insert(&mut self, id: GeometryId, visual: Visual) {
        let number = self.ids.partition_point(|other| *other < id);
        self.ids.insert(number, id);
        self.visuals.insert(number, Arc::new(visual));
        self.plan = OnceLock::new();
    }
    /// Removes a visual. Returns false if the id is unknown.
    pub(crate) fn remove(&mut self, id: GeometryId) -> bool {
        let Ok(number) = self.ids.binary_search(&id) else {
            return false;
        };
        self.ids.remove(number);
        self.visuals.remove(number);
        self.plan = OnceLock::new();
        true
    }
    /// Returns the visual with an id.
    pub(crate) fn get(&self, id: GeometryId) -> Option<&Visual> {
        let number = self.ids.binary_search(&id).ok()?;
        Some(&self.visuals[number])
    }
    pub(crate) fn at(&self, number: usize) -> (GeometryId, &Visual) {
        (self.ids[number], &self.visuals[number])
    }
    pub(crate) fn plan(&self) -> &DrawPlan {
        (self.plan).get_or_init(|| Arc::new(DrawPlan::new(&self.visuals)))
    }
}

impl DrawPlan {
    fn new(visuals: &[Arc<Visual>]) -> Self {
        let mut next: i32 = 0;
        let first_part = visuals.iter().map(|v| {
            let first = next;
            next = next.saturating_add(i32::try_from(v.parts()).unwrap_or(i32::MAX));
            first
        });
        let mut clusters = Vec::new();
        for (number, visual) in visuals.iter().enumerate() {
            if let VisualForm::Mesh(mesh) = &visual.form {
                let firsts = (0..mesh.clusters.len()).step_by(CLUSTERS);
                clusters.extend(firsts.map(|first| (number as u32, first as u32)));
            }
        }
        Self {
            labels: visuals.iter().map(|v| v.label.value()).collect(),
            first_part: first_part.chain([NO_ID]).collect(),
            clusters,
            groups: visuals.len().div_ceil(GROUP),
        }
    }
    /// Returns the number of chunks.
    pub(crate) fn chunks(&self) -> usize {
        self.groups + self.clusters.len()
    }
    pub(crate) fn chunk(&self, k: usize, visuals: &Visuals) -> VisualChunk {
        if k < self.groups {
            return VisualChunk::Visuals(k * GROUP..((k + 1) * GROUP).min(visuals.len()));
        }
        let (number, first) = self.clusters[k - self.groups];
        let (number, first) = (number as usize, first as usize);
        let count = match &visuals.visuals[number].form {
            VisualForm::Mesh(mesh) => mesh.clusters.len(),
            VisualForm::Shape { .. } => 0,
        };
        VisualChunk::Clusters(number, first..(first + CLUSTERS).min(count))
    }
    /// Returns the chunk of a visual, and its index there.
    pub(crate) fn place(number: usize) -> (usize, usize) {
        (number / GROUP, number % GROUP)
    }
    /// Returns the ids of a visual's parts.
    pub(crate) fn parts(&self, number: usize) -> Range<i32> {
        self.first_part[number]..self.first_part[number + 1]
    }
    /// Returns the number of the visual that a part belongs to.
    pub(crate) fn owner(&self, part: i32) -> usize {
        self.first_part.partition_point(|first| *first <= part) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::PerceptionProperties;
    use crate::properties::RenderLabel;
    use crate::render::RenderEngineCpuParams;
    use crate::shape::Sphere;

    fn ball() -> Visual {
        let shape = Sphere::new(1.0).unwrap().into();
        let (label, params) = (RenderLabel::DONT_CARE, RenderEngineCpuParams::default());
        let visual = Visual::new(&shape, &PerceptionProperties::new(), label, &params);
        visual.unwrap().unwrap()
    }

    #[test]
    fn numbers_follow_the_order_of_ids() {
        let ids: Vec<GeometryId> = (0..40).map(|_| GeometryId::new()).collect();
        let mut visuals = Visuals::default();
        for id in ids.iter().rev() {
            visuals.insert(*id, ball());
        }
        assert!(visuals.remove(ids[7]) && !visuals.remove(ids[7]));
        let left: Vec<_> = ids.iter().filter(|id| **id != ids[7]).collect();
        assert_eq!(visuals.len(), left.len());
        let plan = visuals.plan();
        let mut seen = 0;
        for k in 0..plan.chunks() {
            let VisualChunk::Visuals(range) = plan.chunk(k, &visuals) else {
                panic!("there is no mesh");
            };
            for number in range {
                assert_eq!(visuals.at(number).0, *left[number]);
                assert_eq!(DrawPlan::place(number).0, k);
                assert_eq!(plan.owner(plan.parts(number).start), number);
                assert_eq!(number, seen);
                seen += 1;
            }
        }
        assert_eq!(seen, left.len());
    }
}
