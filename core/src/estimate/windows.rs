//! Averages learned window by window, with what they rest on: Dolly's of machines (HotCloud'12 §3.2, NSDI'13 §2.1.2), and likewise p of the cluster.

use super::users::{Lasting, Users};
use serde::{Deserialize, Serialize};

/// What is halved so often is none.
const GONE: u64 = 64;

/// What a window without tasks says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Idle {
    /// Nothing, as nothing was seen.
    #[default]
    Nothing,
    /// That it happened to none: what is asked is how likely it is *in a window* (NSDI'13 §2.1.2), and in this it was not.
    Zero,
}

/// A mean over tasks, learned window by window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Average {
    /// Number of the window that is being counted.
    window: u64,
    /// Tasks in it, and the sum of their values.
    tasks: u32,
    #[serde(alias = "stragglers")]
    sum: f64,
    /// Mean of the last window with any task that is over.
    #[serde(default)]
    last: Option<f64>,
    /// The average after that window.
    predicted: Option<f64>,
    /// Tasks that it rests on.
    evidence: f64,
}

/// How what is learned ages.
#[derive(Debug, Clone, Copy)]
enum Ageing {
    /// What was seen of a machine says half as much of it with each window that passes.
    Halved,
    /// It stays as true until a window shows more. With fewer tasks than these a window counts for as much less, and while those before it are so few all tasks count alike.
    Kept(f64),
}

impl Average {
    /// Counts one more task in that window.
    pub fn add(&mut self, window: u64, value: f64) {
        self.close_until(window);
        self.tasks += 1;
        self.sum += value;
    }

    /// HotCloud'12 §3.2: p_{t+1} = (p_t + p[t]) / 2, where p[t] is the mean of window t: "equally dependent on its straggler probability in the previous
    /// window and its long-term average" (NSDI'13 §2.1.2). A window without tasks says nothing of p. True if this ended one with any.
    pub fn close_until(&mut self, window: u64) -> bool {
        self.close(window, Ageing::Halved).is_some()
    }

    /// Ends the window that is being counted, if it is before that one: which part of the average it makes, if it had any task.
    fn close(&mut self, window: u64, ageing: Ageing) -> Option<f64> {
        if window <= self.window {
            return None;
        }
        let part = self.counting().map(|mean| {
            self.last = Some(mean);
            self.fold(mean, ageing)
        });
        if matches!(ageing, Ageing::Halved) {
            self.evidence *= 0.5_f64.powi((window - self.window).min(GONE) as i32);
        }
        (self.window, self.tasks, self.sum) = (window, 0, 0.0);
        part
    }

    /// Adds the window that had that mean.
    fn fold(&mut self, mean: f64, ageing: Ageing) -> f64 {
        let tasks = f64::from(self.tasks);
        let Some(before) = self.predicted else {
            self.predicted = Some(mean);
            self.evidence += tasks;
            return 1.0;
        };
        let part = match ageing {
            Ageing::Halved => {
                self.evidence += tasks;
                0.5
            }
            Ageing::Kept(few) => {
                let (known, whole) = (self.evidence.max(1.0), 0.5 * (tasks / few).min(1.0));
                let plain = tasks / (tasks + known);
                let part = if tasks < few || known < few { whole.max(plain) } else { whole };
                // As many as a plain mean would take to be as sure: variances add up with the squares of the parts.
                self.evidence = ((1.0 - part).powi(2) / known + part.powi(2) / tasks).recip();
                part
            }
        };
        self.predicted = Some(before * (1.0 - part) + mean * part);
        part
    }

    /// As [`Average::close_until`], where windows without tasks count as those in which the mean was 0. Before the first with any nothing is known.
    fn close_idle_until(&mut self, window: u64) -> bool {
        let idle = window.saturating_sub(self.window).saturating_sub(u64::from(self.tasks > 0));
        let ended = self.close_until(window);
        self.predicted = self.predicted.map(|before| before * 0.5_f64.powi(idle.min(GONE) as i32));
        ended
    }

    fn counting(&self) -> Option<f64> {
        (self.tasks > 0).then(|| self.sum / f64::from(self.tasks))
    }

    /// The mean for the window that has begun; before the first has ended, what it shows so far. `None` without any task.
    pub fn mean(&self) -> Option<f64> {
        self.predicted.or(self.counting())
    }

    /// The mean of the last window with any task that is over; `None` before there is one.
    pub fn last(&self) -> Option<f64> {
        self.last
    }

    /// Tasks that it rests on, older windows counting less.
    pub fn evidence(&self) -> f64 {
        if self.predicted.is_some() { self.evidence } else { f64::from(self.tasks) }
    }

    /// Nothing is left that it rests on.
    pub fn is_spent(&self) -> bool {
        const LEFT: f64 = 0.01;
        self.tasks == 0 && self.evidence < LEFT
    }
}

/// A probability learned window by window, with the users whose tasks it rests on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Odds {
    #[serde(flatten)]
    share: Average,
    /// Users whose tasks are counted, and those whose tasks p rests on.
    counted: Users,
    principals: Lasting,
}

impl Odds {
    /// Counts one more task in that window: did it happen to it? Windows before it that had none say nothing, unless they were ended before.
    pub fn add(&mut self, window: u64, happened: bool, user: &str) {
        self.close_until(window, Idle::Nothing);
        self.share.add(window, f64::from(u8::from(happened)));
        self.counted.add(user);
    }

    /// Ends the windows before that one.
    pub fn close_until(&mut self, window: u64, idle: Idle) {
        let ended = match idle {
            Idle::Nothing => self.share.close_until(window),
            Idle::Zero => self.share.close_idle_until(window),
        };
        self.keep_users(ended.then_some(1.0));
    }

    /// The same of what does not change with time, as machines do: what windows have shown stays as telling until others have shown more, however long ago it was. One with fewer
    /// than `few` tasks counts for as much less, so that p comes to rest on twice as many, be the windows ever so small: at first all tasks count alike.
    pub fn keep_until(&mut self, window: u64, few: f64) {
        let part = self.share.close(window, Ageing::Kept(few));
        self.keep_users(part);
    }

    fn keep_users(&mut self, part: Option<f64>) {
        if let Some(part) = part {
            self.principals.add(std::mem::take(&mut self.counted), part);
        }
    }

    /// p for the window that has begun; before the first has ended, what it shows so far. `None` without any task.
    pub fn probability(&self) -> Option<f64> {
        self.share.mean()
    }

    /// The share in the last window with any task that is over; `None` before there is one.
    pub fn last(&self) -> Option<f64> {
        self.share.last()
    }

    /// Tasks that it rests on, older windows counting less.
    pub fn evidence(&self) -> f64 {
        self.share.evidence()
    }

    /// Nothing is left that it rests on.
    pub fn is_spent(&self) -> bool {
        self.share.is_spent()
    }

    fn users(&self) -> &Users {
        if self.share.predicted.is_some() { self.principals.users() } else { &self.counted }
    }

    /// How many users' tasks it rests on, up to eight.
    pub fn principals(&self) -> usize {
        self.users().names().len()
    }

    /// The user whose tasks alone it rests on; `None` where there are none, or more.
    pub fn only_principal(&self) -> Option<&str> {
        if let [only] = self.users().names() { Some(only) } else { None }
    }

    /// May it decide about jobs of that user? What one user's jobs claim decides about that user's jobs alone.
    pub fn holds_for(&self, user: &str) -> bool {
        self.users().hold_for(user)
    }
}

#[cfg(test)]
mod tests {
    use super::super::users::PRINCIPALS_MAX;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_window_counts_as_much_as_all_before_it() {
        let mut odds = Odds::default();
        assert_eq!(odds.probability(), None);
        for n in 0..10 {
            odds.add(7, n < 4, "alice");
        }
        assert_eq!(
            (odds.probability(), odds.last()),
            (Some(0.4), None),
            "the first window speaks while it is the only one"
        );
        odds.add(8, false, "bob");
        assert_eq!((odds.probability(), odds.last()), (Some(0.4), Some(0.4)));
        odds.close_until(9, Idle::Nothing);
        assert_eq!((odds.probability(), odds.last()), (Some(0.2), Some(0.0)), "(.4 + 0) / 2");
        odds.add(12, true, "bob");
        odds.close_until(13, Idle::Nothing);
        assert_eq!(
            (odds.probability(), odds.last()),
            (Some(0.6), Some(1.0)),
            "(.2 + 1) / 2: empty windows say nothing"
        );
        assert!(odds.evidence() < 2.0 && odds.principals() == 1, "of the last window with any task: {odds:?}");
    }

    #[test]
    fn windows_without_tasks_halve_what_is_predicted_where_they_count_and_only_then() {
        for (idle, after_one, after_three) in [(Idle::Nothing, 0.5, 0.5), (Idle::Zero, 0.5, 0.125)] {
            let mut odds = Odds::default();
            odds.close_until(3, idle);
            assert_eq!(odds.probability(), None, "nothing is known before the first task");
            (0..4).for_each(|n| odds.add(3, n < 2, "ann"));
            odds.close_until(4, idle);
            assert_eq!(odds.probability(), Some(after_one), "window 3 had tasks");
            odds.close_until(6, idle);
            assert_eq!(odds.probability(), Some(after_three), "4 and 5 had none: {idle:?}");
        }
    }

    /// What so many hours with so many tasks each come to, one in ten of which straggles, where fewer than fifty are few; each hour's p, and the evidence.
    fn kept(hours: u64, tasks: u32) -> (Vec<f64>, f64) {
        let mut odds = Odds::default();
        let p = (0..hours).map(|hour| {
            (0..tasks).for_each(|n| odds.add(hour, (u64::from(tasks) * hour + u64::from(n)) % 10 == 0, "ann"));
            odds.keep_until(hour + 1, 50.0);
            odds.probability().unwrap()
        });
        (p.collect(), odds.evidence())
    }

    #[test]
    fn a_cluster_with_ninety_tasks_an_hour_or_three_comes_to_rest_on_a_hundred_as_soon_as_there_were_as_many() {
        let hours = |tasks| (1..).find(|hours| kept(*hours, tasks).1 >= 100.0).unwrap();
        assert_eq!([101, 90, 51, 21, 6, 3].map(hours), [1, 2, 2, 5, 17, 34]);
        assert!(kept(1_000, 90).1 < 270.1, "it rests on the latest hours, and is no surer for the many before them");
    }

    #[test]
    fn an_hour_of_enough_tasks_counts_as_much_as_all_before_it_and_one_of_few_as_much_less() {
        let mut odds = Odds::default();
        let mut hour = |hour, tasks, straggle| {
            (0..tasks).for_each(|n| odds.add(hour, n < straggle, "ann"));
            odds.keep_until(hour + 1, 50.0);
            odds.probability().unwrap()
        };
        assert_eq!([hour(0, 100, 40), hour(1, 50, 0), hour(2, 1, 1)], [0.4, 0.2, 0.2 * 0.99 + 0.01]);
        // Of a first hour's one task next to nothing is left after fifty others.
        let mut odds = Odds::default();
        odds.add(0, true, "ann");
        (0..50).for_each(|_| {
            odds.keep_until(1, 50.0);
            odds.add(1, false, "ann");
        });
        odds.keep_until(2, 50.0);
        assert!(odds.probability().unwrap() < 0.02 && odds.evidence() > 50.0, "{odds:?}");
    }

    #[test]
    fn what_a_cluster_has_shown_is_as_true_after_a_night_without_tasks_and_its_users_are_known() {
        let mut odds = Odds::default();
        (0..200).for_each(|n| odds.add(0, n % 10 == 0, if n % 2 == 0 { "ann" } else { "bob" }));
        odds.keep_until(12, 50.0);
        assert_eq!((odds.probability(), odds.evidence(), odds.principals()), (Some(0.1), 200.0, 2));
        (0..60).for_each(|n| odds.add(12, n % 10 == 0, "ann"));
        odds.keep_until(13, 50.0);
        assert!(odds.holds_for("carl"), "bob's hour is half of it");
    }

    #[test]
    fn a_window_that_is_still_counted_lends_its_tasks_to_no_earlier_probability() {
        let mut odds = Odds::default();
        (0..2).for_each(|n| odds.add(1, n == 0, "alice"));
        (0..200).for_each(|_| odds.add(2, false, "bob"));
        assert_eq!((odds.probability(), odds.evidence()), (Some(0.5), 1.0));
        assert!(!odds.holds_for("bob"));
        odds.close_until(3, Idle::Nothing);
        assert_eq!((odds.probability(), odds.holds_for("bob")), (Some(0.25), true));
    }

    #[test]
    fn what_one_user_claims_decides_about_that_users_jobs_alone() {
        let mut odds = Odds::default();
        odds.add(1, true, "mallory");
        assert!(odds.holds_for("mallory") && !odds.holds_for("alice"));
        odds.add(1, true, "bob");
        assert!(odds.holds_for("alice"));
    }

    #[test]
    fn many_users_are_counted_up_to_eight() {
        let mut odds = Odds::default();
        (0..20).for_each(|n| odds.add(1, true, &format!("user{n}")));
        assert_eq!(odds.principals(), PRINCIPALS_MAX);
    }

    #[test]
    fn what_was_serialised_before_averages_had_names_is_still_read() {
        let old = r#"{"window":7,"tasks":4,"stragglers":1,"predicted":0.5,"evidence":2.5,"counted":["ann"],"principals":["bob"]}"#;
        let odds: Odds = serde_json::from_str(old).unwrap();
        assert_eq!((odds.probability(), odds.evidence(), odds.holds_for("bob")), (Some(0.5), 2.5, true));
        let again = serde_json::to_string(&odds).unwrap();
        assert_eq!(serde_json::from_str::<Odds>(&again).unwrap(), odds);
    }

    proptest! {
        #[test]
        fn a_probability_stays_one(seen in prop::collection::vec((0u64..40, any::<bool>()), 1..60)) {
            let mut odds = Odds::default();
            let mut seen = seen;
            seen.sort();
            for (window, straggled) in seen {
                odds.add(window, straggled, "alice");
                prop_assert!((0.0..=1.0).contains(&odds.probability().unwrap()) && odds.evidence() > 0.0);
            }
        }
    }

    #[test]
    fn the_user_whose_tasks_alone_it_rests_on_is_named_and_of_two_none() {
        let mut odds = Odds::default();
        assert_eq!(odds.only_principal(), None);
        odds.add(1, true, "ann");
        assert_eq!(odds.only_principal(), Some("ann"));
        odds.add(1, true, "bob");
        assert_eq!(odds.only_principal(), None);
    }
}
