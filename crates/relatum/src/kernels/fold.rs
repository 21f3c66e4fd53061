//! Truth values combined, whole rows at a time.

use crate::logic::TNorm;

/// `all[x] = all[x] ⊤ part[x]`
pub fn meet(t_norm: TNorm, all: &mut [f32], part: &[f32]) {
    match t_norm {
        TNorm::Godel => meet_godel(all, part),
        TNorm::Product => meet_product(all, part),
        TNorm::Lukasiewicz => meet_lukasiewicz(all, part),
    }
}

/// `best[x] = max(best[x], message ⊤ row[x])`, and `via[x] = from` where that made it larger.
pub fn fold_max(t_norm: TNorm, from: u32, message: f32, row: &[f32], best: &mut [f32], via: &mut [u32]) {
    match t_norm {
        TNorm::Godel => fold_godel(from, message, row, best, via),
        TNorm::Product => fold_product(from, message, row, best, via),
        TNorm::Lukasiewicz => fold_lukasiewicz(from, message, row, best, via),
    }
}

/// One loop for each t-norm: a choice inside it would keep it from being vectorised.
macro_rules! loops {
    ($meet:ident, $fold:ident, |$x:ident, $y:ident| $and:expr) => {
        vectorised! {
            fn $meet<'a>(all: &'a mut [f32], part: &'a [f32]) -> () {
                for (all, &$y) in all.iter_mut().zip(part) {
                    let $x = *all;
                    *all = $and;
                }
            }
        }

        vectorised! {
            fn $fold<'a>(
                from: u32, message: f32, row: &'a [f32], best: &'a mut [f32], via: &'a mut [u32]
            ) -> () {
                let $x = message;
                for ((best, via), &$y) in best.iter_mut().zip(via).zip(row) {
                    let value = $and;
                    // Value and index are written always, so that the loop has no branch.
                    let wins = value > *best;
                    *via = if wins { from } else { *via };
                    *best = if wins { value } else { *best };
                }
            }
        }
    };
}

loops!(meet_godel, fold_godel, |x, y| if x < y { x } else { y });
loops!(meet_product, fold_product, |x, y| x * y);
loops!(meet_lukasiewicz, fold_lukasiewicz, |x, y| {
    let (small, large) = if x < y { (x, y) } else { (y, x) };
    let value = small - (1.0 - large);
    if value > 0.0 { value } else { 0.0 }
});

vectorised! {
    /// Whether a value is NaN.
    pub fn has_nan<'a>(values: &'a [f32]) -> bool {
        let mut found = false;
        for value in values {
            found |= value.is_nan();
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_folded_as_their_values_are(
            values in prop::collection::vec((0.0f32..=1.0, 0.0f32..=1.0, 0.0f32..=1.0), 0..80), message in 0.0f32..=1.0
        ) {
            let (row, before): (Vec<f32>, Vec<f32>) = values.iter().map(|&(a, b, _)| (a, b)).unzip();
            for t_norm in TNorm::ALL {
                let mut best = before.clone();
                let mut via = vec![0; best.len()];
                fold_max(t_norm, 7, message, &row, &mut best, &mut via);
                let mut met = before.clone();
                meet(t_norm, &mut met, &row);
                for x in 0..row.len() {
                    let value = t_norm.and(message, row[x]);
                    prop_assert_eq!(best[x].to_bits(), before[x].max(value).to_bits());
                    prop_assert_eq!(via[x], if value > before[x] { 7 } else { 0 });
                    prop_assert_eq!(met[x].to_bits(), t_norm.and(before[x], row[x]).to_bits());
                }
            }
        }
    }

    #[test]
    fn nan_is_found() {
        let mut values = vec![0.5; 77];
        assert!(!has_nan(&values));
        values[70] = f32::NAN;
        assert!(has_nan(&values));
    }
}
