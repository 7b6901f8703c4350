//! Knows the parameters and figures of `cipher` as data; knows no engine.

use desk::record::{
    Better, Derivation, DeriveSpec, MetricRole, MetricSpec, ParamKind, ParamRole, ParamSpec, Place,
    WorkloadSpec,
};
use desk::unit::Unit;

/// What it is.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "cipher",
    question: "how fast the machine digests, encrypts, signs, verifies and agrees, by which engine",
    place: Place::Machine,
    revision: 1,
    params: PARAMS,
    metrics: METRICS,
    quantiles: &[],
    derives: DERIVES,
};

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "algorithm",
        about: "what is computed",
        role: Some(ParamRole::Algorithm),
        kind: ParamKind::choice(&[
            "aes-256-cbc",
            "aes-256-gcm",
            "chacha20-poly1305",
            "ecdsa-p256",
            "ed25519",
            "md5",
            "rsa-2048",
            "sha256",
            "sha512",
            "x25519",
        ]),
        default: "sha256",
    },
    ParamSpec {
        name: "block_size",
        about: "bytes of a message; without meaning for signatures and agreement",
        role: Some(ParamRole::Size),
        kind: ParamKind::size(16, 16 << 10),
        default: "8 KiB",
    },
    ParamSpec {
        name: "engine",
        about: "whose code does it; aws_lc and rustcrypto are part of this binary",
        role: Some(ParamRole::Engine),
        kind: ParamKind::choice(&["aws_lc", "libcrypto", "openssl_cli", "rustcrypto"]),
        default: "aws_lc",
    },
    ParamSpec {
        name: "operation",
        about: "what is done; usual is what the algorithm is for, and sign for signatures",
        role: None,
        kind: ParamKind::choice(&["usual", "agree", "digest", "encrypt", "sign", "verify"]),
        default: "usual",
    },
    ParamSpec {
        name: "threads",
        about: "copies side by side, each on a CPU of its own, one a core first; or all CPUs",
        role: Some(ParamRole::Concurrency),
        kind: ParamKind::count(1, 1024).or(&["all"]),
        default: "1",
    },
];

const METRICS: &[MetricSpec] = &[
    MetricSpec {
        name: "rate",
        title: "message throughput",
        role: MetricRole::Rate,
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        limit: "the core: its instructions for the algorithm; at small blocks the call",
    },
    MetricSpec {
        name: "per_copy",
        title: "message throughput of a copy",
        role: MetricRole::Rate,
        unit: Unit::BytePerSecond,
        better: Better::Higher,
        limit: "the core, and what its siblings and the clock at full load leave of it",
    },
    MetricSpec {
        name: "operations",
        title: "public-key operations",
        role: MetricRole::Rate,
        unit: Unit::OperationPerSecond,
        better: Better::Higher,
        limit: "the core's multiplier",
    },
    MetricSpec {
        name: "operations_per_copy",
        title: "operations of a copy",
        role: MetricRole::Rate,
        unit: Unit::OperationPerSecond,
        better: Better::Higher,
        limit: "the core's multiplier, and what its siblings leave of it",
    },
];

const DERIVES: &[DeriveSpec] = &[
    DeriveSpec {
        only: &[("algorithm", &["aes-256-cbc", "aes-256-gcm"])],
        ..DeriveSpec::along(Derivation::Balance, "block_size")
    },
    DeriveSpec::along(Derivation::Roofline, "block_size"),
    DeriveSpec::along(Derivation::Scaling, "threads"),
];
