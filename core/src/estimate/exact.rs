//! Arithmetic that knows how far off it is: decimal bounds around a number, drawn closer until the question at hand is settled.
//!
//! A clone count changes where 1 − (1 − p^c)^n meets ε, and there floating point falls on either side. Here p and ε are the decimals that people write, so with
//! enough places every product is exact: a tie is seen as a tie, and whatever is no tie comes apart long before.

use std::ops::{Add, Mul, Sub};

/// A limb holds nine decimal digits.
const LIMB: u64 = 1_000_000_000;
const LIMB_DIGITS: usize = 9;

/// A whole number: limbs, the lowest first, the highest never zero.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Whole(Vec<u32>);

/// A number that is known to lie between two decimals.
#[derive(Debug, Clone)]
pub struct Bounds {
    low: Whole,
    high: Whole,
    scale: Scale,
}

/// How many limbs are kept after the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale(usize);

/// Asks with more and more places until there is an answer. From the first time on each of the `given` numbers has all of its places.
pub fn settle<T>(given: &[f64], question: impl Fn(Scale) -> Option<T>) -> T {
    let places = |value: &f64| fraction(*value).len().div_ceil(LIMB_DIGITS);
    let mut limbs = given.iter().map(places).max().unwrap_or(0) + 3;
    loop {
        match question(Scale(limbs)) {
            Some(answer) => return answer,
            None => limbs *= 2,
        }
    }
}

/// The digits after the point of the decimal that a person would write for `value`: the shortest that reads back as the same number.
fn fraction(value: f64) -> String {
    format!("{value}").split_once('.').map_or_else(String::new, |(_, digits)| digits.to_owned())
}

impl Scale {
    /// The decimal that a person would write for a number from 0 to 1.
    pub fn decimal(self, value: f64) -> Bounds {
        let digits = fraction(value) + &"0".repeat(LIMB_DIGITS);
        let limb = |place: usize| digits.get(place * LIMB_DIGITS..(place + 1) * LIMB_DIGITS);
        let mut limbs: Vec<u32> =
            (0..self.0).rev().map(|place| limb(place).and_then(|nine| nine.parse().ok()).unwrap_or(0)).collect();
        limbs.push(value.trunc() as u32);
        self.exactly(Whole::of(limbs))
    }

    /// A whole number.
    pub fn whole(self, value: u128) -> Bounds {
        let mut limbs = vec![0; self.0];
        let mut rest = value;
        while rest > 0 {
            limbs.push((rest % u128::from(LIMB)) as u32);
            rest /= u128::from(LIMB);
        }
        self.exactly(Whole::of(limbs))
    }

    fn exactly(self, value: Whole) -> Bounds {
        Bounds { low: value.clone(), high: value, scale: self }
    }
}

impl Bounds {
    /// To a power.
    pub fn pow(&self, exponent: u32) -> Bounds {
        let mut power = self.scale.whole(1);
        for bit in (0..u32::BITS - exponent.leading_zeros()).rev() {
            power = &power * &power;
            if exponent >> bit & 1 == 1 {
                power = &power * self;
            }
        }
        power
    }

    /// 1 − x.
    pub fn complement(&self) -> Bounds {
        &self.scale.whole(1) - self
    }

    /// Is it at most `other`? `None` while the bounds leave that open.
    pub fn at_most(&self, other: &Bounds) -> Option<bool> {
        if self.high.at_most(&other.low) {
            Some(true)
        } else if self.low.at_most(&other.high) {
            None
        } else {
            Some(false)
        }
    }

    /// The nearest floating-point number. `None` while the bounds are nearest to different ones.
    pub fn value(&self) -> Option<f64> {
        let nearest = |bound: &Whole| format!("{}e-{}", bound.digits(), self.scale.0 * LIMB_DIGITS).parse::<f64>().ok();
        nearest(&self.low).filter(|low| nearest(&self.high) == Some(*low))
    }
}

impl Add for &Bounds {
    type Output = Bounds;
    fn add(self, other: &Bounds) -> Bounds {
        Bounds { low: self.low.plus(&other.low), high: self.high.plus(&other.high), scale: self.scale }
    }
}

/// Of numbers that differ by no less than zero.
impl Sub for &Bounds {
    type Output = Bounds;
    fn sub(self, other: &Bounds) -> Bounds {
        Bounds { low: self.low.minus(&other.high), high: self.high.minus(&other.low), scale: self.scale }
    }
}

impl Mul for &Bounds {
    type Output = Bounds;
    fn mul(self, other: &Bounds) -> Bounds {
        let (low, _) = self.low.times(&other.low).without(self.scale.0);
        let (high, cut) = self.high.times(&other.high).without(self.scale.0);
        let high = if cut { high.plus(&Whole(vec![1])) } else { high };
        Bounds { low, high, scale: self.scale }
    }
}

impl Whole {
    fn of(mut limbs: Vec<u32>) -> Whole {
        limbs.truncate(limbs.iter().rposition(|limb| *limb > 0).map_or(0, |top| top + 1));
        Whole(limbs)
    }

    fn limb(&self, place: usize) -> u64 {
        self.0.get(place).copied().map_or(0, u64::from)
    }

    fn at_most(&self, other: &Whole) -> bool {
        let (ours, theirs) = (self.0.iter().rev(), other.0.iter().rev());
        self.0.len().cmp(&other.0.len()).then_with(|| ours.cmp(theirs)).is_le()
    }

    fn plus(&self, other: &Whole) -> Whole {
        let mut carry = 0;
        let mut add = |place| {
            let sum = self.limb(place) + other.limb(place) + carry;
            carry = sum / LIMB;
            (sum % LIMB) as u32
        };
        // One place more than either has takes the last carry.
        Whole::of((0..=self.0.len().max(other.0.len())).map(&mut add).collect())
    }

    /// Zero where `other` is larger.
    fn minus(&self, other: &Whole) -> Whole {
        if self.at_most(other) {
            return Whole(Vec::new());
        }
        let mut borrow = 0;
        let mut take = |place| {
            let due = other.limb(place) + borrow;
            borrow = u64::from(self.limb(place) < due);
            (self.limb(place) + borrow * LIMB - due) as u32
        };
        Whole::of((0..self.0.len()).map(&mut take).collect())
    }

    fn times(&self, other: &Whole) -> Whole {
        let mut product = vec![0_u32; self.0.len() + other.0.len()];
        for (at, ours) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (offset, theirs) in other.0.iter().enumerate() {
                let sum = u64::from(product[at + offset]) + u64::from(*ours) * u64::from(*theirs) + carry;
                product[at + offset] = (sum % LIMB) as u32;
                carry = sum / LIMB;
            }
            product[at + other.0.len()] = carry as u32;
        }
        Whole::of(product)
    }

    /// Without its lowest limbs, and whether any of those was more than zero.
    fn without(&self, limbs: usize) -> (Whole, bool) {
        let (cut, kept) = self.0.split_at(limbs.min(self.0.len()));
        (Whole(kept.to_vec()), cut.iter().any(|limb| *limb > 0))
    }

    fn digits(&self) -> String {
        self.0.iter().rev().fold("0".to_owned(), |digits, limb| format!("{digits}{limb:09}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(of: impl Fn(Scale) -> Bounds, given: &[f64]) -> f64 {
        settle(given, |scale| of(scale).value())
    }

    #[test]
    fn decimals_are_what_people_write_and_not_what_floating_point_makes_of_them() {
        let tie = |scale: Scale| (&scale.decimal(0.1) + &scale.decimal(0.2)).at_most(&scale.decimal(0.3));
        assert!(settle(&[0.1, 0.2, 0.3], tie) && 0.1 + 0.2 > 0.3);
        assert_eq!(value(|scale| scale.decimal(0.1).complement(), &[0.1]), 0.9);
        assert_eq!(value(|scale| scale.decimal(0.07).pow(3), &[0.07]), 0.000343);
        assert_eq!(value(|scale| scale.whole(u128::MAX), &[]), u128::MAX as f64);
        assert_eq!(value(|scale| scale.decimal(1e-300), &[1e-300]), 1e-300);
        assert_eq!(value(|scale| scale.decimal(1.0).complement(), &[1.0]), 0.0);
    }

    #[test]
    fn what_differs_far_behind_the_point_is_told_apart_by_more_places() {
        // (1 − 10⁻⁹)^1000 is above 1 − 10⁻⁶ by about 5·10⁻¹³, and (1 − 10⁻¹⁸)^1000 above 1 − 10⁻¹⁵ by 5·10⁻³¹: beyond floating point.
        for (p, epsilon) in [(1e-9, 1e-6), (1e-18, 1e-15)] {
            let less =
                |scale: Scale| scale.decimal(p).complement().pow(1000).complement().at_most(&scale.decimal(epsilon));
            let more =
                |scale: Scale| scale.decimal(epsilon).at_most(&scale.decimal(p).complement().pow(1000).complement());
            assert!(settle(&[p, epsilon], less) && !settle(&[p, epsilon], more));
        }
    }

    #[test]
    fn with_too_few_places_the_bounds_leave_the_question_open() {
        let scale = Scale(1);
        let (small, none, one) = (scale.decimal(1e-9).pow(2), scale.whole(0), scale.whole(1));
        assert_eq!((small.value(), small.at_most(&none), none.at_most(&small)), (None, None, Some(true)));
        let (large, sum) = (small.complement(), &small + &one);
        assert_eq!((large.value(), one.at_most(&large), large.at_most(&one)), (None, None, Some(true)));
        assert_eq!((sum.value(), sum.at_most(&one), one.at_most(&sum)), (None, None, Some(true)));
    }

    proptest! {
        #[test]
        fn it_agrees_with_arithmetic_on_machine_numbers(a in 0..1_000_000_000_000_u64, b in 0..1_000_000_000_000_u64, e in 0..4_u32) {
            let whole = |value: u128, scale: Scale| scale.whole(value);
            let (x, y) = (u128::from(a), u128::from(b));
            let same = |of: &dyn Fn(Scale) -> Bounds, expected: u128| {
                settle(&[], |scale| Some(of(scale).low == whole(expected, scale).low && of(scale).high == whole(expected, scale).high))
            };
            prop_assert!(same(&|scale| &whole(x, scale) + &whole(y, scale), x + y));
            prop_assert!(same(&|scale| &whole(x, scale) * &whole(y, scale), x * y));
            prop_assert!(same(&|scale| &whole(x, scale) - &whole(y, scale), x.saturating_sub(y)));
            prop_assert!(same(&|scale| whole(x, scale).pow(e), x.pow(e)));
            prop_assert_eq!(settle(&[], |scale| whole(x, scale).at_most(&whole(y, scale))), x <= y);
        }

        #[test]
        fn products_lie_between_their_bounds(p in 0.0..1.0_f64, n in 1..2_000_u32) {
            let power = Scale(3).decimal(p).pow(n);
            prop_assert!(power.low.at_most(&power.high));
            let exact = value(|scale| scale.decimal(p).pow(n), &[p]);
            prop_assert!((exact - p.powi(n as i32)).abs() <= 1e-9 * exact + 1e-300, "{} {}", exact, p.powi(n as i32));
        }
    }
}
