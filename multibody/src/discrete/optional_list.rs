//! Lists of large elements most of which are missing.

/// A list of optional elements that takes no space for the missing ones.
#[derive(Clone, Debug)]
pub(crate) struct OptionalList<E> {
    /// Where each element is, or `MISSING`.
    places: Vec<u32>,
    present: Vec<E>,
}

const MISSING: u32 = u32::MAX;

impl<E> OptionalList<E> {
    pub(crate) fn empty() -> Self {
        Self {
            places: vec![],
            present: vec![],
        }
    }

    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.present.clear();
    }

    /// Clears the list and makes it one of missing elements.
    pub(crate) fn reset(&mut self, len: usize) {
        self.clear();
        self.places.resize(len, MISSING);
    }

    #[inline]
    pub(crate) fn push(&mut self, element: Option<E>) {
        match element {
            Some(element) => {
                self.places.push(self.present.len() as u32);
                self.present.push(element);
            }
            None => self.places.push(MISSING),
        }
    }

    /// Adds an element that is missing, to be changed in place.
    pub(crate) fn insert_with(&mut self, index: usize, make: impl Fn() -> E) -> &mut E {
        let place = self.present.len();
        self.places[index] = place as u32;
        self.present.resize_with(place + 1, make);
        &mut self.present[place]
    }

    /// Returns an element, or `None` if it is missing or beyond the end.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&E> {
        self.present.get(*self.places.get(index)? as usize)
    }

    /// Returns an element to be changed, or `None` if it is missing or beyond the end.
    #[inline]
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut E> {
        self.present.get_mut(*self.places.get(index)? as usize)
    }
}
