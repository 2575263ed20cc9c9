//! Carries more functions in its table than its own limit allows.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    let table = std::hint::black_box(&TABLE);
    json!({ "sum": table.iter().map(|function| function(1)).fold(0, usize::wrapping_add) })
}

fn function<const NUMBER: usize>(value: usize) -> usize {
    std::hint::black_box(value).wrapping_mul(NUMBER)
}

macro_rules! thousand {
    ($base:expr; $($hundreds:literal)*) => { [$(hundred!($base + $hundreds)),*] };
}

macro_rules! hundred {
    ($base:expr) => {
        [
            ten!($base), ten!($base + 10), ten!($base + 20), ten!($base + 30), ten!($base + 40),
            ten!($base + 50), ten!($base + 60), ten!($base + 70), ten!($base + 80), ten!($base + 90),
        ]
    };
}

macro_rules! ten {
    ($base:expr) => {
        [
            function::<{ $base }> as fn(usize) -> usize, function::<{ $base + 1 }>, function::<{ $base + 2 }>,
            function::<{ $base + 3 }>, function::<{ $base + 4 }>, function::<{ $base + 5 }>, function::<{ $base + 6 }>,
            function::<{ $base + 7 }>, function::<{ $base + 8 }>, function::<{ $base + 9 }>,
        ]
    };
}

static NESTED: [[[fn(usize) -> usize; 10]; 10]; 20] =
    thousand!(7; 0 100 200 300 400 500 600 700 800 900 1000 1100 1200 1300 1400 1500 1600 1700 1800 1900);
static TABLE: &[fn(usize) -> usize] = NESTED.as_flattened().as_flattened();

mizzen_sdk::export_plugin! { namespace: "hostile.fills-tables", tools: [attack] }
