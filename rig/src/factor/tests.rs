//! Knows how rows behave on machines that are trees of files.
