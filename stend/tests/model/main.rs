//! Every test that needs no machine but a simulated one: one program, since each is linked for
//! seconds and the tests of one program share the CPUs.

mod aa;
mod boots;
mod browser;
mod bundle;
mod compare;
mod doors;
mod enough;
mod extent;
mod faults;
mod foreign_plan;
mod frozen;
mod gate;
mod limits;
mod packet_box;
mod planted;
mod power;
mod round_up;
mod schema;
mod searches;
mod sessions;
#[path = "../simulated/mod.rs"]
mod simulated;
