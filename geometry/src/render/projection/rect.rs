//! Rectangles of pixels.

/// Rectangle of the pixels `x0..x1`, `y0..y1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelRect {
    /// First column.
    pub x0: i32,
    /// First row.
    pub y0: i32,
    /// Column after the last.
    pub x1: i32,
    /// Row after the last.
    pub y1: i32,
}

impl PixelRect {
    pub(crate) fn is_empty(&self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        Self {
            x0: self.x0.max(other.x0),
            y0: self.y0.max(other.y0),
            x1: self.x1.min(other.x1),
            y1: self.y1.min(other.y1),
        }
    }
    /// Returns the indices of the corner pixels, `[x0, y0, x1 - 1, y1 - 1]`.
    pub(crate) fn corners(&self) -> [f64; 4] {
        [
            f64::from(self.x0),
            f64::from(self.y0),
            f64::from(self.x1 - 1),
            f64::from(self.y1 - 1),
        ]
    }
}
