//! What is decided around a call, each alone: permissions, gates, rules, maps, schemas, and the whole engine per step.

use crate::harness::Bench;
use crate::local::json;
use crate::row::{Row, Target, Value as Number};
use crate::samples::{Rounds, alone, timed, timed_small};
use anyhow::{Context as _, Result, anyhow, ensure};
use mizzen_condition::map::{Map, Scope, Side};
use mizzen_condition::{Condition, Context, Fuel, Variable};
use mizzen_engine::Schema;
use mizzen_engine::plan::{Plan, Repeatable, Target as Call};
use mizzen_engine::run::{Command, Event, Run, Start};
use mizzen_json::Json;
use mizzen_model::council::Council;
use mizzen_model::execution::CallLog;
use mizzen_model::id::ExecutionId;
use mizzen_model::permission::{Effective, HostPort, Permission, PermissionSet, Use};
use serde_json::{Map as Members, Value, json};
use std::hint::black_box;
use std::sync::Arc;

const SIZES: [usize; 3] = [1, 10, 100];
const MICROSECOND: f64 = 1e3;

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let rounds = Rounds {
        rounds: bench.pick(1, 5, 20),
        each: bench.pick(2, 200, 1_000),
    };
    let mut rows = Vec::new();
    for size in SIZES {
        rows.push(permission(rounds, size)?);
    }
    for size in SIZES {
        rows.push(gate(rounds, size)?);
    }
    for size in SIZES {
        rows.push(rules(rounds, size)?);
    }
    for size in SIZES {
        rows.push(map(rounds, size)?);
    }
    for size in SIZES {
        rows.push(schema(rounds, size)?);
    }
    rows.push(engine(rounds)?);
    Ok(rows)
}

/// The last of some globs allows, in each of the three layers.
fn permission(rounds: Rounds, size: usize) -> Result<Row> {
    let texts = (0..size).map(|number| format!("net:GET@*.host{number}.example.com:443"));
    let set = texts
        .map(|text| Permission::parse(&text))
        .collect::<Result<PermissionSet, _>>()?;
    let set = Arc::new(set);
    let effective = Effective::new(Arc::clone(&set), Arc::clone(&set)).narrowed(set);
    let target = HostPort::new(&format!("api.host{}.example.com", size - 1), 443).context("no host")?;
    let wanted = Use::Net {
        method: "GET",
        target: &target,
    };
    ensure!(effective.allows(&wanted), "the permission does not allow");
    let samples = alone(rounds, &mut |count| {
        timed_small(count, || {
            black_box(effective.allows(black_box(&wanted)));
        })
    })?;
    let what = format!("permission check, {size} globs in each of 3 layers");
    Ok(Row::new(what, Number::time(&samples)).target(Target::AtMost(2.0 * MICROSECOND)))
}

fn gate(rounds: Rounds, size: usize) -> Result<Row> {
    let text = vec!["output.score>=0.5"; size].join("&&");
    let condition = Condition::compile_gate(&text)?;
    let output = json!({"score": 0.9, "text": "a short text"});
    let context = Context::new().with(Variable::Output, &output);
    ensure!(
        condition
            .evaluate(&context, &mut Fuel::default())
            .is_ok_and(|holds| holds),
        "the gate vetoes"
    );
    let samples = alone(rounds, &mut |count| {
        timed_small(count, || {
            let _ = black_box(condition.evaluate(black_box(&context), &mut Fuel::default()));
        })
    })?;
    let row = Row::new(format!("gate with {size} comparisons"), Number::time(&samples));
    Ok(row.target(Target::AtMost(20.0 * MICROSECOND)))
}

/// Some rules, none of which matches: all are evaluated.
fn rules(rounds: Rounds, size: usize) -> Result<Row> {
    let rule = |number: usize| {
        Condition::compile_rule(&format!(
            "has(input.secret{number}) || input.amount > {}",
            number + 1_000
        ))
    };
    let rules = (0..size).map(rule).collect::<Result<Vec<_>, _>>()?;
    let input = json!({"text": "a short text", "amount": 10});
    let context = Context::new().with(Variable::Input, &input);
    let samples = alone(rounds, &mut |count| {
        timed(count, || {
            let matching = rules
                .iter()
                .any(|rule| rule.evaluate(&context, &mut Fuel::default()).unwrap_or(true));
            ensure!(!matching, "a rule matches");
            Ok(())
        })
    })?;
    #[allow(clippy::cast_precision_loss, reason = "at most a hundred")]
    let limit = 20.0 * MICROSECOND * size as f64;
    let row = Row::new(
        format!("{size} rules evaluated, none matches"),
        Number::time(&samples),
    );
    Ok(row.target(Target::AtMost(limit)))
}

fn map(rounds: Rounds, size: usize) -> Result<Row> {
    let entries = (0..size).map(|number| {
        (
            format!("field{number}"),
            json!(format!("$steps[0].output.inner.f{number}")),
        )
    });
    let entries = Value::Object(entries.collect::<Members<_, _>>());
    let fields = (0..size).map(|number| (format!("f{number}"), json!("a short text")));
    let output = json!({"inner": fields.collect::<Members<_, _>>()});
    let Json::Object(entries) = json(&entries)? else {
        return Err(anyhow!("a map is an object"));
    };
    let map = Map::<Value>::parse(&entries, Side::Input).map_err(|errors| anyhow!("{errors:?}"))?;
    let (input, steps) = (json!({}), [Some(output)]);
    let scope = Scope {
        input: &input,
        steps: &steps,
        output: None,
    };
    let samples = alone(rounds, &mut |count| {
        timed(count, || {
            black_box(map.apply(scope, 1 << 20)?);
            Ok(())
        })
    })?;
    Ok(Row::new(
        format!("input map with {size} entries applied"),
        Number::time(&samples),
    ))
}

fn schema(rounds: Rounds, size: usize) -> Result<Row> {
    let name = |number: usize| format!("field{number}");
    let properties = (0..size).map(|number| {
        (
            name(number),
            json!({"type": "string", "minLength": 1, "maxLength": 100}),
        )
    });
    let schema = json!({
        "type": "object", "additionalProperties": false, "properties": properties.collect::<Members<_, _>>(),
        "required": (0..size).map(name).collect::<Vec<_>>(),
    });
    let schema = Schema::compile(&schema)?;
    let value = Value::Object(
        (0..size)
            .map(|number| (name(number), json!("a short text")))
            .collect(),
    );
    ensure!(schema.check(&value).is_ok(), "the value does not fit");
    let samples = alone(rounds, &mut |count| {
        timed(count, || {
            black_box(schema.check(black_box(&value))).map_err(|_| anyhow!("it does not fit"))
        })
    })?;
    Ok(Row::new(
        format!("schema with {size} properties checked"),
        Number::time(&samples),
    ))
}

/// A chain of ten steps with gates and rules, everything but the calls, the disk and the threads.
fn engine(rounds: Rounds) -> Result<Row> {
    const STEPS: usize = 10;
    let id = "3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35";
    let mut council = crate::site::council("bench", id, STEPS);
    let mut sprite = crate::site::sprite("ECHO-1", "bench.echo");
    for (key, value) in [
        ("id", json!(id)),
        ("fingerprint", json!({"type": "blake3", "hash": "0".repeat(64)})),
    ] {
        sprite
            .as_object_mut()
            .context("no object")?
            .insert(key.to_owned(), value);
    }
    let members = council.as_object_mut().context("no object")?;
    members.insert("id".to_owned(), json!("9f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35"));
    members.insert("name".to_owned(), json!("bench"));
    members.insert("sprites".to_owned(), json!([sprite]));
    if let Some(chain) = council.pointer_mut("/chains/0").and_then(Value::as_object_mut) {
        chain.insert("id".to_owned(), json!("7f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35"));
    }
    let council = Council::parse(&json(&council)?).map_err(|problems| anyhow!("{problems}"))?;
    let chain = council.chains.first().context("no chain")?;
    let plan = Plan::compile(&council, chain, |_, capability| {
        Ok(Call {
            call: capability.name.clone(),
            repeatable: Repeatable::Yes,
        })
    })?;
    let plan = Arc::new(plan);
    let execution_id = ExecutionId::parse("11111111-1111-4111-8111-111111111111").context("no id")?;
    let run = || {
        let start = Start {
            execution_id,
            input: crate::site::input(),
            now_ms: 1_000,
            escalation_ms: None,
        };
        let (mut run, mut commands) = Run::start(Arc::clone(&plan), start);
        while let Some((order, attempt, input)) = called(&commands) {
            let answer = Event::CallEnded {
                order,
                attempt,
                result: Ok(input),
                log: CallLog::default(),
            };
            commands = run.handle(answer, 1_001);
        }
        run
    };
    let ended = run();
    ensure!(
        ended.result().status.is_final() && ended.result().error.is_none(),
        "the run failed"
    );
    let samples = alone(rounds, &mut |count| {
        let mut samples = crate::samples::Samples::default();
        for _ in 0..count {
            let began = std::time::Instant::now();
            drop(black_box(run()));
            samples.push(began.elapsed() / 10);
        }
        Ok(samples)
    })?;
    let row = Row::new(
        "engine per step: maps, schema, gates, state; no disk, no guest",
        Number::time(&samples),
    );
    Ok(row.target(Target::AtMost(100.0 * MICROSECOND)))
}

fn called(commands: &[Command]) -> Option<(u32, u32, Value)> {
    commands.iter().find_map(|command| match command {
        Command::Call {
            order,
            attempt,
            input,
            ..
        } => Some((*order, *attempt, input.clone())),
        _ => None,
    })
}
