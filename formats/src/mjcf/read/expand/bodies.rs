//! The tree of bodies: `<frame>`, `<replicate>`, and what the other elements become.

use super::expander::{Expander, MAX_ELEMENTS};
use super::renaming::Renaming;
use crate::mjcf::read::tree::ExpandedFrame;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use tarragon_documents::xml::Parsed;
use tarragon_framework::math;

/// Maximum depth of nested elements in a file with anything to expand.
const MAX_DEPTH: usize = 500;
/// Elements that are expanded.
const EXPANDED: [&str; 5] = ["frame", "replicate", "attach", "composite", "flexcomp"];

/// A place in the tree of bodies during expansion.
#[derive(Clone, Default)]
struct Around {
    frame: ExpandedFrame,
    depth: usize,
}

impl Expander<'_> {
    /// Expands the bodies of the document in `tree`, and then the sections that refer to them.
    pub(super) fn expand_document(&mut self) -> Parsed<()> {
        let elements = &self.tree.elements;
        if !elements.iter().any(|e| EXPANDED.contains(&&*e.tag)) {
            return Ok(());
        }
        let worlds: Vec<usize> = self.sections("worldbody");
        for world in worlds {
            self.expand_body(world, 0)?;
        }
        self.copy_references()
    }

    /// Expands the content of a body.
    fn expand_body(&mut self, body: usize, depth: usize) -> Parsed<()> {
        let around = Around {
            frame: ExpandedFrame::default(),
            depth,
        };
        let children = self.expanded_children(body, &around)?;
        self.tree.elements[body].children = children;
        Ok(())
    }

    /// Returns the expanded content of an element, in the frame of the body around it.
    fn expanded_children(&mut self, parent: usize, around: &Around) -> Parsed<Vec<usize>> {
        if around.depth > MAX_DEPTH {
            let message = format!("elements must be nested at most {MAX_DEPTH} deep");
            return Err(self.node(parent).error(message));
        }
        let deeper = |frame: ExpandedFrame| Around {
            frame,
            depth: around.depth + 1,
        };
        let mut expanded = vec![];
        for child in self.tree.elements[parent].children.clone() {
            match &*self.tree.elements[child].tag {
                "frame" => {
                    let node = self.node(child);
                    let own = self.compilers[node.document()].pose_in_frame(node)?;
                    let class = node.own_text("childclass").map(String::from);
                    let frame = ExpandedFrame {
                        pose: around.frame.pose * own,
                        class: class.or(around.frame.class.clone()),
                    };
                    expanded.extend(self.expanded_children(child, &deeper(frame))?);
                }
                "replicate" => {
                    let inner = deeper(ExpandedFrame::default());
                    let inner = self.expanded_children(child, &inner)?;
                    let copies = self.replicate(child, &inner)?;
                    self.move_all(&copies, &around.frame);
                    expanded.extend(copies);
                }
                "attach" => {
                    let copies = self.attach(child)?;
                    self.move_all(&copies, &around.frame);
                    expanded.extend(copies);
                }
                "composite" => {
                    let made = self.composite(child)?;
                    let made: Vec<usize> = made.into_iter().collect();
                    self.move_all(&made, &around.frame);
                    expanded.extend(made);
                }
                "flexcomp" => {
                    let made = self.flexcomp(child)?;
                    expanded.extend(made);
                }
                "body" => {
                    self.expand_body(child, around.depth + 1)?;
                    self.move_all(&[child], &around.frame);
                    expanded.push(child);
                }
                _ => {
                    self.move_all(&[child], &around.frame);
                    expanded.push(child);
                }
            }
        }
        Ok(expanded)
    }

    /// Moves elements by a frame around them.
    pub(super) fn move_all(&mut self, elements: &[usize], around: &ExpandedFrame) {
        if around.class.is_none() && around.pose == Isometry3::identity() {
            return;
        }
        for &index in elements {
            let frame = self.tree.elements[index].frame.get_or_insert_default();
            frame.pose = around.pose * frame.pose;
            frame.class = frame.class.take().or_else(|| around.class.clone());
        }
    }

    /// Returns the copies of a `<replicate>` with expanded content.
    fn replicate(&mut self, replicate: usize, content: &[usize]) -> Parsed<Vec<usize>> {
        let node = self.node(replicate);
        let Some(count) = node.number("count")? else {
            return Err(node.error("<replicate> has no attribute 'count'"));
        };
        if !(count >= 1.0 && count.fract() == 0.0 && count <= MAX_ELEMENTS as f64) {
            let message = format!(
                "'count' of <replicate> must be an integer from 1 to {MAX_ELEMENTS}, got {count:?}"
            );
            return Err(node.error_at("count", message));
        }
        let offset = Vector3::from(node.vector::<3>("offset")?.unwrap_or_default());
        let turn = node.vector::<3>("euler")?.unwrap_or_default();
        let separator = node.text("sep").unwrap_or_default().to_owned();
        let compiler = self.compilers[node.document()].clone();
        let digits = format!("{count}").len();
        let mut renaming = Renaming::of_copies(self.names_below(content));
        let mut position = Vector3::zeros();
        let mut copies = vec![];
        for i in 0..count as usize {
            // Angles grow linearly, so that rounding does not add up.
            let angles = turn.map(|angle| angle * i as f64);
            let rotation: UnitQuaternion<f64> = compiler.euler(angles);
            let frame = ExpandedFrame {
                pose: math::pose(rotation, position),
                class: None,
            };
            let suffix = format!("{separator}{i:0digits$}");
            let copied = content.iter().map(|element| {
                self.copy_below(*element, &|attribute| {
                    renaming.renamed_in_place(attribute, &suffix)
                })
            });
            let copied = copied.collect::<Parsed<Vec<usize>>>()?;
            self.move_all(&copied, &frame);
            if i > 0 {
                // Keyframes of attached models set the joints of the first copy, as in MuJoCo.
                self.forget_key_numbers(&copied);
            }
            copies.extend(copied);
            position += rotation * offset;
            renaming.suffixes.push(suffix);
        }
        self.renamings.push(renaming);
        Ok(copies)
    }
}
