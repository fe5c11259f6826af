use super::*;
use proptest::prelude::*;

const LIKE: Links = Links { up: 1.0, down: 1.0 };

/// The longest transfer over any link, seconds.
fn seconds_of(inputs: &[Vec<f64>], links: &[Links], placed: &[usize]) -> f64 {
    let (mut out, mut into) = (vec![0.0; links.len()], vec![0.0; links.len()]);
    for (row, rack) in inputs.iter().zip(placed) {
        for from in (0..links.len()).filter(|from| from != rack) {
            out[from] += row[from];
            into[*rack] += row[from];
        }
    }
    let all = out.iter().zip(links).map(|(bytes, links)| bytes / links.up);
    all.chain(into.iter().zip(links).map(|(bytes, links)| bytes / links.down)).fold(0.0, f64::max)
}

/// By looking at every placement.
fn best(inputs: &[Vec<f64>], links: &[Links]) -> f64 {
    let racks = links.len();
    let seconds = |number: usize| {
        let placed: Vec<usize> = (0..inputs.len() as u32).map(|row| number / racks.pow(row) % racks).collect();
        seconds_of(inputs, links, &placed)
    };
    (0..racks.pow(inputs.len() as u32)).map(seconds).fold(f64::INFINITY, f64::min)
}

#[test]
fn in_figure_11_three_reduces_go_to_three_racks() {
    // Each reads one block of each of the three partitions, and each rack holds one of every kind.
    let placement = place(&[vec![1.0; 3], vec![1.0; 3], vec![1.0; 3]], &[LIKE; 3]).unwrap();
    let mut racks = placement.racks.clone();
    racks.sort_unstable();
    assert_eq!((racks, placement.seconds, placement.bound), (vec![0, 1, 2], 2.0, 2.0));
}

#[test]
fn a_rack_with_little_bandwidth_in_gets_fewer_reduces() {
    let links = [Links { up: 10.0, down: 1.0 }, Links { up: 10.0, down: 10.0 }];
    let placement = place(&vec![vec![1.0, 1.0]; 6], &links).unwrap();
    assert_eq!(placement.racks.iter().filter(|rack| **rack == 0).count(), 0, "{placement:?}");
    assert!((placement.seconds - 0.6).abs() < 1e-12, "{placement:?}");
}

#[test]
fn a_reduce_goes_where_its_data_is() {
    let placement = place(&[vec![9.0, 1.0], vec![1.0, 9.0]], &[LIKE; 2]).unwrap();
    assert_eq!((placement.racks, placement.seconds), (vec![0, 1], 1.0));
}

#[test]
fn long_phases_see_equal_links_and_short_ones_those_of_their_start() {
    let measured = [Links { up: 1.0, down: 2.0 }, Links { up: 3.0, down: 6.0 }];
    assert_eq!(expected_links(&measured, 10.0, 10.0), measured);
    assert_eq!(expected_links(&measured, 11.0, 10.0), [Links { up: 3.0, down: 3.0 }; 2]);
}

#[test]
fn the_greedy_search_places_each_reduce_in_turn_where_the_slowest_link_suffers_least() {
    let rows = [vec![6.0, 0.0], vec![0.0, 5.0], vec![4.0, 4.0], vec![3.0, 1.0]];
    let links = [Links { up: 1.0, down: 2.0 }, Links { up: 2.0, down: 1.0 }];
    let mut search = Search::new(&rows, &links, &[0, 1, 2, 3]);
    // The third would take 4 s on the second rack and takes 2 s on the first, the fourth 3 s and 2.5 s.
    assert_eq!(search.greedily(), (vec![0, 1, 0, 0], 2.5));
    assert_eq!((search.out, search.into), (vec![0.0; 2], vec![0.0; 2]), "the search through all starts from nothing");
}

#[test]
fn the_better_of_two_first_placements_is_begun_with_and_of_two_as_good_the_greedy_one() {
    let first = |rows: [Vec<f64>; 2], order: [usize; 2]| Search::new(&rows, &[LIKE; 2], &order).at_first(&order);
    assert_eq!(first([vec![1.0, 9.0], vec![9.0, 1.0]], [0, 1]), (vec![1, 0], 1.0), "one on each takes 9 s");
    // The greedy search saves a second on the first, and has the second join it there.
    assert_eq!(first([vec![3.0, 4.0], vec![3.0, 100.0]], [0, 1]), (vec![0, 1], 4.0), "both on one take 6 s");
    assert_eq!(first([vec![1.0, 1.0], vec![2.0, 2.0]], [1, 0]), (vec![0, 1], 2.0), "as the other way round");
}

#[test]
fn a_thousand_reduces_are_searched_through_and_of_more_nothing_is_known_to_be_best() {
    // Three read a byte from each rack, and take 2 s; what has to cross would take one and a half.
    let of = |reduces| {
        let inputs: Vec<Vec<f64>> = (0..reduces).map(|row| vec![if row < 3 { 1.0 } else { 0.0 }; 2]).collect();
        let placement = place(&inputs, &[LIKE; 2]).unwrap();
        (placement.seconds, placement.bound)
    };
    assert_eq!([1_000, 1_001, 1_002].map(of), [(2.0, 2.0), (2.0, 1.5), (2.0, 1.5)]);
}

#[test]
fn reduces_that_read_the_same_are_not_tried_in_every_order() {
    // With n of 19 on a rack 2 n come into it, and 19 - n leave it: in every order there were millions with six on each.
    let placement = place(&vec![vec![1.0; 3]; 19], &[LIKE; 3]).unwrap();
    assert_eq!((placement.seconds, placement.bound), (14.0, 14.0), "it is known to be the best");
}

#[test]
fn of_racks_that_are_as_good_the_first_is_taken_and_where_all_was_looked_at_the_bound_is_the_best() {
    assert_eq!(place(&[vec![1.0, 1.0]], &[LIKE; 2]).unwrap().racks, [0]);
    let three = vec![vec![1.0, 1.0]; 3];
    assert_eq!((place(&three, &[LIKE; 2]).unwrap().bound, bound(&three, &[LIKE; 2])), (2.0, 1.5));
}

#[test]
fn no_placement_is_faster_than_what_one_reduce_needs_alone_or_all_that_must_cross() {
    let links = |up, down| [Links { up, down }; 3];
    assert_eq!(bound(&[vec![6.0, 2.0, 1.0]], &links(1.0, 2.0)), 2.0, "2 bytes out of the second rack");
    assert_eq!(bound(&[vec![6.0, 2.0, 2.0]], &links(4.0, 1.0)), 4.0, "4 bytes into the first");
    assert_eq!(bound(&vec![vec![1.0; 3]; 6], &links(1.0, 3.0)), 4.0, "12 bytes out of three racks");
}

#[test]
fn thousands_of_reduces_over_hundreds_of_racks_are_placed_in_one_go() {
    let inputs: Vec<Vec<f64>> =
        (0..2_000_u32).map(|row| (0..100_u32).map(|rack| f64::from((row + rack) % 7)).collect()).collect();
    let placement = place(&inputs, &[LIKE; 100]).unwrap();
    assert!(placement.bound <= placement.seconds && placement.seconds < 1.2 * placement.bound);
}

#[test]
fn what_is_no_matrix_over_the_racks_has_no_placement_and_nothing_to_place_takes_no_time() {
    assert_eq!((place(&[vec![1.0]], &[LIKE; 2]), place(&[], &[])), (None, None));
    assert_eq!(place(&[], &[LIKE]), Some(Placement { racks: vec![], seconds: 0.0, bound: 0.0 }));
}

#[test]
fn a_phase_too_large_to_search_through_has_a_placement_not_far_from_its_bound() {
    let inputs: Vec<Vec<f64>> =
        (0..60_u32).map(|row| (0..8_u32).map(|rack| f64::from((row * 37 + rack * 11) % 17 + 1)).collect()).collect();
    let placement = place(&inputs, &[LIKE; 8]).unwrap();
    assert_eq!(placement.bound, bound(&inputs, &[LIKE; 8]), "it is not known to be the best");
    assert!(placement.bound < placement.seconds && placement.seconds < 1.3 * placement.bound, "{placement:?}");
}

proptest! {
    #[test]
    fn small_phases_are_placed_as_well_as_any_placement_could(
        inputs in prop::collection::vec(prop::collection::vec(0.0f64..9.0, 3), 1..6),
        links in prop::collection::vec((0.5f64..4.0, 0.5f64..4.0), 3),
    ) {
        let links: Vec<Links> = links.into_iter().map(|(up, down)| Links { up, down }).collect();
        let placement = place(&inputs, &links).unwrap();
        let least = best(&inputs, &links);
        prop_assert!((placement.seconds - least).abs() <= 1e-9 * (1.0 + least), "{} {}", placement.seconds, least);
        prop_assert!(bound(&inputs, &links) <= least * (1.0 + 1e-9));
    }
}

proptest! {
    #[test]
    fn reduces_that_read_the_same_are_placed_as_well_as_any_placement_could(
        row in prop::collection::vec(prop_oneof![Just(0.0), 0.0f64..9.0], 3),
        reduces in 1usize..7,
        links in prop::collection::vec((0.1f64..4.0, 0.1f64..4.0), 3),
    ) {
        let links: Vec<Links> = links.into_iter().map(|(up, down)| Links { up, down }).collect();
        let inputs = vec![row; reduces];
        let placement = place(&inputs, &links).unwrap();
        let least = best(&inputs, &links);
        prop_assert!((placement.seconds - least).abs() <= 1e-9 * (1.0 + least), "{} {}", placement.seconds, least);
        prop_assert_eq!(placement.racks.len(), reduces);
        let told = seconds_of(&inputs, &links, &placement.racks);
        prop_assert!((placement.seconds - told).abs() <= 1e-9 * (1.0 + told));
    }
}

#[test]
fn ten_thousand_reduces_that_read_the_same_are_placed_exactly() {
    // One rack holds half of everything, and its link out is as narrow as any: as many go there as come in as fast as the rest goes out.
    let row = [9.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let placement = place(&vec![row.to_vec(); 10_000], &[LIKE; 10]).unwrap();
    assert_eq!(placement.racks.iter().filter(|rack| **rack == 0).count(), 5_000);
    assert_eq!((placement.seconds, placement.bound), (45_000.0, 45_000.0));
}

proptest! {
    // Each looks at as many placements as are ever looked at.
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 16))]
    #[test]
    fn no_phase_is_placed_worse_than_by_the_same_number_of_reduces_on_each_rack(
        inputs in prop::collection::vec(prop::collection::vec(0.0f64..9.0, 6), 1..60),
        links in prop::collection::vec((0.5f64..4.0, 0.5f64..4.0), 6),
    ) {
        let links: Vec<Links> = links.into_iter().map(|(up, down)| Links { up, down }).collect();
        let placed = place(&inputs, &links).unwrap();
        let evenly: Vec<usize> = (0..inputs.len()).map(|reduce| reduce % 6).collect();
        prop_assert!(placed.seconds <= seconds_of(&inputs, &links, &evenly) * (1.0 + 1e-9));
        let again = seconds_of(&inputs, &links, &placed.racks);
        prop_assert!((placed.seconds - again).abs() <= 1e-9 * again && placed.bound <= again * (1.0 + 1e-9));
    }
}
