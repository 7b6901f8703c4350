//! Knows what the crate needs before it is compiled: the loader of the workload `cipher`, and the
//! versions of the crates that its engine `rustcrypto` is made of.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Source of the loader.
const LOADER: &str = "src/workload/cipher/loader/main.c";

/// The crates of `rustcrypto`.
const CRATES: [&str; 8] =
    ["aes-gcm", "cbc", "chacha20poly1305", "ed25519-dalek", "md-5", "p256", "sha2", "x25519-dalek"];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={LOADER}");
    println!("cargo::rerun-if-changed=../Cargo.lock");
    println!("cargo::rerun-if-env-changed=STEND_LOADER_CC");
    let lock = fs::read_to_string("../Cargo.lock").unwrap_or_default();
    for name in CRATES {
        println!("cargo::rustc-env=STEND_VERSION_{name}={}", version(&lock, name));
    }
    // Without a loader the engine that needs it says why it is not available.
    let (program, lacks) = match loader(&out) {
        Ok(program) => (program, String::new()),
        Err(why) => (Vec::new(), why.replace('\n', " ")),
    };
    let written = fs::write(out.join("loader"), program);
    println!("cargo::rustc-env=STEND_LOADER_LACKS={lacks}");
    if let Err(error) = written {
        println!("cargo::error=cannot write the loader: {error}");
    }
}

fn version<'a>(lock: &'a str, name: &str) -> &'a str {
    let line = format!("name = \"{name}\"");
    let after = lock.lines().skip_while(|found| *found != line).nth(1).unwrap_or_default();
    after.trim_start_matches("version = ").trim_matches('"')
}

/// Compiles the loader for the glibc of the target's processor, linked dynamically.
fn loader(out: &Path) -> Result<Vec<u8>, String> {
    let arch = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return Err("stend was built for another system than Linux".into());
    }
    let host = env::var("HOST").unwrap_or_default();
    let compiler = match env::var("STEND_LOADER_CC") {
        Ok(named) => named,
        Err(_) if host.starts_with(&arch) => "cc".into(),
        Err(_) => format!("{arch}-linux-gnu-gcc"),
    };
    let path = out.join("loader.new");
    let made = Command::new(&compiler)
        .args(["-O2", "-s", "-o"])
        .arg(&path)
        .args([LOADER, "-ldl"])
        .output()
        .map_err(|e| format!("stend was built without {compiler} of glibc ({e})"))?;
    if !made.status.success() {
        return Err(format!("stend was built where {compiler} makes no programs for glibc"));
    }
    fs::read(&path).map_err(|e| e.to_string())
}
