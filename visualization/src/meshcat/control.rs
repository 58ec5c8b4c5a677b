//! Sliders and buttons.

use super::change::Change;
use super::msgpack::Writer;
use super::slider::Slider;
use crate::{Error, Result};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Debug)]
enum Kind {
    Button { clicks: u64, keycode: String },
    Slider(Slider),
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Self::Button { .. } => "button",
            Self::Slider(_) => "slider",
        }
    }
}

#[derive(Clone, Debug)]
struct Control {
    name: String,
    kind: Kind,
    /// Revision at which the control was added.
    added: u64,
    /// Revision at which its value was last set.
    valued: u64,
}

/// The controls of the page, in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Controls {
    /// Controls by an index that increases with every added control.
    controls: BTreeMap<usize, Control>,
    next: usize,
    deletions: VecDeque<(u64, String)>,
}

impl Controls {
    fn find(&self, name: &str) -> Option<(usize, &Control)> {
        let mut all = self.controls.iter();
        all.find(|(_, c)| c.name == name).map(|(i, c)| (*i, c))
    }
    fn add(&mut self, name: &str, kind: Kind) -> usize {
        let index = self.next;
        self.next += 1;
        let name = name.into();
        let control = Control {
            name,
            kind,
            added: 0,
            valued: 0,
        };
        self.controls.insert(index, control);
        index
    }
    /// Records the revision at which a control was added.
    pub(crate) fn stamp(&mut self, index: usize, revision: u64) {
        if let Some(control) = self.controls.get_mut(&index) {
            control.added = revision;
        }
    }
    pub(crate) fn stamp_value(&mut self, index: usize, revision: u64) {
        if let Some(control) = self.controls.get_mut(&index) {
            control.valued = revision;
        }
    }
    /// Returns the revision at which a control was added.
    pub(crate) fn changed(&self, index: usize) -> Option<u64> {
        Some(self.controls.get(&index)?.added)
    }
    /// Returns the revision at which a control's value was last set.
    pub(crate) fn valued(&self, index: usize) -> Option<u64> {
        Some(self.controls.get(&index)?.valued)
    }
    pub(crate) fn for_each_change(&self, add: &mut impl FnMut(u64, Change)) {
        for (i, control) in &self.controls {
            add(control.added, Change::Control(*i));
            add(control.valued, Change::ControlValue(*i));
        }
        for (revision, _) in &self.deletions {
            add(*revision, Change::ControlDeletion);
        }
    }
    pub(crate) fn indices(&self) -> impl Iterator<Item = usize> {
        self.controls.keys().copied()
    }
    pub(crate) fn deletion(&self, revision: u64) -> Option<&str> {
        let at = self
            .deletions
            .binary_search_by_key(&revision, |(s, _)| *s)
            .ok()?;
        Some(&self.deletions[at].1)
    }
    pub(crate) fn forget_deletions(&mut self, seen: u64) {
        while self
            .deletions
            .front()
            .is_some_and(|(revision, _)| *revision <= seen)
        {
            self.deletions.pop_front();
        }
    }
    /// Keeps a deletion for pages that have not seen it. Keeps at most `max` deletions and returns
    /// the revision of the one that was dropped, 0 if none was.
    pub(crate) fn keep_deletion(&mut self, revision: u64, name: String, max: usize) -> u64 {
        self.deletions.push_back((revision, name));
        if self.deletions.len() <= max {
            return 0;
        }
        self.deletions
            .pop_front()
            .map_or(0, |(revision, _)| revision)
    }

    /// Adds a button, or resets the clicks of an existing one to 0. Returns its index if pages must
    /// be notified.
    pub(crate) fn add_button(&mut self, name: &str, keycode: &str) -> Result<Option<usize>> {
        let Some((index, control)) = self.find(name) else {
            let (clicks, keycode) = (0, keycode.into());
            return Ok(Some(self.add(name, Kind::Button { clicks, keycode })));
        };
        let Kind::Button { keycode: old, .. } = &control.kind else {
            return Err(taken(name, &control.kind));
        };
        if !old.is_empty() && old != keycode {
            return Err(Error::invalid(format!(
                "Meshcat button '{name}': the key code must stay '{old}', got '{keycode}'; delete the button \
                 before giving it another key"
            )));
        }
        let changed = old != keycode;
        let (clicks, keycode) = (0, keycode.into());
        if let Some(control) = self.controls.get_mut(&index) {
            control.kind = Kind::Button { clicks, keycode };
        }
        Ok(changed.then_some(index))
    }
    /// Adds a slider that was already checked.
    pub(crate) fn add_slider(&mut self, name: &str, slider: Slider) -> Result<usize> {
        match self.find(name) {
            Some((_, control)) => Err(taken(name, &control.kind)),
            None => Ok(self.add(name, Kind::Slider(slider))),
        }
    }
    pub(crate) fn button_clicks(&self, name: &str) -> Result<u64> {
        match self.find(name) {
            Some((_, control)) => match &control.kind {
                Kind::Button { clicks, .. } => Ok(*clicks),
                kind => Err(self.other_kind("button", name, kind)),
            },
            None => Err(self.missing("button", name)),
        }
    }
    pub(crate) fn slider(&self, name: &str) -> Result<(usize, &Slider)> {
        match self.find(name) {
            Some((index, control)) => match &control.kind {
                Kind::Slider(slider) => Ok((index, slider)),
                kind => Err(self.other_kind("slider", name, kind)),
            },
            None => Err(self.missing("slider", name)),
        }
    }
    /// Returns the value of a slider, if there is one of that name.
    pub(crate) fn slider_value(&self, name: &str) -> Option<f64> {
        match &self.find(name)?.1.kind {
            Kind::Slider(slider) => Some(slider.value),
            Kind::Button { .. } => None,
        }
    }
    /// Sets a slider to the nearest allowed value. Returns its index, or `None` if the value is
    /// unchanged.
    pub(crate) fn set_slider(&mut self, name: &str, value: f64) -> Result<Option<usize>> {
        if value.is_nan() {
            return Err(Error::invalid(format!(
                "Meshcat slider '{name}': the new value must be a number, got NaN"
            )));
        }
        let (index, slider) = self.slider(name)?;
        let value = slider.quantize(value);
        if value == slider.value {
            return Ok(None);
        }
        if let Some(control) = self.controls.get_mut(&index)
            && let Kind::Slider(slider) = &mut control.kind
        {
            slider.value = value;
        }
        Ok(Some(index))
    }
    pub(crate) fn click(&mut self, name: &str) -> bool {
        let Some((index, _)) = self.find(name) else {
            return false;
        };
        match self.controls.get_mut(&index).map(|c| &mut c.kind) {
            Some(Kind::Button { clicks, .. }) => {
                *clicks += 1;
                true
            }
            _ => false,
        }
    }
    /// Removes a control of a kind ("button" or "slider").
    pub(crate) fn remove(&mut self, kind: &str, name: &str) -> Result<()> {
        match self.find(name) {
            Some((index, control)) if control.kind.name() == kind => {
                self.controls.remove(&index);
                Ok(())
            }
            Some((_, control)) => Err(self.other_kind(kind, name, &control.kind)),
            None => Err(self.missing(kind, name)),
        }
    }
    /// Returns the names of all controls, or of all controls of one kind.
    pub(crate) fn names(&self, kind: Option<&str>) -> Vec<String> {
        let all = self.controls.values();
        all.filter(|c| kind.is_none_or(|k| c.kind.name() == k))
            .map(|c| c.name.clone())
            .collect()
    }
    /// Removes all controls and returns their names.
    pub(crate) fn clear(&mut self) -> Vec<String> {
        let names = self.names(None);
        self.controls.clear();
        names
    }

    fn missing(&self, kind: &str, name: &str) -> Error {
        Error::not_found(format!(
            "Meshcat has no {kind} named '{name}'; its {kind}s are: {}",
            list(&self.names(Some(kind)))
        ))
    }
    fn other_kind(&self, kind: &str, name: &str, found: &Kind) -> Error {
        Error::not_found(format!(
            "Meshcat has no {kind} named '{name}': '{name}' is a {}; its {kind}s are: {}",
            found.name(),
            list(&self.names(Some(kind)))
        ))
    }

    /// Encodes the message that adds a control to a page.
    pub(crate) fn set_control(&self, index: usize) -> Option<Vec<u8>> {
        let Control { name, kind, .. } = self.controls.get(&index)?;
        let mut w = Writer::default();
        let quoted = quote(name);
        match kind {
            Kind::Button { keycode, .. } => {
                w.map(4)
                    .key_str("type", "set_control")
                    .key_str("name", name);
                // Drake's page runs this callback; ours ignores it.
                let callback = format!(
                    "\n() => this.connection.send(msgpack.encode({{\n  'type': 'button',\n  'name': {quoted}\n}}))"
                );
                w.key_str("callback", &callback);
                w.key_str("keycode1", keycode);
            }
            Kind::Slider(slider) => {
                w.map(9)
                    .key_str("type", "set_control")
                    .key_str("name", name);
                let callback = format!(
                    "\n(value) => this.connection.send(msgpack.encode({{\n  'type': 'slider',\n  'name': {quoted},\n  'value': value\n}}))"
                );
                w.key_str("callback", &callback);
                w.key_f64("value", slider.value);
                w.key_f64("min", slider.min).key_f64("max", slider.max);
                w.key_f64("step", slider.step);
                w.key_str("keycode1", &slider.decrement_keycode);
                w.key_str("keycode2", &slider.increment_keycode);
            }
        }
        Some(w.into_inner())
    }
    /// Encodes the message that sets a slider on a page.
    pub(crate) fn set_control_value(&self, index: usize) -> Option<Vec<u8>> {
        let Control { name, kind, .. } = self.controls.get(&index)?;
        let Kind::Slider(slider) = kind else {
            return None;
        };
        let mut w = Writer::default();
        w.map(4).key_str("type", "set_control_value");
        w.key_str("name", name).key_f64("value", slider.value);
        w.key_bool("invoke_callback", false);
        Some(w.into_inner())
    }
}

fn taken(name: &str, kind: &Kind) -> Error {
    Error::exists(format!(
        "Meshcat already has a {} named '{name}'; delete it first or use another name",
        kind.name()
    ))
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "(none)".into();
    }
    names.join(", ")
}

/// Returns a JavaScript string literal.
fn quote(name: &str) -> String {
    let mut quoted = String::from("'");
    for c in name.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            // Line ends would end the literal; `<` could end a script element.
            '\n' | '\r' | '\u{2028}' | '\u{2029}' | '<' => {
                quoted.push_str(&format!("\\u{:04x}", c as u32));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out_of_the_callback() {
        assert_eq!(quote("btn"), "'btn'");
        assert_eq!(
            quote("a'b\\c\n</script>"),
            "'a\\'b\\\\c\\u000a\\u003c/script>'"
        );
    }
}
