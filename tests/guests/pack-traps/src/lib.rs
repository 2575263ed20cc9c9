//! A pack that panics instead of a verdict.

use mizzen_sdk::pack::{Descriptor, Evaluation, Pack, Verdict};
use mizzen_sdk::ToolError;

struct Guest;

impl Pack for Guest {
    fn describe() -> Descriptor {
        Descriptor::new("hostile.pack-traps", "0.1.0", "Does what the folder's name says.").shares(&["score"])
    }

    fn evaluate(evaluation: &Evaluation, verdict: &mut Verdict) -> Result<(), ToolError> {
        let _ = verdict;
        panic!("no verdict today: {}", evaluation.all().len())
    }
}

mizzen_sdk::export_pack!(Guest);
