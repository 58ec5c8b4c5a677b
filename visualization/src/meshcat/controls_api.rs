//! Sliders, buttons and gamepads.

use super::Meshcat;
use super::client_message::Gamepad;
use super::control::Slider;
use crate::Result;

/// Sliders, buttons and gamepads.
impl Meshcat {
    /// Adds a button to all pages. `keycode`, which may be empty, is the key that clicks it, by
    /// [its
    /// code](https://developer.mozilla.org/en-US/docs/Web/API/UI_Events/Keyboard_event_code_values)
    /// such as `KeyG` or `ArrowLeft`. A button that exists has its clicks set back to 0, and gets
    /// the key if it had none.
    ///
    /// # Errors
    /// If a slider has the name, or the button has another key.
    pub fn add_button(&self, name: &str, keycode: &str) -> Result<()> {
        self.change(|scene| scene.add_button(name, keycode))
    }
    /// How often a button was clicked on all pages together since it was added.
    ///
    /// # Errors
    /// If there is no button of that name.
    pub fn button_clicks(&self, name: &str) -> Result<u64> {
        self.scene().controls.button_clicks(name)
    }
    /// Removes a button; false if there is none of that name and `strict` is false.
    ///
    /// # Errors
    /// If there is no button of that name and `strict` is true.
    pub fn delete_button(&self, name: &str, strict: bool) -> Result<bool> {
        self.delete_control("button", name, strict)
    }
    /// The names of all buttons, in the order in which they were added.
    pub fn button_names(&self) -> Vec<String> {
        self.scene().controls.names(Some("button"))
    }

    /// Adds a slider to all pages, with the multiples of `step` from `min` to `max` as values, and
    /// those ends themselves. Returns the value that it has: the nearest to `value`.
    ///
    /// # Errors
    /// If a control has the name, or the range or the step are wrong.
    pub fn add_slider(&self, name: &str, min: f64, max: f64, step: f64, value: f64) -> Result<f64> {
        self.add_slider_with_keycodes(name, min, max, step, value, "", "")
    }
    /// Adds a slider that two keys move by one step, down and up; see
    /// [`add_button`](Self::add_button) for their codes.
    ///
    /// # Errors
    /// As [`add_slider`](Self::add_slider).
    #[expect(clippy::too_many_arguments, reason = "Drake's AddSlider has the same")]
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
    /// Moves a slider to the nearest value that it can have, on all pages.
    ///
    /// # Errors
    /// If there is no slider of that name, or the value is not a number.
    pub fn set_slider_value(&self, name: &str, value: f64) -> Result<()> {
        self.change(|scene| scene.set_slider_value(name, value))
    }
    /// The value of a slider.
    ///
    /// # Errors
    /// If there is no slider of that name.
    pub fn slider_value(&self, name: &str) -> Result<f64> {
        Ok(self.scene().controls.slider(name)?.1.value)
    }
    /// The names of all sliders, in the order in which they were added.
    pub fn slider_names(&self) -> Vec<String> {
        self.scene().controls.names(Some("slider"))
    }
    /// Removes a slider; false if there is none of that name and `strict` is false.
    ///
    /// # Errors
    /// If there is no slider of that name and `strict` is true.
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

    /// The gamepad as a page reported it last. Browsers report a gamepad after its first button or
    /// stick was moved with the page in front; with several gamepads, the first of the page that
    /// reported last.
    pub fn gamepad(&self) -> Gamepad {
        self.inputs().gamepad.clone()
    }
}
