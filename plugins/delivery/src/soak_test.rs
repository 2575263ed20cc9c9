//! `delivery.soak_test`.

use crate::spec::Spec;
use mizzen_sdk::prelude::*;

/// Values that are tried lie between plus and minus this.
const WIDEST: f64 = 1_000_000.0;

/// What to try, and how often.
#[input]
pub struct Soak {
    /// The specification of the function.
    #[schemars(length(min = 1, max = 16_384))]
    spec: String,
    /// How many times; a thousand million times take longer than most chains allow.
    #[serde(default = "default_rounds")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    rounds: u32,
}

fn default_rounds() -> u32 {
    10_000
}

/// What came of it.
#[output]
#[derive(Debug, PartialEq)]
pub struct Soaked {
    /// How many times it was computed.
    rounds: u32,
    /// How often the result was not a number, or infinite.
    not_finite: u32,
    /// The values of the first time that it was not finite.
    first: Option<Vec<f64>>,
    /// The least finite result.
    lowest: Option<f64>,
    /// The greatest finite result.
    highest: Option<f64>,
}

/// Computes a specified function for many values, the same ones every time, and reports where it is not finite. Corners come first: 0, 1, -1.
#[tool(
    side_effects = "none",
    tags = ["test", "slow"],
    example(
        name = "finds a division by zero",
        input = { "spec": "ratio(a, b)\n= a / b", "rounds": 9 },
        output = { "rounds": 9, "not_finite": 3, "first": [0.0, 0.0], "lowest": -1.0, "highest": 1.0 }
    ),
    example(
        name = "finds nothing where there is nothing",
        input = { "spec": "square(a)\n= a * a", "rounds": 3 },
        output = { "rounds": 3, "not_finite": 0, "first": null, "lowest": 0.0, "highest": 1.0 }
    )
)]
pub fn soak_test(input: Soak) -> Result<Soaked, ToolError> {
    let spec = Spec::parse(&input.spec)?;
    let mut soaked = Soaked {
        rounds: input.rounds,
        not_finite: 0,
        first: None,
        lowest: None,
        highest: None,
    };
    let mut values = vec![0.0; spec.parameters.len()];
    let mut stack = Vec::new();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..input.rounds {
        choose(&mut values, round, &mut state);
        let result = spec.body.compute(&values, &mut stack).unwrap_or(f64::NAN);
        if result.is_finite() {
            soaked.lowest = Some(soaked.lowest.map_or(result, |lowest| lowest.min(result)));
            soaked.highest = Some(soaked.highest.map_or(result, |highest| highest.max(result)));
        } else {
            soaked.not_finite += 1;
            soaked.first.get_or_insert_with(|| values.clone());
        }
    }
    Ok(soaked)
}

/// Every combination of 0, 1 and -1 first, then values from everywhere.
fn choose(values: &mut [f64], round: u32, state: &mut u64) {
    let corners = 3_u32.saturating_pow(u32::try_from(values.len()).unwrap_or(u32::MAX));
    let mut left = round;
    for value in values {
        if round < corners {
            *value = match left % 3 {
                0 => 0.0,
                1 => 1.0,
                _ => -1.0,
            };
            left /= 3;
        } else {
            // xorshift: chance enough for this, and the same at every call.
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            let unit = f64::from(u32::try_from(*state >> 32).unwrap_or(0)) / f64::from(u32::MAX);
            *value = (unit * 2.0 - 1.0) * WIDEST;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_after_the_corners_come_from_both_sides_and_are_the_same_again() {
        let soak = || {
            soak_test(Soak {
                spec: "same(a)\n= a".to_owned(),
                rounds: 1_000,
            })
            .unwrap()
        };
        let soaked = soak();
        assert!(soaked.lowest.unwrap() < -900_000.0 && soaked.highest.unwrap() > 900_000.0);
        assert_eq!(soaked, soak());
    }
}
