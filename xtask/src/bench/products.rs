//! How fast are the inner products that answers are made of: the stream of f32 against a general matrix product, and
//! the same scores in fewer bits?

use std::time::{Duration, Instant};

use half::f16;
use relatum::kernels::{
    ByteKernel, ByteRows, HalfRows, Threads, View, ViewMut, keep_to_avx2, product, stream, to_bytes,
};
use relatum::random::Rng;

/// Rows of a single hop, of a search that a bound ends soon, of beams, of a block of a benchmark.
const ROWS: [usize; 10] = [1, 2, 3, 4, 16, 32, 64, 128, 256, 1000];

pub(crate) fn run(ranks: &[usize], entities: usize, rounds: usize) {
    println!(
        "scores of {entities} entities, ms (GFLOP/s), {} threads: the best of {rounds} rounds, taken in turns",
        rayon::current_num_threads()
    );
    println!("this machine: {}", super::world::processor());
    println!("{}", super::world::kernels());
    let kernels: Vec<ByteKernel> = ByteKernel::all()
        .filter(|&kernel| kernel != ByteKernel::Plain || ByteKernel::all().count() == 1)
        .collect();
    println!("ratios are those of the f32 stream to each; answers take the first of the 8-bit kernels");
    let two_widths = keep_to_avx2(false);
    if two_widths {
        println!(
            "the ratio of the AVX2 stream in f32 is that to int8 in AVX2: what a machine without AVX-512 gains"
        );
    }
    let mut rng = Rng::new(1);
    for &rank in ranks {
        let width = 2 * rank;
        let table: Vec<f32> = (0..entities * width).map(|_| rng.normal() as f32).collect();
        let halves: Vec<f16> = table.iter().map(|&value| f16::from_f32(value)).collect();
        let mut bytes = vec![0; table.len()];
        let rows = table.chunks_exact(width).zip(bytes.chunks_exact_mut(width));
        let scales: Vec<f32> = rows.map(|(row, bytes)| to_bytes(row, bytes)).collect();
        let candidates = View::new(&table, entities, width);
        println!("\nrank {rank} (ComplEx: {width} values an entity)");
        print!("{:>6} {:>16} {:>24} {:>24}", "rows", "stream f32", "product f32", "f16");
        for kernel in &kernels {
            print!(" {:>24}", format!("int8 {}", kernel.name()));
        }
        if two_widths {
            print!(" {:>24}", "stream f32 in avx2");
        }
        println!();
        for rows in ROWS {
            let queries = &table[..rows * width];
            let mut out = vec![0.0f32; rows * entities];
            let mut best = vec![Duration::MAX; 3 + kernels.len() + usize::from(two_widths)];
            for _ in 0..rounds {
                let mut took = vec![
                    timed(|| stream(&mut out, queries, candidates)),
                    timed(|| {
                        let out = ViewMut::new(&mut out, rows, entities);
                        product(out, View::new(queries, rows, width), candidates.transposed(), Threads::All);
                    }),
                    timed(|| stream(&mut out, queries, HalfRows::new(&halves, width, 0..width))),
                ];
                took.extend(kernels.iter().map(|kernel| {
                    let candidates = ByteRows::new(&bytes, &scales, width, 0..width);
                    timed(|| kernel.scores(out.chunks_exact_mut(entities).collect(), queries, candidates))
                }));
                if two_widths {
                    keep_to_avx2(true);
                    took.push(timed(|| stream(&mut out, queries, candidates)));
                    keep_to_avx2(false);
                }
                best.iter_mut().zip(took).for_each(|(best, took)| *best = took.min(*best));
            }
            let text = |took: Duration| {
                let speed = 2e-9 * (rows * entities * width) as f64 / took.as_secs_f64();
                format!("{:.2} ({speed:.0})", 1e3 * took.as_secs_f64())
            };
            print!("{rows:>6} {:>16}", text(best[0]));
            let column =
                |took: Duration, ratio: f64| print!(" {:>24}", format!("{} {ratio:>5.2}×", text(took)));
            for took in &best[1..3 + kernels.len()] {
                column(*took, best[0].as_secs_f64() / took.as_secs_f64());
            }
            if let (true, Some(wide)) = (two_widths, kernels.iter().position(|it| it.name() == "avx2")) {
                let narrow = best[3 + kernels.len()];
                column(narrow, narrow.as_secs_f64() / best[3 + wide].as_secs_f64());
            }
            println!();
        }
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}
