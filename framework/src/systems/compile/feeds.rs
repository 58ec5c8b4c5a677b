//! Sources of input ports: connections, and exports that join ports.

use crate::counted::counted;
use crate::error::WiringError;
use crate::systems::plan::{Entry, Feed, Input, Leaf, Node, PortIndex, Wire};
use crate::{Error, Result, Scalar};

/// Feed, stand-in and size of every input port, counted over all leaves.
pub(crate) struct Feeds {
    pub(crate) feeds: Vec<Feed>,
    /// Representative of all ports that form one input of the diagram; usually the port itself.
    pub(crate) stand_ins: Vec<u32>,
    /// For each stand-in: the number of elements of all its ports, if one of them declares it.
    pub(crate) sizes: Vec<Option<usize>>,
}

impl Feeds {
    /// Builds the table. Checks every wire and every pair of ports that share an exported input, in
    /// any order.
    pub(crate) fn new<T: Scalar>(
        leaves: &[Leaf<T>],
        nodes: &[Node],
        wires: &[Wire],
        shared: &[(PortIndex, PortIndex)],
    ) -> Result<Self> {
        let sizes: Vec<_> = leaves
            .iter()
            .flat_map(|l| l.inputs.iter().map(|i| i.size))
            .collect();
        let ports = 0..sizes.len() as u32;
        let mut this = Self {
            feeds: ports.clone().map(Feed::Fixed).collect(),
            stand_ins: ports.collect(),
            sizes,
        };
        let global = |port: PortIndex| nodes[port.0 as usize].input0 + port.1 as usize;
        let input = |port: PortIndex| &leaves[port.0 as usize].inputs[port.1 as usize];
        let name =
            |port: PortIndex| format!("{}.{}", leaves[port.0 as usize].path, input(port).name);
        let refuse = |first: PortIndex, other: PortIndex, why: &str| {
            let ports = [first, other].map(name);
            Err(Error::invalid(format!(
                "cannot export inputs '{}' and '{}' under one name: {why}",
                ports[0], ports[1]
            )))
        };
        for &(first, other) in shared {
            let (a, b) = (input(first), input(other));
            if a.type_id != b.type_id {
                let why = format!("one takes {}, the other {}", a.type_name, b.type_name);
                return refuse(first, other, &why);
            }
            if let Err([a, b]) = this.join(global(first), global(other)) {
                let why = format!(
                    "one takes {elements}, the other {b}",
                    elements = counted(a, "element")
                );
                return refuse(first, other, &why);
            }
        }
        for wire in wires {
            let from = &leaves[wire.from.0 as usize];
            let entry = &from.entries[wire.from.1 as usize];
            let to = this.stand_in(global(wire.to));
            let why = if matches!(this.feeds[to], Feed::Slot(_)) {
                Some("the input is connected already; an input has one source".into())
            } else {
                mismatch(entry, input(wire.to), this.sizes[to])
            };
            if let Some(why) = why {
                return Err(WiringError::Connection {
                    from: format!("{}.{}", from.path, entry.name),
                    to: name(wire.to),
                    why,
                }
                .into());
            }
            let slot = nodes[wire.from.0 as usize].slot0 + wire.from.1 as usize;
            this.feeds[to] = Feed::Slot(slot as u32);
        }
        // Only the first port of a shared export may have connections.
        let mut connected = vec![false; this.feeds.len()];
        for wire in wires {
            connected[global(wire.to)] = true;
        }
        for &(first, other) in shared {
            if connected[global(other)] && first != other {
                let why = "the second one is connected already; connect the first instead";
                return refuse(first, other, why);
            }
        }
        for port in 0..this.feeds.len() {
            let stand_in = this.stand_in(port);
            this.stand_ins[port] = stand_in as u32;
            this.feeds[port] = this.feeds[stand_in];
        }
        Ok(this)
    }

    /// Joins two ports, and all ports already joined with them, into one.
    ///
    /// # Errors
    /// Returns the numbers of elements of the two, if they differ.
    fn join(&mut self, first: usize, other: usize) -> Result<(), [usize; 2]> {
        let (first, other) = (self.stand_in(first), self.stand_in(other));
        let sizes = [self.sizes[first], self.sizes[other]];
        if let [Some(a), Some(b)] = sizes
            && a != b
        {
            return Err([a, b]);
        }
        self.sizes[first] = sizes[0].or(sizes[1]);
        self.stand_ins[other] = first as u32;
        Ok(())
    }

    /// Returns the current stand-in of a port.
    fn stand_in(&mut self, mut port: usize) -> usize {
        while self.stand_ins[port] as usize != port {
            let next = self.stand_ins[port] as usize;
            self.stand_ins[port] = self.stand_ins[next];
            port = next;
        }
        port
    }
}

/// Returns the reason why an output cannot feed an input of this size, if there is one.
fn mismatch<T: Scalar>(entry: &Entry<T>, input: &Input, size: Option<usize>) -> Option<String> {
    if entry.type_id != input.type_id {
        let (from, to) = (entry.type_name, input.type_name);
        return Some(format!("the output carries {from}, the input takes {to}"));
    }
    match (entry.size, size) {
        (Some(from), Some(to)) if from != to => Some(format!(
            "the output has {elements}, the input takes {to}",
            elements = counted(from, "element")
        )),
        _ => None,
    }
}
