//! Commands: `$(find package)`, `$(arg name)`, `$(env NAME)`, `$(eval ...)` and others.

use super::expander::{XacroExpander, XacroResult};
use super::scopes::ScopeIndex;
use super::tree::PlacedText;
use crate::names;
use std::ops::Range;
use std::path::Path;

/// Names of the commands.
const COMMANDS: &str = "arg, cwd, dirname, env, eval, find or optenv";

impl XacroExpander<'_> {
    /// Runs a command, given without its brackets.
    pub(super) fn command(
        &mut self,
        command: &str,
        at: &PlacedText,
        scope: ScopeIndex,
    ) -> XacroResult<String> {
        if command == "cwd" {
            let folder = std::env::current_dir();
            let folder = folder.map_err(|e| self.error(at.place, format!("$(cwd): {e}")))?;
            return Ok(folder.display().to_string());
        }
        if let Some(expression) = command.strip_prefix("eval ") {
            if expression.contains("__") {
                let message = "$(eval ...) must not have two underscores in a row";
                return Err(self.error(at.place, message));
            }
            let exact = at.exact && at.text == command;
            let expression = PlacedText {
                text: expression.into(),
                place: if exact {
                    at.place_at("eval ".len())
                } else {
                    at.place
                },
                exact,
            };
            let value = self.run(&expression, scope, true)?;
            return self.text(&value, at.place);
        }
        // An argument may hold a command, of which `find` is run.
        let once = self.run_commands(&format!("$({command})"), at, false)?;
        self.run_commands(&once, at, true)
    }

    /// Runs all commands in a text, or only `find`.
    fn run_commands(
        &mut self,
        text: &str,
        at: &PlacedText,
        only_find: bool,
    ) -> XacroResult<String> {
        let mut resolved = String::new();
        let mut copied = 0;
        for range in self.commands(text, at)? {
            let command = &text[range.start + 2..range.end - 1];
            let mut words = command.split(' ').filter(|w| !w.is_empty());
            let name = words.next().unwrap_or("");
            let words: Vec<&str> = words.collect();
            let fail =
                |message: &str| Err(self.error(at.place, format!("$({command}): {message}")));
            let value = match (name, &*words) {
                ("find", [package]) => self.find(package, at)?,
                ("find", _) => return fail("it must have one package"),
                _ if only_find && matches!(name, "arg" | "dirname" | "env" | "optenv") => continue,
                ("arg", [argument]) => self.argument(argument, at)?,
                ("arg", _) => return fail("it must have one name"),
                ("env", [variable]) => self.environment(variable, at)?,
                ("env", _) => return fail("it must have one name"),
                ("optenv", []) => return fail("it must have a name"),
                ("optenv", [variable, default @ ..]) => {
                    std::env::var(variable).unwrap_or_else(|_| default.join(" "))
                }
                ("dirname", _) => self.folder(),
                _ => return fail(&format!("the command must be {COMMANDS}, got '{name}'")),
            };
            resolved.push_str(&text[copied..range.start]);
            resolved.push_str(&value);
            copied = range.end;
            if resolved.len() > crate::expression::MAX_TEXT {
                return fail("the text is too long");
            }
            let counted = self.spend(1 + value.len() / 16);
            counted.map_err(|e| self.error(at.place, e.message))?;
        }
        resolved.push_str(&text[copied..]);
        Ok(resolved)
    }

    /// Finds the commands in a text, with their brackets.
    fn commands(&self, text: &str, at: &PlacedText) -> XacroResult<Vec<Range<usize>>> {
        #[derive(PartialEq)]
        enum State {
            Outside,
            Dollar,
            Bracket,
            Inside,
        }
        let (mut found, mut start, mut state) = (vec![], 0, State::Outside);
        for (i, c) in text.char_indices() {
            state = match (c, state) {
                ('$', State::Outside | State::Dollar) => {
                    start = i;
                    State::Dollar
                }
                ('$', _) => {
                    let message = format!("a command must not have '$' in it, got '{text}'");
                    return Err(self.error(at.place, message));
                }
                ('(', State::Dollar) => State::Bracket,
                ('(', State::Outside) => State::Outside,
                ('(', _) => {
                    let message = format!("a command must not have '(' in it, got '{text}'");
                    return Err(self.error(at.place, message));
                }
                (')', State::Inside) => {
                    found.push(start..i + 1);
                    State::Outside
                }
                (')', _) | (_, State::Dollar) => State::Outside,
                (_, State::Bracket) => State::Inside,
                (_, state) => state,
            };
        }
        Ok(found)
    }

    /// Returns the directory of a package.
    pub(super) fn find(&self, package: &str, at: &PlacedText) -> XacroResult<String> {
        let folder = self.packages.path(package);
        let folder = folder.map_err(|e| self.error(at.place, format!("$(find {package}): {e}")))?;
        Ok(absolute(&folder))
    }

    /// Returns the value of an argument.
    pub(super) fn argument(&self, name: &str, at: &PlacedText) -> XacroResult<String> {
        self.arguments.get(name).cloned().ok_or_else(|| {
            if let Some(cure) = self.defined_later("xacro:arg", name, at.place) {
                return self.error(at.place, format!("$(arg {name}): {cure}"));
            }
            let known = self.arguments.keys().map(String::as_str);
            let unknown = names::unknown("argument", name, known);
            let message = format!(
                "$(arg {name}): {unknown}; declare it by <xacro:arg name=\"{name}\" default=\"\"/>, \
                 or set it"
            );
            self.error(at.place, message)
        })
    }

    /// Returns the value of an environment variable.
    pub(super) fn environment(&self, name: &str, at: &PlacedText) -> XacroResult<String> {
        std::env::var(name).map_err(|_| {
            let message = format!(
                "$(env {name}): the environment variable is not set; set it, or write \
                 $(optenv {name} DEFAULT)"
            );
            self.error(at.place, message)
        })
    }

    /// Returns the directory of the file that is being read.
    pub(super) fn folder(&self) -> String {
        absolute(&self.beside(""))
    }
}

fn absolute(path: &Path) -> String {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    let text = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let text = text.display().to_string();
    // The directory of a file has no slash at its end.
    if text.len() > 1 {
        text.trim_end_matches('/').into()
    } else {
        text
    }
}
