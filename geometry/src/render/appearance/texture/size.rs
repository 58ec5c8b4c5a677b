//! Limit on the size of images.

/// Maximum number of pixels, 16384 x 16384. Larger images are treated as damaged or hostile files.
const MOST_PIXELS: usize = 1 << 28;

/// Checks the size that a file declares, before memory of that size is allocated.
pub(super) fn check_size(width: usize, height: usize) -> Result<(), String> {
    match width.checked_mul(height) {
        Some(1..=MOST_PIXELS) => Ok(()),
        _ => Err(format!(
            "the image must have 1 to {MOST_PIXELS} pixels, got {width} x {height}"
        )),
    }
}
