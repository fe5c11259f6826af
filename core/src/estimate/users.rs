//! Whose tasks it is that something learned rests on: what one user's jobs claim decides about that user's jobs alone.

use serde::{Deserialize, Serialize};

/// Users that are told apart: so many stand for any more.
pub const PRINCIPALS_MAX: usize = 8;

/// Users whose tasks are counted, in order, up to [`PRINCIPALS_MAX`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Users(Vec<String>);

impl Users {
    pub fn add(&mut self, user: &str) {
        if let Err(place) = self.0.binary_search_by(|known| known.as_str().cmp(user))
            && self.0.len() < PRINCIPALS_MAX
        {
            self.0.insert(place, user.to_owned());
        }
    }

    /// May what rests on them decide about jobs of that user?
    pub fn hold_for(&self, user: &str) -> bool {
        self.0.len() > 1 || self.0.iter().any(|known| known == user)
    }

    pub fn names(&self) -> &[String] {
        &self.0
    }
}

/// Users on whose tasks an average rests that is learned window by window, each with how much of it does not come of windows since its last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Told")]
pub(super) struct Lasting {
    users: Users,
    left: Vec<f64>,
}

/// Names alone, as when those of the last window were kept.
#[derive(Deserialize)]
#[serde(untagged)]
enum Told {
    Lasting { users: Users, left: Vec<f64> },
    Names(Users),
}

impl From<Told> for Lasting {
    fn from(told: Told) -> Lasting {
        match told {
            Told::Lasting { users, left } if users.0.len() == left.len() => Lasting { users, left },
            Told::Lasting { users, .. } | Told::Names(users) => Lasting { left: vec![1.0; users.0.len()], users },
        }
    }
}

impl Lasting {
    /// A window with tasks of these users makes that part of the average, and what was before it the rest. A user is forgotten once next to all of it comes of windows without one of its tasks.
    pub fn add(&mut self, window: Users, part: f64) {
        const LEAST: f64 = 1.0 / 16.0;
        let Lasting { users, left } = std::mem::take(self);
        let before = users.0.into_iter().zip(left).map(|(user, left)| (user, left * (1.0 - part)));
        let lasts = before.filter(|(user, left)| *left >= LEAST && !window.0.contains(user)).collect::<Vec<_>>();
        let mut all: Vec<(String, f64)> = window.0.iter().map(|user| (user.clone(), 1.0)).chain(lasts).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all.truncate(PRINCIPALS_MAX);
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let (users, left) = all.into_iter().unzip();
        *self = Lasting { users: Users(users), left };
    }

    pub fn users(&self) -> &Users {
        &self.users
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(names: &[&str]) -> Users {
        let mut users = Users::default();
        names.iter().for_each(|name| users.add(name));
        users
    }

    /// Of windows with one of ann's and bob's tasks, and then with bob's alone that are such a part: in how many ann is known.
    fn known(part: f64) -> usize {
        let mut lasting = Lasting::default();
        lasting.add(users(&["bob", "ann"]), 1.0);
        let mut alone = || {
            lasting.add(users(&["bob"]), part);
            lasting.users().hold_for("carl")
        };
        (0..1_000).take_while(|_| alone()).count()
    }

    #[test]
    fn who_has_had_no_task_for_a_window_or_two_is_still_known_and_is_forgotten_once_next_to_nothing_rests_on_it() {
        assert_eq!(known(0.5), 4, "a half, …, a sixteenth");
        assert_eq!(known(0.01), 275, "small windows say little");
        assert_eq!(known(1.0), 0, "a window that is all of it leaves nothing of others");
    }

    #[test]
    fn of_more_users_than_are_told_apart_the_latest_are_known() {
        let mut lasting = Lasting::default();
        for window in 0..20 {
            lasting.add(users(&[&format!("u{window:02}")]), 0.1);
        }
        let names: Vec<String> = (12..20).map(|window| format!("u{window:02}")).collect();
        assert_eq!(lasting.users().names(), names);
    }

    #[test]
    fn names_alone_are_read_as_those_of_the_last_window() {
        let read: Lasting = serde_json::from_str(r#"["ann","bob"]"#).unwrap();
        assert_eq!(read, Lasting { users: users(&["ann", "bob"]), left: vec![1.0; 2] });
        let mut kept = read;
        kept.add(users(&["bob"]), 0.5);
        let again: Lasting = serde_json::from_str(&serde_json::to_string(&kept).unwrap()).unwrap();
        assert_eq!(again, kept);
    }
}
