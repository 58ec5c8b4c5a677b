//! Sliders, buttons and gamepads.

use super::Meshcat;
use super::client_message::Gamepad;
use super::slider::Slider;
use crate::Result;

/// Sliders, buttons and gamepads.
impl Meshcat {
    /// Adds a button to all pages. `keycode`, which may be empty, is the
    /// [code](https://developer.mozilla.org/en-US/docs/Web/API/UI_Events/Keyboard_event_code_values)
    /// of the key that clicks the button, such as `KeyG` or `ArrowLeft`. If the button exists, its
    /// clicks are reset to 0, and it gets the key if it had none.
    ///
    /// # Errors
    /// Returns an error if a slider has this name, or the button exists with another key.
    pub fn add_button(&self, name: &str, keycode: &str) -> Result<()> {
        self.change(|scene| scene.add_button(name, keycode))
    }
    /// Returns how often a button was clicked since it was added, on all pages together.
    ///
    /// # Errors
    /// Returns an error if there is no button of that name.
    pub fn button_clicks(&self, name: &str) -> Result<u64> {
        self.scene().controls.button_clicks(name)
    }
    /// Removes a button. Returns false if there is no button of that name and `strict` is false.
    ///
    /// # Errors
    /// Returns an error if there is no button of that name and `strict` is true.
    pub fn delete_button(&self, name: &str, strict: bool) -> Result<bool> {
        self.delete_control("button", name, strict)
    }
    /// Returns the names of all buttons, in the order in which they were added.
    pub fn button_names(&self) -> Vec<String> {
        self.scene().controls.names(Some("button"))
    }

    /// Adds a slider to all pages. Its values are the multiples of `step` between `min` and `max`,
    /// and these two. Returns its initial value, which is the one nearest to `value`; at a tie, the
    /// one that is farther from zero.
    ///
    /// # Errors
    /// Returns an error if a control has this name, the range or the step is invalid, or `value` is
    /// not a number.
    pub fn add_slider(&self, name: &str, min: f64, max: f64, step: f64, value: f64) -> Result<f64> {
        self.add_slider_with_keycodes(name, min, max, step, value, "", "")
    }
    /// Adds a slider that two keys move down and up to the next value; see
    /// [`add_button`](Self::add_button) for the key codes.
    ///
    /// # Errors
    /// Same as [`add_slider`](Self::add_slider).
    #[expect(
        clippy::too_many_arguments,
        reason = "same arguments as Drake's AddSlider"
    )]
    pub fn add_slider_with_keycodes(
        &self,
        name: &str,
        min: f64,
        max: f64,
        step: f64,
        value: f64,
        decrement_keycode: &str,
        increment_keycode: &str,
    ) -> Result<f64> {
        let mut slider = Slider {
            value,
            min,
            max,
            step,
            decrement_keycode: decrement_keycode.into(),
            increment_keycode: increment_keycode.into(),
        };
        slider.check(name)?;
        slider.value = slider.quantize(value);
        let value = slider.value;
        self.change(|scene| scene.add_slider(name, slider))?;
        Ok(value)
    }
    /// Moves a slider to the nearest value it can take, on all pages.
    ///
    /// # Errors
    /// Returns an error if there is no slider of that name, or the value is not a number.
    pub fn set_slider_value(&self, name: &str, value: f64) -> Result<()> {
        self.change(|scene| scene.set_slider_value(name, value))
    }
    /// Returns the value of a slider.
    ///
    /// # Errors
    /// Returns an error if there is no slider of that name.
    pub fn slider_value(&self, name: &str) -> Result<f64> {
        Ok(self.scene().controls.slider(name)?.1.value)
    }
    /// Returns the names of all sliders, in the order in which they were added.
    pub fn slider_names(&self) -> Vec<String> {
        self.scene().controls.names(Some("slider"))
    }
    /// Removes a slider. Returns false if there is no slider of that name and `strict` is false.
    ///
    /// # Errors
    /// Returns an error if there is no slider of that name and `strict` is true.
    pub fn delete_slider(&self, name: &str, strict: bool) -> Result<bool> {
        self.delete_control("slider", name, strict)
    }
    fn delete_control(&self, kind: &str, name: &str, strict: bool) -> Result<bool> {
        match self.change(|scene| scene.delete_control(kind, name)) {
            Ok(()) => Ok(true),
            Err(error) if strict => Err(error),
            Err(_) => Ok(false),
        }
    }
    /// Removes all sliders and buttons.
    pub fn delete_added_controls(&self) {
        self.change(|scene| scene.delete_controls());
    }

    /// Returns the last state of a gamepad that a page reported. Browsers report a gamepad once a
    /// button was pressed or a stick moved while the page has the focus. If there are several
    /// gamepads, this is the first one of the page that reported last.
    pub fn gamepad(&self) -> Gamepad {
        self.inputs().gamepad.clone()
    }
}
