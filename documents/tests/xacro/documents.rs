//! Random documents of properties, macros, blocks, conditions and comments.

use super::random::Random;

struct Generator<'r> {
    random: &'r mut Random,
    text: String,
    /// Names of macros that were defined, with the number of their parameters and of their blocks.
    macros: Vec<(String, usize, usize)>,
    in_macro: bool,
}

/// A document.
pub(super) fn document(random: &mut Random) -> String {
    let mut generator = Generator {
        random,
        text: String::new(),
        macros: vec![],
        in_macro: false,
    };
    generator
        .text
        .push_str("<robot name=\"r\" xmlns:xacro=\"http://www.ros.org/wiki/xacro\">\n");
    for i in 0..3 {
        generator.property(i);
    }
    let count = 3 + generator.random.below(10);
    for _ in 0..count {
        generator.top();
    }
    generator.text.push_str("</robot>\n");
    generator.text
}

impl Generator<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text
            .push_str(self.random.pick(&["\n", "\n", "\n  ", "\n\n", ""]));
    }

    fn property(&mut self, i: usize) {
        let value = self.value();
        let extra = self.random.pick(&["", "", "", " lazy_eval=\"false\""]);
        let scope = if self.in_macro {
            self.random
                .pick(&["", " scope=\"parent\"", " scope=\"global\""])
        } else {
            self.random.pick(&["", "", " scope=\"global\""])
        };
        let attribute = self.random.pick(&["value", "value", "value", "default"]);
        self.line(&format!(
            "<xacro:property name=\"p{i}\" {attribute}=\"{value}\"{extra}{scope}/>"
        ));
    }

    fn name(&mut self) -> String {
        let i = self.random.below(4);
        if self.in_macro && self.random.below(2) == 0 {
            format!("a{}", i % 2)
        } else {
            format!("p{}", i % 3)
        }
    }

    fn value(&mut self) -> String {
        let (a, b) = (self.name(), self.name());
        match self.random.below(16) {
            0 => "1".into(),
            1 => "0.5".into(),
            2 => "text".into(),
            3 => "true".into(),
            4 => format!("${{{a}}}"),
            5 => format!("${{{a}}}_${{{b}}}"),
            6 => format!("${{{a} * 2}}"),
            7 => "${1 + 2}".into(),
            8 => "'3'".into(),
            9 => format!("$${{{a}}}"),
            10 => " 4 ".into(),
            11 => "${[1, 2]}".into(),
            12 => "1_0".into(),
            13 => "1e-7".into(),
            14 => "${'5'}".into(),
            _ => "${2.0 * 3}".into(),
        }
    }

    fn condition(&mut self) -> String {
        let a = self.name();
        match self.random.below(6) {
            0 => "true".into(),
            1 => "0".into(),
            2 => format!("${{{a}}}"),
            3 => format!("${{{a} == 1}}"),
            4 => "${1 &lt; 2}".into(),
            _ => "${not True}".into(),
        }
    }

    fn top(&mut self) {
        match self.random.below(10) {
            0 | 1 => {
                let i = self.random.below(3);
                self.property(i);
            }
            2 | 3 if !self.in_macro => self.define(),
            4..7 => self.call(),
            _ => self.content(2),
        }
    }

    fn define(&mut self) {
        let name = format!("m{}", self.random.below(3));
        let (parameters, blocks) = (self.random.below(3), self.random.below(3));
        let mut spec = vec![];
        for i in 0..parameters {
            let default = match self.random.below(6) {
                0 => ":=1".to_string(),
                1 => "=${2 + 1}".into(),
                2 => format!(":=^|{}", self.random.below(9)),
                3 => ":='a b'".into(),
                _ => String::new(),
            };
            spec.push(format!("a{i}{default}"));
        }
        for i in 0..blocks {
            spec.push(format!("{}b{i}", self.random.pick(&["*", "**"])));
        }
        self.line(&format!(
            "<xacro:macro name=\"{name}\" params=\"{}\">",
            spec.join(" ")
        ));
        self.in_macro = true;
        for _ in 0..1 + self.random.below(3) {
            match self.random.below(4) {
                0 if blocks > 0 => {
                    let i = self.random.below(blocks);
                    self.line(&format!("<xacro:insert_block name=\"b{i}\"/>"));
                }
                1 => {
                    let i = self.random.below(3);
                    self.property(i);
                }
                _ => self.content(2),
            }
        }
        self.in_macro = false;
        self.line("</xacro:macro>");
        self.macros.retain(|m| m.0 != name);
        self.macros.push((name, parameters, blocks));
    }

    fn call(&mut self) {
        if self.macros.is_empty() {
            return self.content(1);
        }
        let i = self.random.below(self.macros.len());
        let (name, parameters, blocks) = self.macros[i].clone();
        let mut tag = match self.random.below(4) {
            0 => format!("xacro:call macro=\"{name}\""),
            _ => format!("xacro:{name}"),
        };
        let end = tag.split(' ').next().unwrap_or("").to_string();
        for i in 0..parameters {
            // A missing value is an error unless the parameter has a default.
            if self.random.below(6) > 0 {
                let value = self.value();
                tag += &format!(" a{i}=\"{value}\"");
            }
        }
        self.line(&format!("<{tag}>"));
        let given = blocks + usize::from(self.random.below(20) == 0);
        for i in 0..given {
            let value = self.value();
            self.line(&format!("<block{i} v=\"{value}\"><inner/></block{i}>"));
        }
        self.line(&format!("</{end}>"));
    }

    fn content(&mut self, depth: usize) {
        let (a, b) = (self.value(), self.value());
        match self.random.below(10) {
            0..3 => self.line(&format!("<link name=\"{a}\" size=\"{b} 1\"/>")),
            3 => self.line(&format!("<text>{a} {b}</text>")),
            4 => self.line(&format!("<!-- note {a} -->")),
            5 => self.line(&format!("<!-- xacro:eval-comments -->\n<!-- shown {a} -->")),
            6 if depth > 0 => {
                let condition = self.condition();
                let tag = self.random.pick(&["if", "unless"]);
                self.line(&format!("<xacro:{tag} value=\"{condition}\">"));
                self.content(depth - 1);
                self.content(depth - 1);
                self.line(&format!("</xacro:{tag}>"));
            }
            7 if depth > 0 => {
                self.line("<group>");
                self.content(depth - 1);
                self.line("</group>");
            }
            8 => self.line(&format!(
                "<xacro:element xacro:name=\"e${{1 + 1}}\" v=\"{a}\"><x/></xacro:element>"
            )),
            _ => self.line(&format!(
                "<y><xacro:attribute name=\"k\" value=\"_{b}\"/></y>"
            )),
        }
    }
}
