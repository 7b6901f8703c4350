//! Which shapes of a lab a plan may tell, and with which words others are refused.

use super::read;
use crate::plan::example::catalogue;
use crate::record::{LinkKind, Plan, Role};

/// A plan of two clients with these tables of the lab.
fn lab(tables: &str) -> Result<Plan, String> {
    let text = format!(
        "title = \"t\"\n[lab]\nclients = 2\n{tables}\n[load.net]\nworkload = \"tcp_stream\"\n"
    );
    read(&text, &catalogue()).map_err(|e| e.to_string())
}

#[test]
fn a_host_stands_between_links_that_name_their_members() {
    let plan = lab("[lab.hosts.box]\n[lab.hosts.wan]\nrole = \"relay\"\n\
         [lab.links.far]\nmembers = [\"wan\", \"sut\"]\nkind = \"direct\"\n\
         [lab.links.mid]\nmembers = [\"box\", \"wan\"]\n\
         [lab.links.near]\nmembers = [\"c01\", \"c02\", \"box\"]\n");
    let lab = plan.unwrap().lab;
    assert_eq!(lab.hosts.iter().map(|h| h.role).collect::<Vec<_>>(), [Role::Device, Role::Relay]);
    assert_eq!(lab.links[0].kind, Some(LinkKind::Direct));
    assert_eq!(lab.members(&lab.links[2]), [1, 2, 3]);
}

#[test]
fn a_lab_that_cannot_be_joined_so_is_refused_with_the_remedy() {
    let box_and = |links: &str| lab(&format!("[lab.hosts.box]\n{links}")).unwrap_err();
    let near = "[lab.links.near]\nmembers = [\"c01\", \"c02\", \"box\"]\n";
    for (refused, wanted) in [
        (box_and("[lab.links.a]\nmembers = [\"sut\", \"bix\"]\n"), "did you mean 'box'?"),
        (box_and("[lab.links.a]\nmembers = [\"sut\"]\n"), "two hosts or more"),
        (box_and("[lab.links.a]\nmembers = [\"sut\", \"sut\"]\n"), "sut twice"),
        (box_and("[lab.links.a]\nkind = \"direct\"\n"), "3 members of link a"),
        (box_and("[lab.links.a]\nkind = \"wire\"\n"), "bridge or direct"),
        (box_and("[lab.links.a]\n"), "box on no link"),
        (box_and(near), "sut on no link"),
        (
            box_and(&format!("{near}[lab.links.far]\nmembers = [\"box\", \"sut\"]\n")),
            "which sut is not on, as the first link",
        ),
        (
            box_and(
                "[lab.links.far]\nmembers = [\"sut\", \"c01\"]\n\
                     [lab.links.near]\nmembers = [\"c02\", \"box\"]\n",
            ),
            "no way from c02 to link far",
        ),
        (lab("[lab.hosts.c07]\n").unwrap_err(), "c07"),
        (lab("[lab.hosts.box]\nrole = \"router\"\n").unwrap_err(), "device or relay"),
    ] {
        assert!(refused.contains(wanted), "{wanted}: {refused}");
    }
}
