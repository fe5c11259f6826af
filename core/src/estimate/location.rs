//! Mantri's locationFactor (Mantri, OSDI'10, §5.5, eq. 3): "whether the candidate machine for running this task is persistently slower (or faster) than other machines or
//! has smaller (or larger) capacity on the network path to where the task's inputs are located".

/// A machine that a task might run on, beside those that its phase's tasks ran on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Location {
    /// How many times longer its tasks take for their data than others'.
    pub slowness: f64,
    /// How many times the capacity that the phase's tasks typically had its path to the task's input has. Infinite where the input lies on the machine itself.
    pub capacity: f64,
    /// Share (0–1) of a typical task's time that goes into bringing its input over the network.
    pub transfer: f64,
}

impl Location {
    /// A machine of which so much is known, whatever its path: where nobody can say where a task's input lies, as over YARN's REST API and from the shim, it is taken to be
    /// as long as any other.
    pub fn of_machine(slowness: f64) -> Location {
        Location { slowness, capacity: 1.0, transfer: 0.0 }
    }

    /// How many times longer a task takes there for its data: the path slows its transfer, the machine all else. Infinite where there is no path to what must be brought.
    pub fn factor(self) -> f64 {
        let Location { slowness, capacity, transfer } = self;
        let brought = if transfer > 0.0 { transfer / capacity } else { 0.0 };
        slowness * (1.0 - transfer) + brought
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(slowness: f64, capacity: f64, transfer: f64) -> f64 {
        Location { slowness, capacity, transfer }.factor()
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
    }

    #[test]
    fn input_on_the_machine_itself_is_not_brought_and_input_out_of_reach_never_comes() {
        assert_eq!(factor(1.0, f64::INFINITY, 0.5), 0.5);
        assert_eq!(factor(1.0, 0.0, 0.5), f64::INFINITY);
        assert_eq!(factor(2.0, 0.0, 0.0), 2.0);
    }
}
