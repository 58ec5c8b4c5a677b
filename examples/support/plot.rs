//! Line plots of recorded signals, as SVG.

use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

/// Colours that are distinguishable with any kind of colour vision (Okabe and Ito's palette).
const COLORS: [RGBColor; 4] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
];
const INK: RGBColor = RGBColor(60, 60, 60);
/// Width and height in the browser (pixels).
const SIZE: (u32, u32) = (800, 450);
/// Magnification of the drawing: the backend rounds to whole units, so the picture is drawn larger
/// and scaled down.
const SCALE: u32 = 8;

/// One line of a plot: its name in the legend and its points.
pub(crate) struct Line<'a> {
    pub(crate) name: &'a str,
    pub(crate) points: Vec<(f64, f64)>,
    /// Draws dots instead of a line, for sparse samples.
    pub(crate) dots: bool,
}

/// Writes a plot of `lines`. The axes are `[x, y]`, each with its unit.
pub(crate) fn plot(
    file: &Path,
    title: &str,
    axes: [&str; 2],
    lines: &[Line<'_>],
) -> Result<(), Box<dyn Error>> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let x = span(points().map(|p| p.0), 0.0);
    let y = span(points().map(|p| p.1), 0.08);
    // The legend goes into the corner with the fewest points.
    let corner = |right: bool, upper: bool| {
        let covered = |p: &&(f64, f64)| {
            let [across, up] =
                [(p.0, &x), (p.1, &y)].map(|(v, s)| (v - s.start) / (s.end - s.start));
            (if right { 1.0 - across } else { across }) < 0.3
                && (if upper { 1.0 - up } else { up }) < 0.3
        };
        points().filter(covered).count()
    };
    let corners = [
        (corner(true, true), SeriesLabelPosition::UpperRight),
        (corner(true, false), SeriesLabelPosition::LowerRight),
        (corner(false, true), SeriesLabelPosition::UpperLeft),
        (corner(false, false), SeriesLabelPosition::LowerLeft),
    ];
    let best = corners.into_iter().min_by_key(|c| c.0).map(|c| c.1);

    let [thin, thick] = [SCALE, 2 * SCALE];
    let length = |pixels: u32| pixels * SCALE;
    let font = |pixels: u32| ("sans-serif", length(pixels)).into_font().color(&INK);
    let mut svg = String::new();
    let area =
        SVGBackend::with_string(&mut svg, (length(SIZE.0), length(SIZE.1))).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, font(20))
        .margin(length(12))
        .margin_right(length(24))
        .x_label_area_size(length(46))
        .y_label_area_size(length(64))
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .x_desc(axes[0])
        .y_desc(axes[1])
        .axis_style(INK.stroke_width(thin))
        .bold_line_style(RGBColor(215, 215, 215).stroke_width(thin))
        .light_line_style(TRANSPARENT)
        .set_all_tick_mark_size(length(4))
        .x_label_formatter(&|x| number(*x))
        .y_label_formatter(&|y| number(*y))
        .axis_desc_style(font(16))
        .label_style(font(14))
        .draw()?;
    for (line, color) in lines.iter().zip(COLORS.iter().cycle()) {
        let (points, line_style) = (line.points.iter().copied(), color.stroke_width(thick));
        let (size, reach) = (length(4) as i32, length(24) as i32);
        if line.dots {
            chart
                .draw_series(points.map(|p| Circle::new(p, size, color.filled())))?
                .label(line.name)
                .legend(move |(x, y)| Circle::new((x + reach / 2, y), size, color.filled()));
        } else {
            chart
                .draw_series(LineSeries::new(points, line_style))?
                .label(line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + reach, y)], line_style));
        }
    }
    chart
        .configure_series_labels()
        .position(best.unwrap_or(SeriesLabelPosition::UpperRight))
        .margin(length(12))
        .legend_area_size(length(32))
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200).stroke_width(thin))
        .label_font(font(14))
        .draw()?;
    area.present()?;
    drop((chart, area));
    let drawn = format!("width=\"{}\" height=\"{}\"", length(SIZE.0), length(SIZE.1));
    let shown = format!("width=\"{}\" height=\"{}\"", SIZE.0, SIZE.1);
    Ok(std::fs::write(file, svg.replacen(&drawn, &shown, 1))?)
}

/// The range of values with a margin; constant values need some height, too.
fn span(values: impl Iterator<Item = f64>, room: f64) -> std::ops::Range<f64> {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.fold(start, |(low, high), v| (low.min(v), high.max(v)));
    let room = if high > low { room * (high - low) } else { 1.0 };
    low - room..high + room
}

/// A number next to a grid line, without the rounding error of its position.
fn number(x: f64) -> String {
    // Adding zero turns negative zero into positive zero.
    format!("{}", (x * 1e6).round() / 1e6 + 0.0)
}
