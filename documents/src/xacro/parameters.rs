//! Parameters of macros: `a b:=1 c:=^|${d} *block`.

use super::scopes::MacroParameter;
use std::collections::HashMap;

/// Maximum length of the parameters of a macro (bytes).
const MAX_PARAMETERS: usize = 10_000;

/// Parses the parameters of a macro; the error is a message.
pub(super) fn parameters(text: &str) -> Result<Vec<MacroParameter>, String> {
    if text.len() > MAX_PARAMETERS {
        return Err(format!(
            "parameters must have at most {MAX_PARAMETERS} bytes, got {}",
            text.len()
        ));
    }
    parse(text)
}

fn parse(text: &str) -> Result<Vec<MacroParameter>, String> {
    let mut text = ParameterText::new(text);
    let (mut at, mut is_one_line) = (0, false);
    let (mut parameters, mut defaults) = (vec![], HashMap::new());
    while at < text.chars.len() {
        if let Some((parameter, next)) = text.with_default(at) {
            defaults.insert(parameter.name.clone(), parameter.clone());
            parameters.push(parameter);
            at = next;
            if !is_one_line {
                text.end_at_line_break(at);
                is_one_line = true;
            }
            continue;
        }
        at = text.after_spaces(at);
        let name = text.word(at, |_| false);
        if name.is_empty() {
            return Err("parameters must not be blank".into());
        }
        at = text.after_spaces(at + name.chars().count());
        parameters.push(MacroParameter {
            name,
            forwards: false,
            default: None,
        });
    }
    // All parameters of one name have the last default among them, which may be empty, as in xacro.
    for parameter in &mut parameters {
        if let Some(last) = defaults.get(&parameter.name) {
            *parameter = last.clone();
        }
    }
    Ok(parameters)
}

/// A text of parameters, with the ends of the defaults that may start at each character. They are
/// found from the back, which takes linear time.
struct ParameterText {
    chars: Vec<char>,
    /// End of a text that goes on to a `}` or a `)` with white space behind it.
    braces: Vec<Option<usize>>,
    brackets: Vec<Option<usize>>,
    /// End of a series of characters and quoted texts.
    words: Vec<Option<usize>>,
}

impl ParameterText {
    fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let count = chars.len();
        let mut text = Self {
            braces: vec![None; count + 1],
            brackets: vec![None; count + 1],
            words: vec![None; count + 1],
            chars,
        };
        text.words[count] = Some(count);
        // Ends of texts that are in quotes already.
        let (mut single, mut double) = (None, None);
        for i in (0..count).rev() {
            let c = text.chars[i];
            let end = text.is_end(i + 1).then_some(i + 1);
            let closes = |mark: char, later: Option<usize>| match c {
                c if c == mark && end.is_some() => end,
                '\n' => None,
                _ => later,
            };
            text.braces[i] = closes('}', text.braces[i + 1]);
            text.brackets[i] = closes(')', text.brackets[i + 1]);
            text.words[i] = match c {
                c if c.is_whitespace() => Some(i),
                '\'' => single,
                '"' => double,
                _ => text.words[i + 1],
            };
            let after = text.words[i + 1];
            let quoted = |mark: char, later: Option<usize>| match c {
                c if c == mark && after.is_some() => after,
                '\n' => None,
                _ => later,
            };
            (single, double) = (quoted('\'', single), quoted('"', double));
        }
        text
    }

    /// Ends the text at the first line break from a place on, as xacro does after a default. No
    /// end of a default lies behind it unless the default starts there.
    fn end_at_line_break(&mut self, from: usize) {
        let mut rest = self.chars.iter().skip(from);
        if let Some(length) = rest.position(|c| *c == '\n') {
            self.chars.truncate(from + length);
        }
    }

    fn is_end(&self, at: usize) -> bool {
        self.chars.get(at).is_none_or(|c| c.is_whitespace())
    }
    fn after_spaces(&self, at: usize) -> usize {
        let rest = self.chars.iter().skip(at);
        at + rest.take_while(|c| c.is_whitespace()).count()
    }
    /// Returns the characters up to white space or one that ends the word.
    fn word(&self, at: usize, ends: fn(char) -> bool) -> String {
        let rest = self.chars.iter().skip(at).copied();
        rest.take_while(|c| !c.is_whitespace() && !ends(*c))
            .collect()
    }
    fn text(&self, from: usize, to: usize) -> String {
        self.chars
            .get(from..to)
            .unwrap_or_default()
            .iter()
            .collect()
    }

    /// Returns the end of the default at a place; it may be empty.
    fn default_end(&self, at: usize) -> Option<usize> {
        let opened = |ends: &[Option<usize>]| ends.get(at + 2).copied().flatten();
        let command = match (self.chars.get(at), self.chars.get(at + 1)) {
            (Some('$'), Some('{')) => opened(&self.braces),
            (Some('$'), Some('(')) => opened(&self.brackets),
            _ => None,
        };
        command.or_else(|| self.words.get(at).copied().flatten())
    }

    /// Parses a parameter with `=` or `:=`; returns it and the start of the next one.
    fn with_default(&self, at: usize) -> Option<(MacroParameter, usize)> {
        let at = self.after_spaces(at);
        let name = self.word(at, |c| matches!(c, ':' | '='));
        let mut at = self.after_spaces(at + name.chars().count());
        at += usize::from(self.chars.get(at) == Some(&':'));
        if name.is_empty() || self.chars.get(at) != Some(&'=') {
            return None;
        }
        let equals = at + 1;
        let at = self.after_spaces(equals);
        let mark = match (self.chars.get(at), self.chars.get(at + 1)) {
            (Some('^'), Some('|')) => 2,
            (Some('^'), _) => 1,
            _ => 0,
        };
        let found = (0..=mark).rev().find_map(|mark| {
            let end = self.default_end(at + mark)?;
            Some((mark > 0, at + mark, end))
        });
        let (forwards, start, end) = match found {
            Some(found) => found,
            // Without a closing quote, the default is empty if a space can follow it.
            None if at > equals => (false, at - 1, at - 1),
            None => return None,
        };
        let parameter = MacroParameter {
            name,
            forwards,
            default: Some(self.text(start, end)).filter(|d| !d.is_empty()),
        };
        let next = match found {
            Some(_) => self.after_spaces(end),
            None => at,
        };
        Some((parameter, next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_defaults_forwards_and_blocks() {
        let parse = |text| -> Vec<String> {
            let parsed = parameters(text).unwrap();
            let shown = parsed.iter().map(|p| {
                let forward = if p.forwards { "^" } else { "" };
                format!(
                    "{}{forward}={}",
                    p.name,
                    p.default.as_deref().unwrap_or("-")
                )
            });
            shown.collect()
        };
        assert_eq!(parse("a b *c **d"), ["a=-", "b=-", "*c=-", "**d=-"]);
        assert_eq!(parse("a:=1 b=2 c := 3"), ["a=1", "b=2", "c=3"]);
        assert_eq!(parse("a:=^ b:=^|5 c"), ["a^=-", "b^=5", "c=-"]);
        assert_eq!(parse("a:='x y' b:=\"z w\"1"), ["a='x y'", "b=\"z w\"1"]);
        assert_eq!(
            parse("a:=${1 + 2} b:=$(arg c)"),
            ["a=${1 + 2}", "b=$(arg c)"]
        );
        assert_eq!(parse("a:="), ["a=-"]);
        assert_eq!(parse(""), Vec::<String>::new());
        assert!(parameters(" ").is_err());
        assert_eq!(parse("a:='x'y'z' b"), ["a='x'y'z'", "b=-"]);
        assert_eq!(parse("a:=${x}y b:=${z} c"), ["a=${x}y b:=${z}", "c=-"]);
        assert_eq!(parse("a:=${x b:=1"), ["a=${x", "b=1"]);
        assert_eq!(parse("a:= 'x b"), ["a=-", "'x=-", "b=-"]);
        assert_eq!(parse("a:='x b"), ["a:='x=-", "b=-"]);
        assert_eq!(parse("a:=^'x' b:=^c"), ["a^='x'", "b^=c"]);
        assert_eq!(parse("a:=1\nb c\nd"), ["a=1", "b=-", "c=-"]);
        assert_eq!(parse("a\nb:=2"), ["a=-", "b=2"]);
        assert_eq!(parse("a:=1 a b a:="), ["a=-", "a=-", "b=-", "a=-"]);
        assert_eq!(parse("a:=1 b\n=2"), ["a=1", "b=-"]);
        assert_eq!(parse("a:=1 b:=\n 2"), ["a=1", "b=-"]);
        assert_eq!(parse("b:=\n 2\n c"), ["b=2", "c=-"]);
        assert_eq!(parse("a:=1 b a:=^|2 a"), ["a^=2", "b=-", "a^=2", "a^=2"]);
    }

    #[test]
    fn long_parameters_take_linear_time() {
        // A megabyte would take minutes in quadratic time.
        let start = std::time::Instant::now();
        for open in ["a:=${x ", "a:=$(x ", "a:='x' ", "a:=x'y ", "a "] {
            let count = 1_000_000 / open.len();
            assert!(!parse(&open.repeat(count)).unwrap().is_empty());
        }
        assert!(
            start.elapsed().as_secs_f64() < 20.0,
            "{:?}",
            start.elapsed()
        );
    }
}
