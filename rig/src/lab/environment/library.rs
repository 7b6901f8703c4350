//! Knows the libraries that this binary runs on, a row each: what a load runs through is part of
//! what is measured.

use desk::record::{Fact, class_of};

/// A library on which a load depends.
struct Library {
    key: &'static str,
    /// Its version in its own words.
    version: fn() -> String,
    /// Where that was learnt.
    source: &'static str,
}

/// All of them.
const LIBRARIES: [Library; 1] =
    [Library { key: "lib.libc", version: libc_version, source: LIBC_SOURCE }];

#[cfg(target_env = "gnu")]
const LIBC_SOURCE: &str = "gnu_get_libc_version()";
#[cfg(not(target_env = "gnu"))]
const LIBC_SOURCE: &str = "this binary";

/// The libraries of this process.
#[must_use]
pub fn libraries() -> Vec<Fact> {
    let fact = |library: &Library| Fact {
        key: library.key.to_owned(),
        value: (library.version)(),
        class: class_of(library.key),
        source: library.source.to_owned(),
    };
    LIBRARIES.iter().map(fact).collect()
}

/// The libc that is loaded: it may be newer than the one that the binary was built with.
#[cfg(target_env = "gnu")]
fn libc_version() -> String {
    // SAFETY: the function takes nothing and returns a constant string that ends in a zero.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    format!("glibc {}", version.to_string_lossy())
}

/// The libc that is built in; Rust brings its own musl and does not say which.
#[cfg(not(target_env = "gnu"))]
fn libc_version() -> String {
    format!("musl of Rust {}, static", env!("CARGO_PKG_RUST_VERSION"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libc_has_a_name_and_a_version() {
        let found = libraries();
        assert_eq!(found[0].key, "lib.libc");
        let digits = found[0].value.chars().any(|c| c.is_ascii_digit());
        assert!(digits && found[0].value.contains("l"), "{}", found[0].value);
        assert!(found.iter().all(|f| desk::record::known_key(&f.key).is_some()));
    }
}
