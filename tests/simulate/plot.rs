//! Charts of the log.

use super::{Log, model, said, simulate};
use std::path::Path;

/// Texts of the elements with a tag, in order.
fn texts(svg: &str, tag: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let with_tag = document.descendants().filter(|n| n.has_tag_name(tag));
    let text = |node: roxmltree::Node<'_, '_>| {
        let own = node.children().filter(|c| c.is_text());
        own.filter_map(|c| c.text()).collect()
    };
    with_tag.map(text).collect()
}

/// Names of the lines of a chart.
fn lines(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let paths = document.descendants().filter(|n| n.has_tag_name("path"));
    let title = |path: roxmltree::Node<'_, '_>| {
        let title = path.children().find(|c| c.has_tag_name("title"))?;
        title.text().map(String::from)
    };
    paths.filter_map(title).collect()
}

fn plot_of(model: &Path, options: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plot.svg");
    let output = simulate(model, options).arg("--plot").arg(&file).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", said(&output));
    std::fs::read_to_string(&file).unwrap()
}

#[test]
fn plot_has_a_line_for_each_column_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let [csv, plot] = ["log.csv", "plot.svg"].map(|name| folder.path().join(name));
    let ball = model("table_top/ball.urdf");
    let mut command = simulate(&ball, &["--until", "0.5"]);
    command.arg("--log").arg(&csv).arg("--plot").arg(&plot);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let svg = std::fs::read_to_string(&plot).unwrap();
    let mut header = Log::read(&csv).header;
    header.remove(0);
    let mut drawn = lines(&svg);
    // Names of the legend have them as hints as well.
    drawn.dedup();
    header.sort();
    drawn.sort();
    assert_eq!(drawn, header);
    // The same picture without a log.
    assert_eq!(plot_of(&ball, &["--until", "0.5"]), svg);
    let texts = texts(&svg, "text");
    for label in [
        "position (m)",
        "quaternion",
        "angular velocity (rad/s)",
        "velocity (m/s)",
        "energy (J)",
        "number of contacts",
        "time (s)",
    ] {
        assert!(texts.iter().any(|t| t == label), "{label}: {texts:?}");
    }
    assert!(!texts.iter().any(|t| t == "angle (rad)"), "{texts:?}");
}

#[test]
fn patterns_choose_the_columns_of_a_plot() {
    let ball = model("table_top/ball.urdf");
    let chosen = |patterns: &[&str]| {
        let columns = patterns.iter().flat_map(|p| ["--columns", p]);
        let options: Vec<&str> = ["--until", "0.1"].into_iter().chain(columns).collect();
        let mut lines = lines(&plot_of(&ball, &options));
        lines.sort();
        lines
    };
    assert_eq!(chosen(&["ball::*_z.q"]), ["ball::ball_z.q"]);
    assert_eq!(chosen(&["energy,contacts"]), ["contacts", "energy"]);
    assert_eq!(
        chosen(&["ball_z.q", "*_vz.v"]),
        ["ball::ball_vz.v", "ball::ball_z.q"]
    );
    let folder = tempfile::tempdir().unwrap();
    let mut command = simulate(&ball, &["--until", "0.1", "--columns", "*_zz.q"]);
    let output = command.arg("--plot").arg(folder.path().join("plot.svg"));
    let output = output.output().unwrap();
    let said = said(&output);
    assert!(!output.status.success());
    assert!(
        said.contains("--columns *_zz.q: the pattern must match a column of the log")
            && said.contains("there are ball::ball_z.q"),
        "{said}"
    );
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    let mut both = simulate(&ball, &["--until", "0.1", "--log", "a", "--plot", "a"]);
    let output = both.current_dir(&folder).output().unwrap();
    assert!(super::said(&output).contains("--plot and --log must name different files"));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    let output = simulate(&ball, &["--until", "0.1", "--columns", "*"]).output();
    let said = super::said(&output.unwrap());
    assert!(said.contains("--plot"), "{said}");
}

/// A chain of 30 hinges has more columns than colours, and names that XML must escape.
#[test]
fn legend_names_twelve_columns_and_counts_the_others() {
    let mut body = String::new();
    for i in 0..30 {
        body.push_str(&format!(
            "<body pos='0 0 -.1'><joint name='a&lt;{i}&amp;' axis='0 1 0'/><geom size='.02'/>"
        ));
    }
    let text = format!(
        "<mujoco model='m'><option><flag contact='disable'/></option><worldbody>{body}{}</worldbody></mujoco>",
        "</body>".repeat(30)
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chain.xml");
    std::fs::write(&file, text).unwrap();
    let svg = plot_of(&file, &["--until", "0.1"]);
    let texts = texts(&svg, "text");
    assert_eq!(texts.iter().filter(|t| *t == "and 18 more").count(), 2);
    assert_eq!(texts.iter().filter(|t| t.starts_with("m::a<")).count(), 24);
    let drawn = lines(&svg);
    assert_eq!(
        drawn.iter().filter(|t| t.starts_with("m::a<29&")).count(),
        2
    );
}
