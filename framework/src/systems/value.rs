//! Type-erased values.

use std::any::Any;

/// Anything that can travel through a port or live in a context (Drake's `AbstractValue`).
/// Implemented for every `Clone + Send + Sync + 'static` type; never implemented by hand.
pub trait Value: Any + Send + Sync {
    #[doc(hidden)]
    fn clone_box(&self) -> Box<dyn Value>;
}

impl<V: Any + Clone + Send + Sync> Value for V {
    fn clone_box(&self) -> Box<dyn Value> {
        Box::new(self.clone())
    }
}

/// Typed view of an erased value. Handles are typed and only ever join slots of equal types, which
/// `build` and `fix` check, so the cast can not fail.
#[inline]
pub(crate) fn cast<V: 'static>(value: &dyn Value) -> &V {
    (value as &dyn Any)
        .downcast_ref()
        .expect("handles are typed, so slot and handle agree")
}

/// As [`cast`], mutable.
#[inline]
pub(crate) fn cast_mut<V: 'static>(value: &mut dyn Value) -> &mut V {
    (value as &mut dyn Any)
        .downcast_mut()
        .expect("handles are typed, so slot and handle agree")
}
