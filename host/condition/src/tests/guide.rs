//! docs/conditions.md: every example of its table is what it says.

use super::*;

const GUIDE: &str = include_str!("../../../../docs/conditions.md");

#[test]
fn every_row_of_the_guide_is_what_it_says() {
    let input = json!({
        "n": 3, "text": "abc", "list": [1, 2, 3], "map": {"a": 1}, "at": "2026-04-27T10:00:00Z"
    });
    let table = GUIDE.split("## What there is\n").nth(1).unwrap();
    let table = table.split("## What there is not").next().unwrap();
    let mut rows = 0;
    for line in table.lines().filter(|line| line.contains("| `")) {
        // A bar inside of a cell is escaped.
        let line = line.replace("\\|", "\u{1}");
        let cells: Vec<String> = line
            .split('|')
            .map(|cell| cell.trim().replace('\u{1}', "|"))
            .collect();
        let (example, answer) = (cells[2].trim_matches('`'), cells[3].trim_matches('`'));
        let condition = gate(example);
        let context = Context::new().with(Variable::Input, &input);
        let found = match condition.evaluate(&context, &mut Fuel::default()) {
            Ok(value) => value.to_string(),
            Err(_) => "error".to_owned(),
        };
        assert_eq!(found, answer, "{example}");
        rows += 1;
    }
    assert!(rows >= 29, "{rows} rows");
}

#[test]
fn what_the_guide_says_there_is_not_is_refused() {
    for text in [
        "now() == now()",
        "timestamp(input.at).getHours(\"Europe/Paris\") == 1",
        "input.?a == 1",
        "input.list.all(x, input.list.all(y, x == y))",
        "cel.bind(x, 1, x == 1)",
        "math.greatest(1, 2) == 2",
        "false && 32",
        "duration(\"1h\")",
    ] {
        assert!(Condition::compile_gate(text).is_err(), "{text}");
    }
}

#[test]
fn times_do_not_mix_with_other_values() {
    for text in [
        "timestamp(\"2026-04-27T10:00:00Z\") > 5",
        "duration(\"1h\") > timestamp(\"2026-04-27T10:00:00Z\")",
        "timestamp(\"2026-04-27T10:00:00Z\") + timestamp(\"2026-04-27T10:00:00Z\") == duration(\"1h\")",
        "timestamp(\"tomorrow\") == timestamp(\"tomorrow\")",
        "duration(\"1 hour\") == duration(\"1h\")",
        "timestamp(\"9999-12-31T23:59:59Z\") + duration(\"1h\") > timestamp(\"2026-04-27T10:00:00Z\")",
        "duration(\"2562047h\") + duration(\"2562047h\") > duration(\"1s\")",
        "duration(\"1s\").getFullYear() == 1",
        "\"2026\".getFullYear() == 2026",
        "duration(\"1s\") * 2 == duration(\"2s\")",
    ] {
        assert!(evaluate(&gate(text)).is_err(), "{text}");
    }
    assert!(evaluate(&gate("duration(\"1s\") != timestamp(\"2026-04-27T10:00:00Z\")")).unwrap());
}
