//! Elements of an SVG image.

use std::fmt::Write;

/// Text of an SVG image.
pub(super) struct Svg(String);

/// Side of its position on which a text stands.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// Starts a white image of a size in pixels.
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
        ))
    }
    pub(super) fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(element);
    }

    pub(super) fn frame(&mut self, [x, y, width, height]: [f64; 4]) {
        self.push(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"none\" \
             stroke=\"#444\"/>\n"
        ));
    }
    pub(super) fn line(&mut self, [x, y]: [f64; 2], [to_x, to_y]: [f64; 2], colour: &str) {
        self.push(format_args!(
            "<path d=\"M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}\" stroke=\"{colour}\"/>\n"
        ));
    }
    /// Adds a text. A viewer that can show the whole `hint` when the pointer rests on it does so.
    pub(super) fn text(&mut self, [x, y]: [f64; 2], anchor: Anchor, text: &str, hint: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let title = title(hint);
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{title}{}</text>\n",
            escaped(text)
        ));
    }
    /// Adds a text that reads upwards, centred at a position.
    pub(super) fn upward_text(&mut self, [x, y]: [f64; 2], text: &str) {
        self.push(format_args!(
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"middle\">{}\
             </text>\n",
            escaped(text)
        ));
    }
    /// Adds connected strokes; a stroke of a single point is a dot.
    pub(super) fn strokes(&mut self, strokes: &[Vec<[f64; 2]>], colour: &str, name: &str) {
        self.push(format_args!(
            "<path fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" stroke-linecap=\"round\" \
             stroke-linejoin=\"round\" d=\""
        ));
        for stroke in strokes {
            for (i, [x, y]) in stroke.iter().enumerate() {
                let letter = if i == 0 { 'M' } else { 'L' };
                self.push(format_args!("{letter}{x:.1} {y:.1}"));
            }
            if stroke.len() == 1 {
                self.push(format_args!("h0"));
            }
        }
        self.push(format_args!("\">{}</path>\n", title(name)));
    }
}

fn title(text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!("<title>{}</title>", escaped(text)),
    }
}

/// Escapes a text for XML 1.0, which has no control characters.
fn escaped(text: &str) -> String {
    let mut all = String::new();
    for c in text.chars() {
        match c {
            '&' => all.push_str("&amp;"),
            '<' => all.push_str("&lt;"),
            '>' => all.push_str("&gt;"),
            '"' => all.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => all.push('\u{fffd}'),
            c => all.push(c),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(
            escaped("a<b>&\"c\"\u{1}"),
            "a&lt;b&gt;&amp;&quot;c&quot;\u{fffd}"
        );
    }
}
