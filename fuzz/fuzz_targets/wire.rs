//! Any bytes from the network: frames are refused or come whole; orders, answers and messages of
//! hosts are refused, or the same when written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rig::lab::machine::{Numbered, Said, read_frame};
use rig::lab::wire::{Answer, Request};
use serde::{Serialize, de::DeserializeOwned};

fuzz_target!(|bytes: &[u8]| {
    let mut from = bytes;
    while let Ok(frame) = read_frame(&mut from) {
        written_again::<Numbered>(&frame.body);
        written_again::<Said>(&frame.body);
        written_again::<Request>(&frame.body);
        written_again::<Answer>(&frame.body);
    }
});

fn written_again<T: Serialize + DeserializeOwned>(body: &[u8]) {
    let Ok(read) = serde_json::from_slice::<T>(body) else { return };
    let written = serde_json::to_string(&read).unwrap_or_default();
    let again = serde_json::from_str::<T>(&written).ok();
    assert_eq!(again.and_then(|again| serde_json::to_string(&again).ok()), Some(written));
}
