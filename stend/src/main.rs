//! The door: reads the command line, opens the right room, says how it ended.

mod cli;

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::main() {
        Ok(code) => ExitCode::from(code),
        Err(e) => {
            // Where nobody can be told, the status still says it.
            let _ = writeln!(std::io::stderr(), "stend: {e}");
            ExitCode::from(e.exit_code())
        }
    }
}
