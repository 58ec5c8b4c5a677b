//! Charts of columns against time, one panel for each physical quantity.

use super::axis::Axis;
use super::samples::{Interval, Samples};
use super::svg::{Anchor, Svg};
use crate::simulate::log_columns::{LogColumn, Quantity};

/// Colours that differ also for most people with weak colour vision.
const COLOURS: [&str; 12] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a0177", "#8c564b",
    "#66a61e", "#b2182b", "#1b3a6b", "#a6761d",
];
/// Colour of all other columns.
const OTHERS: &str = "#bbb";
/// Width of the area of a panel in which lines are drawn, in pixels.
const WIDTH: f64 = 640.0;
/// Height of that area, enough for the legend.
const HEIGHT: f64 = 210.0;
const TOP: f64 = 16.0;
/// Room for the labels of the time axis.
const BELOW: f64 = 28.0;
/// Room for the name of the time axis.
const TIME: f64 = 22.0;
/// Approximate width of a letter.
const LETTER: f64 = 7.0;
/// Height of a line of the legend.
const LINE: f64 = 16.0;
/// Maximum number of letters of a name in the legend.
const LONGEST: usize = 40;

/// A panel: a quantity and the places of its columns.
struct Panel {
    quantity: Quantity,
    columns: Vec<usize>,
    axis: Axis,
}

/// Draws columns. Values that are not finite leave gaps.
pub(super) fn draw(columns: &[LogColumn], samples: &Samples) -> String {
    let intervals = &samples.intervals;
    let panels = panels(columns, intervals);
    let ticks = panels.iter().flat_map(|panel| panel.axis.ticks(5));
    let widest = ticks.map(|tick| tick.label.len()).max().unwrap_or(0);
    let left = 34.0 + LETTER * widest as f64;
    let longest = columns.iter().map(|c| c.name.chars().count()).max();
    // The last line of a legend may be longer than any name.
    let legend = LETTER * longest.unwrap_or(0).clamp(20, LONGEST) as f64 + 40.0;
    let height = (TOP + HEIGHT + BELOW) * panels.len() as f64 + TIME;
    let mut svg = Svg::new(left + WIDTH + legend, height);
    let time = match (intervals.first(), intervals.last()) {
        (Some(first), Some(last)) => Axis::new(first.from, last.to),
        _ => Axis::new(0.0, 1.0),
    };
    for (i, panel) in panels.iter().enumerate() {
        let top = TOP + (TOP + HEIGHT + BELOW) * i as f64;
        let area = Area {
            left,
            top,
            time,
            value: panel.axis,
        };
        area.draw_axes(&mut svg, panel.quantity);
        let coloured = panel.columns.len().min(COLOURS.len());
        let (named, others) = panel.columns.split_at(coloured);
        // Columns of the legend lie above all others.
        for column in others {
            let strokes = area.strokes(intervals, *column);
            svg.strokes(&strokes, OTHERS, &columns[*column].name);
        }
        for (column, colour) in named.iter().zip(COLOURS).rev() {
            let strokes = area.strokes(intervals, *column);
            svg.strokes(&strokes, colour, &columns[*column].name);
        }
        let mut y = top + 8.0;
        let mut entry = |colour: &str, text: &str, hint: &str| {
            let x = left + WIDTH + 10.0;
            svg.strokes(&[vec![[x, y], [x + 16.0, y]]], colour, "");
            svg.text([x + 22.0, y + 4.0], Anchor::Start, text, hint);
            y += LINE;
        };
        for (column, colour) in named.iter().zip(COLOURS) {
            let name = &columns[*column].name;
            entry(colour, &shortened(name), name);
        }
        if !others.is_empty() {
            entry(OTHERS, &format!("and {} more", others.len()), "");
        }
    }
    let x = left + WIDTH / 2.0;
    svg.text([x, height - 8.0], Anchor::Middle, "time (s)", "");
    svg.finish()
}

fn panels(columns: &[LogColumn], intervals: &[Interval]) -> Vec<Panel> {
    let panel = |quantity| {
        let of_quantity = |i: &usize| columns[*i].quantity == quantity;
        let columns: Vec<usize> = (0..columns.len()).filter(of_quantity).collect();
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for span in intervals
            .iter()
            .flat_map(|i| columns.iter().map(|c| i.spans[*c]))
        {
            (low, high) = (low.min(span.low), high.max(span.high));
        }
        Panel {
            quantity,
            columns,
            axis: Axis::new(low, high).widened(0.05),
        }
    };
    let all = Quantity::ALL.into_iter().map(panel);
    all.filter(|panel| !panel.columns.is_empty()).collect()
}

/// Area of a panel in which lines are drawn, with its axes.
struct Area {
    left: f64,
    top: f64,
    time: Axis,
    value: Axis,
}

impl Area {
    fn x(&self, time: f64) -> f64 {
        self.left + WIDTH * self.time.place(time)
    }
    fn y(&self, value: f64) -> f64 {
        self.top + HEIGHT * (1.0 - self.value.place(value))
    }

    fn draw_axes(&self, svg: &mut Svg, quantity: Quantity) {
        const GRID: &str = "#e4e4e4";
        let (right, bottom) = (self.left + WIDTH, self.top + HEIGHT);
        for tick in self.time.ticks(8) {
            let x = self.x(tick.value);
            svg.line([x, self.top], [x, bottom], GRID);
            svg.text([x, bottom + 16.0], Anchor::Middle, &tick.label, "");
        }
        for tick in self.value.ticks(5) {
            let y = self.y(tick.value);
            svg.line([self.left, y], [right, y], GRID);
            svg.text([self.left - 6.0, y + 4.0], Anchor::End, &tick.label, "");
        }
        svg.frame([self.left, self.top, WIDTH, HEIGHT]);
        let middle = self.top + HEIGHT / 2.0;
        svg.upward_text([16.0, middle], quantity.label());
    }

    /// Returns the connected parts of a column.
    fn strokes(&self, intervals: &[Interval], column: usize) -> Vec<Vec<[f64; 2]>> {
        let mut strokes: Vec<Vec<[f64; 2]>> = vec![];
        let mut is_connected = false;
        for interval in intervals {
            let span = interval.spans[column];
            let Some((first, second)) = span.values() else {
                is_connected = false;
                continue;
            };
            if !is_connected || span.has_gap {
                strokes.push(vec![]);
            }
            is_connected = !span.has_gap;
            if let Some(stroke) = strokes.last_mut() {
                push(stroke, [self.x(interval.from), self.y(first)]);
                if first != second {
                    push(stroke, [self.x(interval.to), self.y(second)]);
                }
            }
        }
        strokes
    }
}

/// Adds a point to a stroke; a level part needs its ends only.
fn push(stroke: &mut Vec<[f64; 2]>, point: [f64; 2]) {
    match stroke[..] {
        [.., [_, before], [_, last]] if before == last && last == point[1] => {
            let end = stroke.len() - 1;
            stroke[end] = point;
        }
        _ => stroke.push(point),
    }
}

/// Leaves out the middle of a long name.
fn shortened(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= LONGEST {
        return name.into();
    }
    let half = (LONGEST - 1) / 2;
    let (start, end) = (&letters[..half], &letters[letters.len() - half..]);
    start.iter().chain(&['…']).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strokes(values: &[f64]) -> Vec<Vec<[f64; 2]>> {
        let mut samples = Samples::new();
        for (i, value) in values.iter().enumerate() {
            samples.add(i as f64, [*value].into_iter());
        }
        let area = Area {
            left: 0.0,
            top: 0.0,
            time: Axis::new(0.0, WIDTH),
            value: Axis::new(-HEIGHT, 0.0),
        };
        area.strokes(&samples.intervals, 0)
    }

    #[test]
    fn values_that_are_not_finite_leave_gaps() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let drawn = strokes(&[nan, -1.0, -2.0, inf, -3.0, nan, nan, -4.0, -5.0]);
        let expected = [
            vec![[1.0, 1.0], [2.0, 2.0]],
            vec![[4.0, 3.0]],
            vec![[7.0, 4.0], [8.0, 5.0]],
        ];
        assert_eq!(drawn.len(), expected.len());
        for (stroke, expected) in drawn.iter().zip(&expected) {
            assert_eq!(stroke.len(), expected.len());
            for (point, [x, y]) in stroke.iter().zip(expected) {
                assert!(
                    (point[0] - x).abs() + (point[1] - y).abs() < 1e-9,
                    "{drawn:?}"
                );
            }
        }
        assert!(strokes(&[nan, nan]).is_empty());
    }

    #[test]
    fn level_parts_need_two_points() {
        assert_eq!(strokes(&[-1.0; 100])[0].len(), 2);
        assert_eq!(strokes(&[-1.0, -1.0, -1.0, -2.0, -2.0])[0].len(), 4);
    }

    #[test]
    fn chart_without_rows_or_finite_values_has_axes() {
        let column = LogColumn {
            name: "e".into(),
            quantity: Quantity::Energy,
        };
        let mut samples = Samples::new();
        let svg = draw(std::slice::from_ref(&column), &samples);
        assert!(svg.contains("energy (J)") && svg.ends_with("</svg>\n"));
        samples.add(0.0, [f64::NAN].into_iter());
        samples.add(1e9, [f64::MAX].into_iter());
        samples.add(2e9, [f64::MIN].into_iter());
        let svg = draw(&[column], &samples);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
