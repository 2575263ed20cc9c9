//! A pack that never comes to a verdict.

use mizzen_sdk::pack::{Descriptor, Evaluation, Pack, Verdict};
use mizzen_sdk::ToolError;

struct Guest;

impl Pack for Guest {
    fn describe() -> Descriptor {
        Descriptor::new("hostile.pack-spins", "0.1.0", "Does what the folder's name says.").shares(&["score"])
    }

    fn evaluate(evaluation: &Evaluation, verdict: &mut Verdict) -> Result<(), ToolError> {
        let _ = verdict;
        let mut number = evaluation.budget();
        loop {
            number = std::hint::black_box(number.wrapping_mul(3));
        }
    }
}

mizzen_sdk::export_pack!(Guest);
