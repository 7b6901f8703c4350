// tidy: table
//! Knows known answers: inputs and results from the standards, one for each algorithm at least.

use super::keys;
use super::task::{Algorithm, Input, Last, Operation, hex};

/// SHA-256 of "sample", which RFC 6979 signs.
const SAMPLE: &str = "af2bdbe1aa9b6ec1e2ade1d694f41fc71a831d0268e9891562113d8a62add1bf";

/// An input and what must come out. A signature that draws chance is another each time, and is
/// verified instead.
#[must_use]
pub fn of(algorithm: Algorithm, operation: Operation) -> (Input, Last) {
    let mut input = Input::default();
    let mut start = "";
    let output = match algorithm {
        // RFC 1321 A.5
        Algorithm::Md5 => digest(&mut input, "900150983cd24fb0d6963f7d28e17f72"),
        // FIPS 180-2 B.1
        Algorithm::Sha256 => {
            digest(&mut input, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        }
        // FIPS 180-2 C.1
        Algorithm::Sha512 => digest(
            &mut input,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
        // NIST SP 800-38A F.2.5, its first two blocks
        Algorithm::Aes256Cbc => {
            input.key = hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");
            start = "000102030405060708090a0b0c0d0e0f";
            input.message = hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51");
            "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
        }
        // McGrew and Viega, The Galois/Counter Mode of Operation, test case 16
        Algorithm::Aes256Gcm => {
            input.key = hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
            start = "cafebabefacedbaddecaf888";
            input.aad = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
            input.message = hex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                 1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39");
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa\
             8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662\
             76fc6ece0f4e1768cddf8853bb2d551b"
        }
        // RFC 8439 2.8.2
        Algorithm::ChaCha20Poly1305 => {
            input.key = (0x80..0xa0).collect();
            start = "070000004041424344454647";
            input.aad = hex("50515253c0c1c2c3c4c5c6c7");
            input.message = b"Ladies and Gentlemen of the class of '99: If I could offer you only \
                one tip for the future, sunscreen would be it."
                .to_vec();
            "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6\
             3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36\
             92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc\
             3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691"
        }
        Algorithm::Rsa2048 => {
            (input.key, input.message) = (hex(keys::RSA_2048), hex(SAMPLE));
            keys::RSA_2048_SAMPLE
        }
        // RFC 6979 A.2.5, SHA-256
        Algorithm::EcdsaP256 => {
            (input.key, input.message) = (hex(keys::ECDSA_P256), hex(SAMPLE));
            "3046022100efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716\
             022100f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
        }
        // RFC 8032 7.1, test 2
        Algorithm::Ed25519 => {
            input.key = hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
            input.message = hex("72");
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
             085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        }
        // RFC 7748 5.2
        Algorithm::X25519 => {
            input.key = hex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4");
            input.start = hex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c");
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
        }
    };
    if !start.is_empty() {
        input.start = hex(start);
    }
    let mut last = Last { start: hex(start), output: hex(output) };
    if operation == Operation::Verify {
        input.signature = last.output;
        last.output = vec![1, 1];
    }
    (input, last)
}

/// The three letters that every standard of a digest begins with.
fn digest(input: &mut Input, output: &'static str) -> &'static str {
    input.message = b"abc".to_vec();
    output
}
