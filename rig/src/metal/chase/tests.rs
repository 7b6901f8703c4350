//! The path is one cycle over all members, and the walk is where its loads took it.

use super::*;
use crate::metal::PageSize;

fn layout(size: usize, stride: usize, order: Order) -> Layout {
    Layout { size, stride, order, seed: 7 }
}

fn chase(layout: Layout) -> Chase {
    Chase::build(Memory::map(layout.size, PageSize::Base).unwrap(), layout).unwrap()
}

#[test]
fn every_order_is_one_cycle_over_all_members() {
    for order in [Order::Sequential, Order::InPage, Order::Random] {
        for stride in [4, 8, 64, 4096] {
            for size in [16 << 10, 100 << 10] {
                let mut chase = chase(layout(size, stride, order));
                let members = size / stride;
                assert_eq!(chase.members(), members);
                for passes in [1, 3] {
                    assert_eq!(chase.pass(passes), passes * LOADS_OF_PASS);
                    assert_eq!(chase.verify(), Ok(members as u64), "{order:?} {stride} {size}");
                }
            }
        }
    }
}

#[test]
fn the_cycle_is_walked_not_only_written() {
    let mut whole = chase(layout(64 << 10, 64, Order::Random));
    let start = whole.at;
    whole.pass(1);
    assert_eq!(whole.at, start, "1024 members are gone round by 1024 loads");
    let mut shorter = chase(layout(63 << 10, 64, Order::Random));
    shorter.pass(1);
    assert_eq!(shorter.at, shorter.path.at(16), "1008 members and 16 further");
}

#[test]
fn a_walk_that_left_its_path_is_found() {
    for stride in [4, 64] {
        let mut chase = chase(layout(63 << 10, stride, Order::Random));
        let (first, second) = (chase.path.at(0), chase.path.at(1));
        walk::link(&chase.memory, stride, first, first);
        assert!(chase.verify().unwrap_err().contains("a link leads to byte"), "{stride}");
        chase.pass(1);
        assert!(chase.verify().unwrap_err().contains("after 1024 loads"), "{stride}");
        walk::link(&chase.memory, stride, first, second);
        let last = chase.path.at(chase.members() - 1);
        walk::link(&chase.memory, stride, last, second);
        chase.loads = 0;
        assert!(chase.verify().unwrap_err().contains("does not close"), "{stride}");
    }
}

#[test]
fn an_order_in_a_page_stays_in_it_and_is_no_stream() {
    let path = Path::new(layout(1 << 20, 64, Order::InPage)).unwrap();
    let mut places = Vec::new();
    path.visit(|place| places.push(place));
    let page = |place: usize| place / 4096;
    assert!(places.windows(2).all(|pair| page(pair[1]) - page(pair[0]) <= 1));
    let steps = places.windows(2).filter(|pair| pair[1] == pair[0] + 64).count();
    assert!(steps < places.len() / 10, "{steps} of {} are steps to the neighbour", places.len());
    for rank in [0, 63, 64, 1000] {
        assert_eq!(path.at(rank), places[rank]);
    }
}

#[test]
fn a_random_order_is_of_its_seed_and_leaps_over_the_whole() {
    let order = |seed| {
        let mut places = Vec::new();
        let layout = Layout { seed, ..layout(4 << 20, 64, Order::Random) };
        Path::new(layout).unwrap().visit(|place| places.push(place));
        places
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
    let places = order(3);
    let near = places.windows(2).filter(|p| p[1].abs_diff(p[0]) < 64 << 10).count();
    // Of 65536 members 2 x 1023 are nearer than 64 KiB: 3.1 %.
    assert!(near < places.len() / 20, "{near} of {} leaps are short", places.len());
}

#[test]
fn what_cannot_be_chased_is_refused() {
    for (size, stride) in [(1 << 16, 2), (1 << 16, 24), (1 << 16, 8192), (64, 64)] {
        assert!(Path::new(layout(size, stride, Order::Sequential)).is_err(), "{size} {stride}");
    }
    let memory = Memory::map(4096, PageSize::Base).unwrap();
    let larger = layout(memory.len() * 2, 64, Order::Random);
    assert!(Chase::build(memory, larger).err().unwrap().contains("map more"));
}
