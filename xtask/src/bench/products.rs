//! Is the stream of inner products that answers are made of faster than a general matrix product?

use std::time::{Duration, Instant};

use relatum::kernels::{Threads, View, ViewMut, product, stream};
use relatum::random::Rng;

/// Rows of a single hop, of a search that a bound ends soon, of beams, of a block of a benchmark.
const ROWS: [usize; 10] = [1, 2, 3, 4, 16, 32, 64, 128, 256, 1000];

pub(crate) fn run(ranks: &[usize], entities: usize, rounds: usize) {
    println!(
        "scores of {entities} entities, ms (GFLOP/s), {} threads: the best of {rounds} rounds, taken in turns",
        rayon::current_num_threads()
    );
    let mut rng = Rng::new(1);
    for &rank in ranks {
        let width = 2 * rank;
        let table: Vec<f32> = (0..entities * width).map(|_| rng.normal() as f32).collect();
        let candidates = View::new(&table, entities, width);
        println!("\nrank {rank} (ComplEx: {width} values an entity)");
        println!("{:>6} {:>16} {:>16} {:>8}", "rows", "stream", "product", "ratio");
        for rows in ROWS {
            let queries = &table[..rows * width];
            let mut out = vec![0.0f32; rows * entities];
            let (mut streamed, mut multiplied) = (Duration::MAX, Duration::MAX);
            for _ in 0..rounds {
                streamed = streamed.min(timed(|| stream(&mut out, queries, candidates)));
                multiplied = multiplied.min(timed(|| {
                    let out = ViewMut::new(&mut out, rows, entities);
                    product(out, View::new(queries, rows, width), candidates.transposed(), Threads::All);
                }));
            }
            let text = |took: Duration| {
                let speed = 2e-9 * (rows * entities * width) as f64 / took.as_secs_f64();
                format!("{:.2} ({speed:.0})", 1e3 * took.as_secs_f64())
            };
            let ratio = multiplied.as_secs_f64() / streamed.as_secs_f64();
            println!("{rows:>6} {:>16} {:>16} {ratio:>7.2}×", text(streamed), text(multiplied));
        }
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}
