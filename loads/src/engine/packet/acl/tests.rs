use super::*;
use crate::engine::packet::rules::{Mix, first_match, generate};
use crate::engine::packet::traffic::{self, Aim};

fn agree(rules: &[Rule], packets: &[Tuple]) {
    let acl = Acl::build(rules).unwrap();
    let mut found = vec![0; packets.len()];
    acl.classify(packets, &mut found);
    for (packet, found) in packets.iter().zip(found) {
        let right = first_match(rules, packet).map_or(NONE, |at| u32::try_from(at).unwrap());
        assert_eq!(found, right, "{packet:?}");
    }
}

#[test]
fn many_packets_hit_the_rules_that_a_search_one_by_one_finds() {
    for mix in [Mix::ACL, Mix::FIREWALL] {
        for count in [1, 16, 17, 100, 1000, 3000] {
            let rules = generate(count, &mix, 7);
            assert_eq!(rules.len(), count);
            for aim in [Aim::HIT, Aim::NEAR, Aim { hit: 0.3, near: 0.3, again: 0.1 }] {
                agree(&rules, &traffic::generate(&rules, 1000, &aim, 8));
            }
        }
    }
}
