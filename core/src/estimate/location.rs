//! Mantri's locationFactor (Mantri, OSDI'10, §5.5, eq. 3): "whether the candidate machine for running this task is persistently slower (or faster) than other machines or
//! has smaller (or larger) capacity on the network path to where the task's inputs are located".

/// A machine that a task might run on, beside those that its phase's tasks ran on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Location {
    /// How many times longer its tasks take for their data than others'.
    pub slowness: f64,
    /// Share (0–1) of a typical task's time that its peers took to bring their input over the network.
    pub transfer: f64,
    /// How much this one's would take, in typical tasks' times: nothing where the input lies at hand, infinite where there is no path to it.
    pub brought: f64,
}

impl Location {
    /// A machine of which so much is known, whatever its path: that is taken to be as long as any other.
    pub fn of_machine(slowness: f64) -> Location {
        Location { slowness, transfer: 0.0, brought: 0.0 }
    }

    /// How many times longer a task takes there for its data: the path slows its transfer, the machine all else.
    pub fn factor(self) -> f64 {
        self.slowness * (1.0 - self.transfer) + self.brought
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(slowness: f64, capacity: f64, transfer: f64) -> f64 {
        Location { slowness, transfer, brought: if transfer > 0.0 { transfer / capacity } else { 0.0 } }.factor()
    }

    #[test]
    fn a_slow_machine_is_slow_in_what_it_does_itself() {
        assert_eq!(Location::of_machine(2.5).factor(), 2.5);
        assert_eq!(factor(3.0, 1.0, 0.25), 2.5, "three quarters take three times as long");
    }

    #[test]
    fn a_narrow_path_slows_the_transfer_and_a_wide_one_speeds_it_up() {
        assert_eq!((factor(1.0, 0.5, 0.5), factor(1.0, 2.0, 0.5)), (1.5, 0.75));
        assert_eq!(factor(1.0, 0.5, 0.0), 1.0, "nothing is brought");
        assert_eq!(
            Location { slowness: 2.0, transfer: 0.0, brought: 0.5 }.factor(),
            2.5,
            "where the peers' lay at hand"
        );
    }

    #[test]
    fn input_on_the_machine_itself_is_not_brought_and_input_out_of_reach_never_comes() {
        assert_eq!(factor(1.0, f64::INFINITY, 0.5), 0.5);
        assert_eq!(factor(1.0, 0.0, 0.5), f64::INFINITY);
        assert_eq!(factor(2.0, 0.0, 0.0), 2.0);
    }
}
