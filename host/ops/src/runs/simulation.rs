//! The real driver and the real recovery, on the real SQL, against calls that are scripted and a process that dies before or after
//! any write. Everything that happens follows from a seed.
//!
//! A seed that fails is printed; keep it in `simulation/regressions.txt`, where it is tried first.

mod checks;
mod clock;
mod graphs;
mod life;
mod scenes;
mod world;

use life::{Deaths, simulate};
use scenes::Stage;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Seeds that are tried, unless `MIZZEN_SEEDS` says how many.
const SEEDS: u64 = 10_000;
/// Seeds that share a database.
const SHARED: u64 = 1_250;

fn regressions() -> Vec<u64> {
    include_str!("simulation/regressions.txt")
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| line.split_whitespace().next().unwrap().parse().unwrap())
        .collect()
}

#[test]
fn seeds_that_failed_once_do_not_fail_again() {
    let mut stage = Stage::set();
    for seed in regressions() {
        simulate(&mut stage, seed, Deaths::Random).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

#[test]
fn ten_thousand_seeds_lose_nothing_and_record_nothing_twice() {
    let seeds = std::env::var("MIZZEN_SEEDS").map_or(SEEDS, |text| text.parse().unwrap());
    let next = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    let deaths = AtomicU64::new(0);
    let calls = Mutex::new(BTreeMap::<(String, String), u64>::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(8);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !failed.load(Ordering::SeqCst) {
                    let first = next.fetch_add(SHARED, Ordering::SeqCst);
                    if first >= seeds {
                        return;
                    }
                    let mut stage = Stage::set();
                    for seed in first..first + SHARED {
                        match simulate(&mut stage, seed, Deaths::Random) {
                            Ok(met) => {
                                deaths.fetch_add(met.deaths, Ordering::SeqCst);
                                for call in met.calls {
                                    *calls.lock().unwrap().entry(call).or_default() += 1;
                                }
                            }
                            Err(why) => {
                                failed.store(true, Ordering::SeqCst);
                                panic!("seed {seed}: {why}; keep it in simulation/regressions.txt");
                            }
                        }
                    }
                }
            });
        }
    });
    // A simulation in which nothing goes wrong shows nothing.
    assert!(deaths.into_inner() > seeds, "the processes hardly ever died");
    let calls = calls.into_inner().unwrap();
    for (status, code) in [
        ("completed", ""),
        ("denied", "PACK_VETO"),
        ("denied", "NEEDS_APPROVAL"),
        ("failed", "CALLER_ENDED"),
        ("failed", "IN_DOUBT"),
        ("failed", "SCRIPTED"),
    ] {
        let found = calls.get(&(status.to_owned(), code.to_owned()));
        let found = found.copied().unwrap_or_default();
        assert!(found > seeds / 1_000, "{status} {code}: {calls:?}");
    }
}

#[test]
fn a_death_before_and_after_every_single_write_of_a_run_is_survived() {
    let mut stage = Stage::set();
    for seed in 0..24 {
        // As many writes as it makes when nobody dies.
        let (writes, _) = life::count_writes(&mut stage, seed);
        assert!(writes >= 1, "seed {seed} writes nothing");
        for write in 0..writes {
            for deaths in [Deaths::Before(write), Deaths::After(write)] {
                simulate(&mut stage, seed, deaths)
                    .unwrap_or_else(|why| panic!("seed {seed}, {deaths:?}: {why}"));
            }
        }
    }
}

#[test]
fn a_run_that_waits_for_nothing_is_one_write() {
    let mut stage = Stage::set();
    let mut at_once = 0;
    for seed in 0..3_000 {
        let (writes, waited) = life::count_writes(&mut stage, seed);
        if waited == life::Waited::No {
            assert_eq!(writes, 1, "seed {seed}");
            at_once += 1;
        }
        if at_once == 10 {
            return;
        }
    }
    panic!("only {at_once} runs waited for nothing");
}

#[test]
fn a_clock_that_jumps_moves_no_run() {
    let mut stages = [Stage::set(), Stage::set(), Stage::set()];
    for seed in 0..200 {
        let [still, back, forth] = &mut stages;
        let expected = life::result_with_jump(still, seed, 0);
        for (stage, days) in [(back, -400), (forth, 400)] {
            let jumped = life::result_with_jump(stage, seed, days * 86_400_000);
            assert_eq!(expected, jumped, "seed {seed}, {days} days");
        }
    }
}
