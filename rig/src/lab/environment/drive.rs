//! Knows what drives say of themselves: firmware, age, wear and errors, as `smartctl` of
//! smartmontools 7 tells them in JSON. Where it is absent or may not ask there is no fact.
//!
//! A drive has its model in its key, and a number by its serial among those of this model: names of
//! the kernel change from boot to boot. Drives behind a controller that hides them are not asked.
//! Never: whether a drive is good.

use super::fact::{digest, fact};
use super::tree::Tree;
use desk::record::Fact;
use rustix::fs::{MemfdFlags, memfd_create};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The program, and what it is asked: a drive that sleeps is not woken.
const PROGRAM: &str = "smartctl";
const ASKED: [&str; 6] = ["-j", "-i", "-A", "-H", "-n", "standby"];
/// Longest wait for all drives: a broken one may never answer.
const LONGEST: Duration = Duration::from_secs(5);
/// Between two looks whether a program has ended.
const NAP: Duration = Duration::from_millis(5);

/// Last part of a key, where the answer has it by the kind of drive, and its unit.
const FACTS: [(&str, &[&str], &str); 9] = [
    ("firmware", &["/firmware_version", "/scsi_revision"], ""),
    ("health_passed", &["/smart_status/passed"], ""),
    ("power_on", &["/power_on_time/hours"], " h"),
    (
        "wear",
        &[
            "/endurance_used/current_percent",
            "/nvme_smart_health_information_log/percentage_used",
            "/scsi_percentage_used_endurance_indicator",
        ],
        " %",
    ),
    ("spare", &["/nvme_smart_health_information_log/available_spare"], " %"),
    ("media_errors", &["/nvme_smart_health_information_log/media_errors"], ""),
    ("grown_defects", &["/scsi_grown_defect_list"], ""),
    ("temperature", &["/temperature/current"], " °C"),
    ("protocol", &["/device/protocol"], ""),
];
const MODEL: [&str; 2] = ["/model_name", "/scsi_model_name"];
const SERIAL: &str = "/serial_number";

/// Attributes of ATA by their number, whose raw values count sectors.
const ATTRIBUTES: [(u64, &str); 3] =
    [(5, "reallocated_sectors"), (197, "pending_sectors"), (198, "uncorrectable_sectors")];

/// What all drives of this machine say. Without the program no process is started.
pub(super) fn drives() -> Vec<Fact> {
    if !is_on_path() {
        return Vec::new();
    }
    let names = names(&Tree::at(Path::new("/")));
    let asked: Vec<_> = names.into_iter().map_while(|name| Some((ask(&name)?, name))).collect();
    let until = Instant::now() + LONGEST;
    let told = asked.into_iter().filter_map(|(asked, name)| Some((name, answer(asked, until)?)));
    facts(&told.collect::<Vec<_>>())
}

fn is_on_path() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|at| at.join(PROGRAM).is_file())
}

/// The version of the program that asks drives, and its name; the error where it is absent.
pub fn drive_program() -> (&'static str, io::Result<String>) {
    let version = Command::new(PROGRAM).arg("--version").stdin(Stdio::null()).output();
    let first = |said: Output| {
        String::from_utf8_lossy(&said.stdout).lines().next().unwrap_or_default().trim().to_owned()
    };
    (PROGRAM, version.map(first))
}

/// Whole disks that sit on a device and are no medium that a person changes.
fn names(tree: &Tree) -> Vec<String> {
    let is_drive = |name: &String| {
        tree.exists(&format!("sys/block/{name}/device"))
            && tree.text(&format!("sys/block/{name}/removable")).as_deref() != Some("1")
    };
    tree.names("sys/block").into_iter().filter(is_drive).collect()
}

/// Starts the program, which writes into memory: what it says may be longer than a pipe holds.
fn ask(name: &str) -> Option<(Child, File)> {
    let said = File::from(memfd_create(PROGRAM, MemfdFlags::CLOEXEC).ok()?);
    let mut command = Command::new(PROGRAM);
    command.args(ASKED).arg(format!("/dev/{}", name.replace('!', "/")));
    command.stdin(Stdio::null()).stdout(said.try_clone().ok()?).stderr(Stdio::null());
    Some((command.spawn().ok()?, said))
}

/// What it said. Its exit status has a bit for each thing that it found, and is no error.
fn answer((mut child, mut said): (Child, File), until: Instant) -> Option<Value> {
    while child.try_wait().ok()?.is_none() {
        if Instant::now() >= until {
            let _ = child.kill();
            // It ends when the kernel gives up on the drive.
            thread::spawn(move || child.wait());
            return None;
        }
        thread::sleep(NAP);
    }
    let mut text = Vec::new();
    said.rewind().and_then(|()| said.read_to_end(&mut text)).ok()?;
    serde_json::from_slice(&text).ok()
}

/// The facts of drives by their names and what the program said of each.
fn facts(told: &[(String, Value)]) -> Vec<Fact> {
    let mut drives: Vec<(String, String, &(String, Value))> = Vec::new();
    for one in told {
        let Some(model) = MODEL.iter().find_map(|at| text(&one.1, at)) else { continue };
        drives.push((model, text(&one.1, SERIAL).unwrap_or_default(), one));
    }
    drives.sort_by(|(a, serial_a, _), (b, serial_b, _)| (a, serial_a).cmp(&(b, serial_b)));
    let (mut all, mut counts) = (Vec::new(), BTreeMap::<String, usize>::new());
    for (model, serial, (name, answer)) in drives {
        let number = counts.entry(plain(&model)).or_default();
        *number += 1;
        let begin = format!("drive.{}.{number}", plain(&model));
        let source = format!("dev/{name} ({PROGRAM})");
        let mut add = |key: &str, value: &str| {
            all.push(fact(&format!("{begin}.{key}"), &source, value));
        };
        add("name", name);
        if !serial.is_empty() {
            add("serial", &digest(&serial));
        }
        for (key, places, unit) in FACTS {
            if let Some(value) = places.iter().find_map(|at| text(answer, at)) {
                add(key, &format!("{value}{unit}"));
            }
        }
        for (key, value) in attributes(answer) {
            add(key, &value.to_string());
        }
    }
    all
}

/// A word, a number or a truth at a place of the answer.
fn text(answer: &Value, place: &str) -> Option<String> {
    match answer.pointer(place)? {
        Value::String(word) => Some(word.trim().to_owned()).filter(|word| !word.is_empty()),
        Value::Bool(truth) => Some(if *truth { "yes" } else { "no" }.into()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The attributes of the table that a drive of ATA has.
fn attributes(answer: &Value) -> Vec<(&'static str, u64)> {
    let rows = answer.pointer("/ata_smart_attributes/table").and_then(Value::as_array);
    let of = |row: &Value| {
        let id = row.get("id")?.as_u64()?;
        let (_, key) = ATTRIBUTES.iter().find(|(known, _)| *known == id)?;
        Some((*key, row.pointer("/raw/value")?.as_u64()?))
    };
    rows.into_iter().flatten().filter_map(of).collect()
}

/// A model as a part of a key.
fn plain(model: &str) -> String {
    model.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use desk::record::KeyClass::{Critical, Info};

    /// Answers of smartctl 7.3 cut to some of their fields (`man smartctl`, option `-j`; the names
    /// of fields are those of smartmontools' nvmeprint.cpp, ataprint.cpp and scsiprint.cpp).
    const NVME: &str = r#"{
        "json_format_version": [1, 0],
        "smartctl": {"version": [7, 3], "exit_status": 0},
        "device": {"name": "/dev/nvme0n1", "type": "nvme", "protocol": "NVMe"},
        "model_name": "EXAMPLE 1.9T", "serial_number": "S2", "firmware_version": "GXA7",
        "smart_status": {"passed": true, "nvme": {"value": 0}},
        "nvme_smart_health_information_log": {"critical_warning": 0, "temperature": 41,
            "available_spare": 100, "percentage_used": 3, "media_errors": 7},
        "temperature": {"current": 41}, "power_on_time": {"hours": 1234}
    }"#;
    const ATA: &str = r#"{
        "smartctl": {"version": [7, 3], "exit_status": 64},
        "device": {"name": "/dev/sda", "type": "sat", "protocol": "ATA"},
        "model_name": "DISK 4T", "serial_number": "W1", "firmware_version": "0002",
        "smart_status": {"passed": false},
        "ata_smart_attributes": {"revision": 10, "table": [
            {"id": 5, "name": "Reallocated_Sector_Ct", "raw": {"value": 8, "string": "8"}},
            {"id": 9, "name": "Power_On_Hours", "raw": {"value": 99, "string": "99"}},
            {"id": 197, "name": "Current_Pending_Sector", "raw": {"value": 0, "string": "0"}}]},
        "power_on_time": {"hours": 99}
    }"#;
    /// What a person without rights gets.
    const REFUSED: &str = r#"{"smartctl": {"exit_status": 2, "messages": [
        {"string": "Smartctl open device: /dev/sda failed: Permission denied"}]}}"#;

    fn told(answers: &[(&str, &str)]) -> Vec<Fact> {
        let answer =
            |(name, text): &(&str, &str)| ((*name).into(), serde_json::from_str(text).unwrap());
        facts(&answers.iter().map(answer).collect::<Vec<_>>())
    }

    #[test]
    fn drives_tell_firmware_age_wear_and_errors() {
        let found = told(&[("nvme0n1", NVME), ("sda", ATA)]);
        let rows: Vec<String> = found.iter().map(|f| format!("{}={}", f.key, f.value)).collect();
        let serials = [digest("W1"), digest("S2")].map(|serial| format!("serial={serial}"));
        let wanted = [
            ("DISK_4T", "name=sda"),
            ("DISK_4T", &serials[0]),
            ("DISK_4T", "firmware=0002"),
            ("DISK_4T", "health_passed=no"),
            ("DISK_4T", "power_on=99 h"),
            ("DISK_4T", "protocol=ATA"),
            ("DISK_4T", "reallocated_sectors=8"),
            ("DISK_4T", "pending_sectors=0"),
            ("EXAMPLE_1_9T", "name=nvme0n1"),
            ("EXAMPLE_1_9T", &serials[1]),
            ("EXAMPLE_1_9T", "firmware=GXA7"),
            ("EXAMPLE_1_9T", "health_passed=yes"),
            ("EXAMPLE_1_9T", "power_on=1234 h"),
            ("EXAMPLE_1_9T", "wear=3 %"),
            ("EXAMPLE_1_9T", "spare=100 %"),
            ("EXAMPLE_1_9T", "media_errors=7"),
            ("EXAMPLE_1_9T", "temperature=41 °C"),
            ("EXAMPLE_1_9T", "protocol=NVMe"),
        ];
        assert_eq!(rows, wanted.map(|(drive, row)| format!("drive.{drive}.1.{row}")));
        let class = |end: &str| found.iter().find(|f| f.key.ends_with(end)).map(|f| f.class);
        assert_eq!((class("firmware"), class("wear")), (Some(Critical), Some(Info)));
        assert_eq!(found[0].source, "/dev/sda (smartctl)");
        assert!(found.iter().all(|f| desk::record::known_key(&f.key).is_some()));
    }

    #[test]
    fn drives_of_a_model_are_numbered_by_serial_and_one_that_is_refused_has_no_facts() {
        let other = NVME.replace("\"S2\"", "\"S1\"");
        let found = told(&[("nvme0n1", NVME), ("nvme1n1", &other), ("sda", REFUSED)]);
        let names: Vec<(&str, &str)> = found
            .iter()
            .filter(|f| f.key.ends_with(".name"))
            .map(|f| (f.key.as_str(), f.value.as_str()))
            .collect();
        assert_eq!(
            names,
            [("drive.EXAMPLE_1_9T.1.name", "nvme1n1"), ("drive.EXAMPLE_1_9T.2.name", "nvme0n1")]
        );
        assert!(found.iter().all(|f| !f.value.contains("sda")));
    }

    #[test]
    fn a_program_that_never_ends_is_given_up_and_one_that_says_nothing_has_no_facts() {
        let start = |program: &str| {
            let said = File::from(memfd_create(program, MemfdFlags::CLOEXEC).unwrap());
            let mut command = Command::new("sh");
            command.args(["-c", program]).stdout(said.try_clone().unwrap());
            (command.spawn().unwrap(), said)
        };
        let soon = Instant::now() + Duration::from_millis(30);
        // Not even what it said until then counts.
        assert_eq!(answer(start("echo '{}'; exec sleep 5"), soon), None);
        let later = || Instant::now() + Duration::from_secs(20);
        assert_eq!(answer(start("exit 2"), later()), None);
        let said = answer(start("echo '{\"model_name\": \"X\"}'; exit 64"), later());
        assert_eq!(said.and_then(|said| text(&said, MODEL[0])), Some("X".into()));
    }
}
