use super::*;
use crate::random::Rng;

#[test]
fn every_kernel_gives_the_bits_of_the_plain_one() {
    let mut rng = Rng::new(7);
    // Widths with and without a rest in steps of 16 and 64; counts with and without a rest in blocks of four; more
    // than one tile.
    for (count, stride, columns) in [
        (1, 1, 0..1),
        (7, 16, 0..16),
        (33, 37, 5..37),
        (130, 64, 0..64),
        (9, 200, 0..200),
        (2501, 130, 65..130),
    ] {
        // Every byte there is, the largest most often: a kernel that saturates must fail.
        let mut byte = || if rng.below(3) == 0 { 127 } else { rng.below(255) as i32 - 127 };
        let values: Vec<i8> = (0..count * stride).map(|_| byte() as i8).collect();
        let scales: Vec<f32> = (0..count).map(|_| rng.uniform() as f32).collect();
        let candidates = ByteRows::new(&values, &scales, stride, columns.clone());
        for rows in [1, 2, 3, 4, 5, 9, 50] {
            let queries: Vec<f32> = (0..rows * columns.len()).map(|_| rng.normal() as f32).collect();
            let of = |kernel: ByteKernel| {
                let mut out = vec![f32::NAN; rows * count];
                kernel.scores(out.chunks_exact_mut(count).collect(), &queries, candidates);
                out.into_iter().map(f32::to_bits).collect::<Vec<u32>>()
            };
            let plain = of(ByteKernel::Plain);
            for kernel in ByteKernel::all() {
                assert_eq!(of(kernel), plain, "{kernel:?}: {rows} × {count} × {columns:?}");
            }
            let mut alone = vec![f32::NAN; count];
            byte_scores(vec![&mut alone], &queries[(rows - 1) * columns.len()..], candidates);
            let alone: Vec<u32> = alone.into_iter().map(f32::to_bits).collect();
            assert_eq!(alone, plain[(rows - 1) * count..], "company changes no bit");
        }
    }
}

#[test]
fn no_rows_are_no_work() {
    let candidates = ByteRows::new(&[1; 640], &[1.0; 10], 64, 0..64);
    ByteKernel::all().for_each(|kernel| kernel.scores(Vec::new(), &[], candidates));
    byte_scores(Vec::new(), &[], candidates);
}

#[test]
fn the_largest_vectors_do_not_overflow() {
    let width = 4000;
    let values = vec![127i8; width];
    let candidates = ByteRows::new(&values, &[1.0], width, 0..width);
    for kernel in ByteKernel::all() {
        for sign in [1.0, -1.0] {
            let mut out = [0.0];
            kernel.scores(vec![&mut out], &vec![sign * 127.0; width], candidates);
            assert_eq!(out[0].to_bits(), (sign * 127.0 * 127.0 * 4000.0).to_bits(), "{kernel:?}");
        }
    }
}

#[test]
fn no_pair_of_extreme_numbers_overflows() {
    // Pairs are added up in 16 bits by some kernels: every order of the largest numbers of both signs, and −128, which
    // no vector that was rounded here holds but a foreign file may.
    let extremes = [127i8, -127, -128, 126, 1, 0];
    for (width, own) in [(16, 1.0f32), (37, 0.5), (64, 1.0), (130, 2.0)] {
        for (a, b) in extremes.iter().flat_map(|&a| extremes.map(|b| (a, b))) {
            let values: Vec<i8> = (0..5 * width).map(|at| if at % 2 == 0 { a } else { b }).collect();
            let scales = [own; 5];
            let candidates = ByteRows::new(&values, &scales, width, 0..width);
            for rows in [1, 2, 4, 5] {
                let signs = |at: usize| if (at / width).is_multiple_of(2) { 127.0 } else { -127.0 };
                let queries: Vec<f32> = (0..rows * width).map(signs).collect();
                let sum: i32 = values[..width].iter().map(|&value| 127 * i32::from(value)).sum();
                for kernel in ByteKernel::all() {
                    let mut out = vec![f32::NAN; rows * 5];
                    kernel.scores(out.chunks_exact_mut(5).collect(), &queries, candidates);
                    let right = |row: usize| if row.is_multiple_of(2) { sum } else { -sum } as f32 * own;
                    // The rows of a table differ where its width is odd, so only the first is looked at.
                    for (row, out) in out.chunks_exact(5).enumerate() {
                        assert_eq!(
                            out[0].to_bits(),
                            right(row).to_bits(),
                            "{kernel:?}: {a} and {b}, {rows} × {width}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn rounding_moves_no_value_by_more_than_half_a_step() {
    let mut rng = Rng::new(11);
    let values: Vec<f32> = (0..500).map(|_| rng.normal() as f32 * 3.0).collect();
    let mut bytes = vec![0; values.len()];
    let scale = to_bytes(&values, &mut bytes);
    for (value, byte) in values.iter().zip(&bytes) {
        assert!((value - scale * f32::from(*byte)).abs() <= scale * 0.500_01);
    }
    assert!(bytes.iter().any(|byte| byte.unsigned_abs() == 127));
    assert_eq!((to_bytes(&[0.0; 3], &mut [1; 3]), to_bytes(&[], &mut [])), (0.0, 0.0));
    let mut bytes = [1; 2];
    assert!(to_bytes(&[f32::NAN, 1.0], &mut bytes).is_nan() && bytes == [0, 0]);
    assert!(to_bytes(&[1.0, f32::NAN], &mut bytes).is_nan());
    assert!(to_bytes(&[1.0, f32::INFINITY], &mut bytes).is_infinite());
    // The smallest numbers there are keep their signs.
    assert!(to_bytes(&[f32::MIN_POSITIVE, -f32::MIN_POSITIVE], &mut bytes) >= 0.0);
}
