//! Knows the table `[environment]`: keys of the environment whose class the plan changes.

use super::error::PlanError;
use super::nearest::remedy;
use super::node::{Node, Section};
use crate::record::{KeyClass, class_of};
use std::collections::BTreeMap;

/// The classes by the words for them.
const CLASSES: [(&str, KeyClass); 4] = [
    ("critical", KeyClass::Critical),
    ("factor", KeyClass::Factor),
    ("identity", KeyClass::Identity),
    ("info", KeyClass::Info),
];

/// A key may stand in quotes, `"kernel.release" = "info"`, or open, `kernel.release = "info"`. One
/// that nobody knows is taken: a machine may have it; the report says that it is unknown.
pub(super) fn read(section: &Section) -> Result<BTreeMap<String, KeyClass>, PlanError> {
    let mut reclass = BTreeMap::new();
    for node in &section.entries {
        collect(node, &node.key, &mut reclass)?;
    }
    Ok(reclass)
}

fn collect(
    node: &Node,
    key: &str,
    reclass: &mut BTreeMap<String, KeyClass>,
) -> Result<(), PlanError> {
    if node.is_table() {
        for inner in &node.section()?.entries {
            collect(inner, &format!("{key}.{}", inner.key), reclass)?;
        }
        return Ok(());
    }
    let words = CLASSES.map(|(word, _)| word);
    let text = node.text_like(&format!("one of {} in quotes", words.join(", ")))?;
    let known = CLASSES.iter().find(|(word, _)| *word == text);
    let (_, class) = known.ok_or_else(|| PlanError::UnknownName {
        line: node.line,
        what: "class of a key",
        name: text.into(),
        remedy: remedy(text, &words),
    })?;
    if class_of(key) == KeyClass::Identity && *class != KeyClass::Identity {
        return Err(PlanError::WrongPlace {
            line: node.line,
            key: key.into(),
            remedy: "it says what is measured and must match in every comparison; leave it out"
                .into(),
        });
    }
    reclass.insert(key.into(), *class);
    Ok(())
}
