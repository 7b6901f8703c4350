//! The door: reads the command line, opens the right room, says how it ended.

mod cli;

use std::process::ExitCode;

#[expect(clippy::print_stderr, reason = "the one place where the program says why it failed")]
fn main() -> ExitCode {
    match cli::main() {
        Ok(code) => ExitCode::from(code),
        Err(e) => {
            eprintln!("stend: {e}");
            ExitCode::from(e.exit_code())
        }
    }
}
