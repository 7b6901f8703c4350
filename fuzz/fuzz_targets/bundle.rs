//! Any bytes as a file to import: a page, a bundle or records. Refused, or its runs come back the
//! same from the page that is made of them.
#![no_main]

use press::report::{Bundle, page};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    let Ok(bundle) = Bundle::read(file) else { return };
    let written = bundle.to_json().unwrap_or_default();
    if let Ok(again) = Bundle::read(written.as_bytes()) {
        assert_eq!(written, again.to_json().unwrap_or_default());
    }
    if let Ok(document) = bundle.document() {
        let _ = page(&document, &bundle);
    }
});
