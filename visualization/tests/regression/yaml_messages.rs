//! Messages about the YAML of visualization. Source of the right answers: YAML 1.2.

use tarragon_visualization::VisualizationConfig;

#[test]
fn visualization_names_the_key_the_value_and_the_cure() {
    for (text, expected) in [
        (
            "publish_period: inf",
            "VisualizationConfig:1:17: publish_period: must be a number, got inf; YAML writes infinity as .inf",
        ),
        (
            "publish_contacts: perhaps",
            "publish_contacts: must be true or false, got perhaps",
        ),
        (
            "publish_period: 1\npublish_period: 2",
            "2:1: publish_period: the key must be given once, got it again after line 1",
        ),
        (
            "default_proximity_color: {rgba: [1, 0, 1_0]}",
            "default_proximity_color.rgba[2]: must be a number, got 1_0; write 10",
        ),
        (
            "lcm_bus: null",
            "lcm_bus: must be text, got null; write a text",
        ),
    ] {
        let error = VisualizationConfig::from_yaml(text)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{text}\n{error}");
    }
}
