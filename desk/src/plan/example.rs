//! Knows a small catalogue for the tests of this room; the rig supplies the real one.
