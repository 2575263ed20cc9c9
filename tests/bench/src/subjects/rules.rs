//! Matching facts, beside CLIPS itself: the same rules over the same facts.

use crate::harness::Bench;
use crate::python::Python;
use crate::row::{Row, Target, Unit, Value as Number};
use crate::samples::{Rounds, Samples, alone, in_turns, timed};
use crate::turns::Turns;
use anyhow::{Result, ensure};
use mizzen_rules::{Budget, Fact, Program, Session, Value, When};
use std::cell::RefCell;
use std::hint::black_box;

/// What CLIPS comes as.
pub(super) const CLIPS: &[&str] = &["clipspy==1.0.6"];
const RULES: &str = "
    (defrule paid (order ?id ?amount) (payment ?id ?paid&:(>= ?paid ?amount)) => (assert (settled ?id)))
    (defrule open (order ?id ?) (not (payment ?id ?)) => (assert (open ?id)))";

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let program = Program::parse(RULES)?;
    let clips = Python::find(bench, CLIPS).and_then(|python| python.start("rivals/clips/clips_rival.py"));
    let mut rows = Vec::new();
    if let Err(error) = &clips {
        rows.push(Row::skipped("rules beside CLIPS", format!("{error:#}")));
    }
    let clips = clips.ok().map(RefCell::new);
    let mut times = Vec::new();
    for count in [100, 1_000, 10_000] {
        let facts = facts(count);
        let rounds = Rounds {
            rounds: bench.pick(1, 6, 20),
            each: match count {
                10_000 => bench.pick(1, 2, 10),
                1_000 => bench.pick(1, 20, 100),
                _ => bench.pick(1, 100, 500),
            },
        };
        let mut ours = |times: usize| timed(times, || matched(&program, &facts));
        let what = format!("rules: join and absence over {count} facts");
        rows.push(match &clips {
            None => Row::new(what, Number::time(&keep(alone(rounds, &mut ours)?, &mut times))),
            Some(clips) => {
                let mut theirs = |times: usize| asked(&mut clips.borrow_mut(), count, times);
                let samples = in_turns(rounds, &mut [&mut ours, &mut theirs])?;
                let [ours, theirs] = samples.as_slice() else {
                    continue;
                };
                Row::new(what, Number::time(&keep(ours.clone(), &mut times)))
                    .beside("CLIPS 6.4 (clipspy)", Number::time(theirs))
            }
        });
    }
    rows.push(growth(&times));
    let when = When::compile("(severity ?s&:(>= ?s 4))")?;
    let rounds = Rounds {
        rounds: bench.pick(1, 5, 20),
        each: bench.pick(2, 500, 2_000),
    };
    let samples = alone(rounds, &mut |count| {
        timed(count, || {
            let fact = Fact::ordered("severity", vec![Value::Integer(5)]);
            ensure!(
                when.evaluate([fact], Budget::default())?.holds(),
                "the rule does not fire"
            );
            Ok(())
        })
    })?;
    rows.push(
        Row::new(
            "one `when` of a graph's rule over one fact",
            Number::time(&samples),
        )
        .target(Target::AtMost(20e3)),
    );
    Ok(rows)
}

fn keep(samples: Samples, times: &mut Vec<f64>) -> Samples {
    times.push(samples.p50());
    samples
}

/// The exponent of the growth from 100 to 10,000 facts: 1 is linear.
fn growth(times: &[f64]) -> Row {
    let exponent = match times {
        [first, _, last] => (last / first).ln() / 100_f64.ln(),
        _ => f64::NAN,
    };
    Row::new(
        "rules: exponent of the growth from 100 to 10,000 facts",
        Number::new(Unit::Number, exponent),
    )
    .target(Target::AtMost(1.15))
}

fn facts(count: i64) -> Vec<Fact> {
    let pair = |id: i64| {
        let order = Fact::ordered("order", vec![Value::Integer(id), Value::Integer(id % 7)]);
        let payment = Fact::ordered("payment", vec![Value::Integer(id * 2), Value::Integer(5)]);
        [order, payment]
    };
    (0..count / 2).flat_map(pair).collect()
}

fn matched(program: &Program, facts: &[Fact]) -> Result<()> {
    let budget = Budget {
        operations: 100_000_000,
        facts: 100_000,
        activations: 1_000_000,
        memory: 1 << 30,
        ..Budget::default()
    };
    let mut session = Session::new(program, budget)?;
    for fact in facts {
        session.assert(fact.clone())?;
    }
    black_box(session.run()?);
    Ok(())
}

fn asked(clips: &mut Turns, facts: i64, times: usize) -> Result<Samples> {
    clips.ask(&format!("{facts} {times}"))
}
