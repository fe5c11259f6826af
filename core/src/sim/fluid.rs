//! How what flows through links, disks and processors at one instant shares them: max–min fairly, by progressive filling (Bertsekas and Gallager, "Data Networks", 2nd ed.,
//! §6.5.2). All flows rise alike; one stops when it has all it can take, or when something that it goes through is full.

/// What goes through shared resources.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// What it takes where nobody is beside it, units per millisecond, above 0.
    pub most: f64,
    /// The resources that it goes through, and the share of it, above 0 to 1, that goes through each. None twice.
    pub through: Vec<(u32, f64)>,
}

/// Less than this share of the flows through a resource is none: what is left of sums after subtraction.
const ROUNDING: f64 = 1e-9;

/// What each flow gets, units per millisecond. `capacity` is that of each resource that any goes through.
pub fn fair(capacity: impl Fn(u32) -> f64, flows: &[&Flow]) -> Vec<f64> {
    let mut filling = Filling::new(capacity, flows);
    let mut rising: Vec<usize> = (0..flows.len()).collect();
    rising.sort_by(|a, b| flows[*a].most.total_cmp(&flows[*b].most));
    while !rising.is_empty() {
        let full = filling.next_full();
        let level = full.map_or(f64::INFINITY, |(level, _)| level);
        // Those that have enough before anything is full leave the more to the others.
        let enough = rising.partition_point(|flow| flows[*flow].most <= level);
        if enough > 0 {
            rising.drain(..enough).for_each(|flow| filling.stop(flow, flows[flow].most));
        } else if let Some((level, resource)) = full {
            let through = |flow: &usize| flows[*flow].through.iter().any(|(other, _)| *other == resource);
            rising.extract_if(.., |flow| through(flow)).for_each(|flow| filling.stop(flow, level));
            filling.of(resource).weight = 0.0;
        }
    }
    filling.rates
}

/// How far it has come.
struct Filling<'a> {
    flows: &'a [&'a Flow],
    /// In order of their numbers.
    resources: Vec<Resource>,
    rates: Vec<f64>,
}

struct Resource {
    number: u32,
    /// What those that have stopped leave of it.
    left: f64,
    /// The shares of those through it that still rise.
    weight: f64,
}

impl<'a> Filling<'a> {
    fn new(capacity: impl Fn(u32) -> f64, flows: &'a [&'a Flow]) -> Filling<'a> {
        let through = || flows.iter().flat_map(|flow| &flow.through);
        let mut numbers: Vec<u32> = through().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let resource = |number| Resource { number, left: capacity(number), weight: 0.0 };
        let resources = numbers.into_iter().map(resource).collect();
        let mut filling = Filling { flows, resources, rates: vec![0.0; flows.len()] };
        through().for_each(|(number, share)| filling.of(*number).weight += share);
        filling
    }

    fn of(&mut self, number: u32) -> &mut Resource {
        let place = self.resources.partition_point(|resource| resource.number < number);
        &mut self.resources[place]
    }

    /// The resource that will be full first, and what each flow through it has then.
    fn next_full(&self) -> Option<(f64, u32)> {
        let risen = self.resources.iter().filter(|resource| resource.weight > ROUNDING);
        let levels = risen.map(|resource| (resource.left.max(0.0) / resource.weight, resource.number));
        levels.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    fn stop(&mut self, flow: usize, rate: f64) {
        self.rates[flow] = rate;
        let flows = self.flows;
        for (number, share) in &flows[flow].through {
            let resource = self.of(*number);
            resource.left -= share * rate;
            resource.weight -= share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn flow(most: f64, through: &[(u32, f64)]) -> Flow {
        Flow { most, through: through.to_vec() }
    }

    fn shares(capacity: &[f64], flows: &[Flow]) -> Vec<f64> {
        fair(|resource| capacity[resource as usize], &flows.iter().collect::<Vec<_>>())
    }

    #[test]
    fn what_one_cannot_take_is_shared_by_the_others() {
        let flows = [flow(1.0, &[(0, 1.0)]), flow(9.0, &[(0, 1.0)]), flow(9.0, &[(0, 1.0)])];
        assert_eq!(shares(&[7.0], &flows), [1.0, 3.0, 3.0]);
        assert_eq!(shares(&[f64::INFINITY], &flows), [1.0, 9.0, 9.0]);
    }

    /// Bertsekas and Gallager's kind of example: a long path beside short ones.
    #[test]
    fn a_flow_over_two_links_has_what_the_tighter_one_leaves_and_the_wider_ones_rest_goes_to_its_own() {
        let flows = [flow(9.0, &[(0, 1.0), (1, 1.0)]), flow(9.0, &[(0, 1.0)]), flow(9.0, &[(1, 1.0)])];
        assert_eq!(shares(&[2.0, 5.0], &flows), [1.0, 1.0, 4.0]);
    }

    #[test]
    fn one_that_sends_a_quarter_through_a_link_burdens_it_by_a_quarter() {
        let flows = [flow(8.0, &[(0, 0.25)]), flow(8.0, &[(0, 1.0)])];
        assert_eq!(shares(&[5.0], &flows), [4.0, 4.0]);
    }

    #[test]
    fn what_goes_through_nothing_shared_takes_all_it_can() {
        assert_eq!(shares(&[], &[flow(3.0, &[])]), [3.0]);
    }

    #[test]
    fn what_nothing_goes_through_is_not_looked_at() {
        let far = u32::MAX;
        let capacity = |resource| if resource == far { 6.0 } else { panic!("nothing goes through {resource}") };
        assert_eq!(fair(capacity, &[&flow(9.0, &[(far, 1.0)]), &flow(2.0, &[(far, 1.0)])]), [4.0, 2.0]);
    }

    fn some() -> impl Strategy<Value = (Vec<f64>, Vec<Flow>)> {
        let flow = (0.5..20.0_f64, prop::collection::btree_map(0..4_u32, 0.1..1.0_f64, 0..4));
        let flows = prop::collection::vec(flow, 1..12);
        (prop::collection::vec(1.0..30.0_f64, 4), flows).prop_map(|(capacity, flows)| {
            let flow = |(most, through): (f64, std::collections::BTreeMap<u32, f64>)| Flow {
                most,
                through: through.into_iter().collect(),
            };
            (capacity, flows.into_iter().map(flow).collect())
        })
    }

    proptest! {
        #[test]
        fn nothing_is_over_full_and_who_has_less_than_it_can_take_has_the_most_of_something_full((capacity, flows) in some()) {
            let rates = shares(&capacity, &flows);
            let used = |resource: u32| -> f64 {
                let share = |flow: &Flow| flow.through.iter().find(|(other, _)| *other == resource).map_or(0.0, |(_, share)| *share);
                flows.iter().zip(&rates).map(|(flow, rate)| share(flow) * rate).sum()
            };
            for (resource, most) in (0..).zip(&capacity) {
                prop_assert!(used(resource) <= most + 1e-6, "{resource}: {} of {most}", used(resource));
            }
            for (flow, rate) in flows.iter().zip(&rates) {
                prop_assert!(*rate <= flow.most);
                let is_held = |resource: u32| {
                    let beside = flows.iter().zip(&rates).filter(|(other, _)| other.through.iter().any(|(one, _)| *one == resource));
                    used(resource) >= capacity[resource as usize] - 1e-6 && beside.map(|(_, other)| *other).all(|other| other <= rate + 1e-6)
                };
                prop_assert!(*rate >= flow.most - 1e-6 || flow.through.iter().any(|(one, _)| is_held(*one)), "{flow:?} {rate}");
            }
        }
    }
}
