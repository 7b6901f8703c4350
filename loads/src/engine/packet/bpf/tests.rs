//! Tests of the assembler, and of the calls where this machine grants them.

use super::*;
use Reg::{R0, R1, R2, R10};

/// Whether this machine grants programs; says so where not.
pub fn granted() -> bool {
    match Map::new(MapKind::Array, (4, 8), 1) {
        Ok(_) => true,
        Err(e) => {
            println!("skipped: {e}");
            false
        }
    }
}

#[test]
fn instructions_are_those_of_the_standard() {
    let mut code = Assembler::new();
    let end = code.label();
    code.mov_imm(R0, 2);
    code.load(Size::W, R1, (R2, 4));
    code.store(Size::H, (R10, -8), R1);
    code.jump(Cond::Gt, R1, R2, end);
    code.op(Op::Xor, R1, R2);
    code.load64(R2, 0x1122_3344_5566_7788);
    code.network16(R1);
    code.call(helper::CLOCK);
    code.bind(end);
    code.exit();
    let bytes: Vec<[u8; 8]> = code.finish().unwrap().iter().map(|w| w.to_ne_bytes()).collect();
    // RFC 9669, section 3, in the order of a little-endian machine.
    let right: [[u8; 8]; 10] = [
        [0xb7, 0x00, 0, 0, 2, 0, 0, 0],
        [0x61, 0x21, 4, 0, 0, 0, 0, 0],
        [0x6b, 0x1a, 0xf8, 0xff, 0, 0, 0, 0],
        [0x2d, 0x21, 5, 0, 0, 0, 0, 0],
        [0xaf, 0x21, 0, 0, 0, 0, 0, 0],
        [0x18, 0x02, 0, 0, 0x88, 0x77, 0x66, 0x55],
        [0, 0, 0, 0, 0x44, 0x33, 0x22, 0x11],
        [0xdc, 0x01, 0, 0, 16, 0, 0, 0],
        [0x85, 0, 0, 0, 5, 0, 0, 0],
        [0x95, 0, 0, 0, 0, 0, 0, 0],
    ];
    if cfg!(target_endian = "little") {
        assert_eq!(bytes, right);
    }
}

#[test]
fn a_label_that_stands_nowhere_is_refused() {
    let mut code = Assembler::new();
    let nowhere = code.label();
    code.go(nowhere);
    assert!(matches!(code.finish(), Err(BpfError::Unbound(0))));
}

#[test]
fn a_refusal_has_the_words_of_the_verifier() {
    if !granted() {
        return;
    }
    let mut code = Assembler::new();
    // An answer that was never set.
    code.exit();
    let refused = Program::load("test", &code.finish().unwrap()).unwrap_err();
    let words = refused.to_string();
    assert!(words.contains("R0 !read_ok"), "{words}");
}

#[test]
fn maps_keep_what_is_written_and_refuse_other_sizes() {
    if !granted() {
        return;
    }
    let array = Map::new(MapKind::Array, (4, 16), 3).unwrap();
    array.write(&2_u32.to_ne_bytes(), &[7, 9]).unwrap();
    assert_eq!(array.sums(2).unwrap(), [7, 9]);
    assert_eq!(array.sums(0).unwrap(), [0, 0]);
    assert!(array.read(&[0; 8]).is_err() && array.write(&[0; 4], &[1]).is_err());
    assert!(array.sums(3).unwrap_err().to_string().contains("MAP_LOOKUP_ELEM"));
    let hash = Map::new(MapKind::Hash, (8, 8), 4).unwrap();
    assert!(hash.read(&[1; 8]).is_err());
    hash.write(&[1; 8], &[5]).unwrap();
    assert_eq!(hash.read(&[1; 8]).unwrap(), [[5]]);
    let each = Map::new(MapKind::PerCpu, (4, 8), 1).unwrap();
    assert!(!each.read(&[0; 4]).unwrap().is_empty());
}

#[test]
fn a_live_run_runs_as_often_as_it_is_told_and_ends_by_a_signal() {
    if !granted() {
        return;
    }
    let count = Map::new(MapKind::Array, (4, 8), 1).unwrap();
    let mut code = Assembler::new();
    code.value(R1, &count);
    code.add_to((R1, 0), 1, R2);
    code.mov_imm(R0, 1);
    code.exit();
    let program = Program::load("test", &code.finish().unwrap()).unwrap();
    program.run_live(&[0; 60], 1000, 64).unwrap();
    assert_eq!(count.sums(0).unwrap(), [1000]);
    take_interrupts().unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    let runs = std::thread::spawn(move || {
        tell.send(this_thread()).unwrap();
        program.run_live(&[0; 60], u32::MAX, 64)
    });
    let thread = told.recv().unwrap();
    while !runs.is_finished() {
        std::thread::sleep(std::time::Duration::from_millis(5));
        interrupt(thread);
    }
    runs.join().unwrap().unwrap();
}
