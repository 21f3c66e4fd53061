use super::*;
use proptest::prelude::*;

const TOLERANCE: f32 = 1e-6;

fn near(a: f32, b: f32) -> bool {
    (a - b).abs() <= TOLERANCE
}

fn norm() -> impl Strategy<Value = TNorm> {
    prop::sample::select(TNorm::ALL.to_vec())
}

fn truth() -> impl Strategy<Value = f32> {
    prop_oneof![8 => 0.0f32..=1.0, 1 => Just(0.0f32), 1 => Just(1.0f32)]
}

proptest! {
    #[test]
    fn conjunction_and_disjunction_are_commutative(n in norm(), x in truth(), y in truth()) {
        prop_assert!(near(n.and(x, y), n.and(y, x)));
        prop_assert!(near(n.or(x, y), n.or(y, x)));
    }

    #[test]
    fn conjunction_and_disjunction_are_associative(n in norm(), x in truth(), y in truth(), z in truth()) {
        prop_assert!(near(n.and(n.and(x, y), z), n.and(x, n.and(y, z))));
        prop_assert!(near(n.or(n.or(x, y), z), n.or(x, n.or(y, z))));
    }

    #[test]
    fn conjunction_and_disjunction_are_monotone(n in norm(), x in truth(), y in truth(), z in truth()) {
        let (low, high) = (x.min(y), x.max(y));
        prop_assert!(n.and(low, z) <= n.and(high, z) + TOLERANCE);
        prop_assert!(n.or(low, z) <= n.or(high, z) + TOLERANCE);
    }

    #[test]
    fn one_and_zero_are_units_and_the_others_absorb(n in norm(), x in truth()) {
        prop_assert!(near(n.and(x, 1.0), x) && near(n.or(x, 0.0), x));
        prop_assert!(near(n.and(x, 0.0), 0.0) && near(n.or(x, 1.0), 1.0));
    }

    #[test]
    fn conjunction_and_disjunction_are_dual(n in norm(), x in truth(), y in truth()) {
        let not = |x: f32| Negation::default().not(x);
        prop_assert!(near(n.or(x, y), not(n.and(not(x), not(y)))));
        prop_assert!(near(n.and(x, y), not(n.or(not(x), not(y)))));
    }

    #[test]
    fn values_stay_in_the_unit_interval_and_in_order(n in norm(), x in truth(), y in truth()) {
        let (both, either) = (n.and(x, y), n.or(x, y));
        prop_assert!((0.0..=1.0).contains(&both) && (0.0..=1.0).contains(&either));
        prop_assert!(both <= x.min(y) && either >= x.max(y) - TOLERANCE);
    }

    #[test]
    fn maximum_distributes_over_the_conjunction(n in norm(), x in truth(), y in truth(), z in truth()) {
        prop_assert!(near(n.and(x.max(y), z), n.and(x, z).max(n.and(y, z))));
    }

    #[test]
    fn negation_is_an_involution_and_turns_the_order_around(x in truth(), y in truth(), scale in 1.0f32..6.0) {
        let not = Negation::default();
        prop_assert!(near(not.not(not.not(x)), x));
        let scaled = Negation { scale };
        prop_assert!((0.0..=1.0).contains(&scaled.not(x)) && scaled.not(x) <= not.not(x) + TOLERANCE);
        prop_assert!(scaled.not(x.max(y)) <= scaled.not(x.min(y)));
    }

    #[test]
    fn derivatives_are_the_slopes(n in norm(), x in 0.05f32..0.95, y in 0.05f32..0.95, scale in 1.0f32..6.0) {
        const H: f32 = 1e-3;
        // Away from the kinks.
        prop_assume!((x - y).abs() > 0.01 && (x + y - 1.0).abs() > 0.01 && (scale * x - 1.0).abs() > 0.02);
        let slope = |f: &dyn Fn(f32) -> f32, at: f32| (f(at + H) - f(at - H)) / (2.0 * H);
        let close = |a: f32, b: f32| (a - b).abs() < 1e-2;
        let (dx, dy) = n.and_derivative(x, y);
        prop_assert!(close(dx, slope(&|x| n.and(x, y), x)) && close(dy, slope(&|y| n.and(x, y), y)));
        let (dx, dy) = n.or_derivative(x, y);
        prop_assert!(close(dx, slope(&|x| n.or(x, y), x)) && close(dy, slope(&|y| n.or(x, y), y)));
        let not = Negation { scale };
        prop_assert!(close(not.derivative(x), slope(&|x| not.not(x), x)));
    }

    #[test]
    fn folds_do_not_depend_on_the_order(n in norm(), mut values in prop::collection::vec(truth(), 0..6)) {
        let (all, any) = (n.all(values.iter().copied()), n.any(values.iter().copied()));
        values.reverse();
        prop_assert!((n.all(values.iter().copied()) - all).abs() < 1e-5);
        prop_assert!((n.any(values) - any).abs() < 1e-5);
    }
}

#[test]
fn names_are_found_again() {
    for n in TNorm::ALL {
        assert_eq!(TNorm::from_name(n.name()), Some(n));
    }
    assert_eq!(TNorm::from_name("min"), Some(TNorm::Godel));
    assert_eq!(TNorm::from_name("fuzzy"), None);
}
