//! Knows fio: how it is started, and what it prints.
//!
//! Must not know how figures are judged.

use super::Failed;
use super::cell::{Access, BYTES, Got, Place};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Its file, which goes with the value.
pub struct Fio {
    file: PathBuf,
}

impl Fio {
    /// Fills a file with what fio writes.
    ///
    /// # Errors
    /// What fio says.
    pub fn fill(place: &Place) -> Result<Self, Failed> {
        let name = format!("stend-bench-fio-{}", std::process::id());
        let fio = Self { file: place.directory.join(name) };
        let direct = u8::from(place.direct);
        fio.call(&format!("--rw=write --bs=1m --iodepth=4 --direct={direct} --end_fsync=1"))?;
        Ok(fio)
    }

    /// Its version.
    ///
    /// # Errors
    /// Where it is missing.
    pub fn version() -> Result<String, Failed> {
        let told = Command::new("fio").arg("--version").output();
        let told = told.map_err(|e| format!("fio: {e}; install package fio"))?;
        Ok(String::from_utf8_lossy(&told.stdout).trim().into())
    }

    /// One job on a CPU, for so many seconds, with the options that its authors document for
    /// speed. It takes all completions that are there, as ours does: by default it takes one at a
    /// time, and counts the wait of the others. The CPU time is that of its job alone, without its
    /// start.
    ///
    /// # Errors
    /// What fio says.
    pub fn run(
        &self,
        place: &Place,
        access: Access,
        (cpu, seconds): (u32, f64),
    ) -> Result<Got, Failed> {
        let kind = if access.writes { "write" } else { "read" };
        let told = self.call(&format!(
            "--rw={}{kind} --bs={} --iodepth={} --direct={} --thread --norandommap --fixedbufs=1 \
             --registerfiles=1 --iodepth_batch_complete_max={} --cpus_allowed={cpu} \
             --time_based --runtime={seconds} \
             --ramp_time=0.3 --lat_percentiles=1 --percentile_list=50:99",
            if access.random { "rand" } else { "" },
            access.block,
            access.depth,
            u8::from(place.direct),
            access.depth,
        ))?;
        let job = &told["jobs"][0];
        let number = |value: &Value| value.as_f64().ok_or("a figure of fio is missing");
        let (done, times) = (&job[kind], &job[kind]["lat_ns"]["percentile"]);
        let rate = number(&done["iops"])?;
        let used = (number(&job["usr_cpu"])? + number(&job["sys_cpu"])?) / 100.0;
        let [p50, p99] = ["50.000000", "99.000000"].map(|at| number(&times[at]));
        Ok(Got { rate, cost: used / rate, p50: p50? / 1e9, p99: p99? / 1e9 })
    }

    fn call(&self, words: &str) -> Result<Value, Failed> {
        let shown = self.file.display();
        let line = format!(
            "--name=it --filename={shown} --size={BYTES} --ioengine=io_uring {words} \
             --output-format=json"
        );
        let done = Command::new("fio").args(line.split_whitespace()).output()?;
        let says = || String::from_utf8_lossy(&done.stderr).into_owned();
        if !done.status.success() {
            return Err(format!("fio {line}: {}", says()).into());
        }
        Ok(serde_json::from_slice(&done.stdout)?)
    }
}

impl Drop for Fio {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}
