//! A pack that asks for a redaction without saying of what.

use mizzen_sdk::pack::{Descriptor, Evaluation, Pack, Verdict};
use mizzen_sdk::ToolError;

struct Guest;

impl Pack for Guest {
    fn describe() -> Descriptor {
        Descriptor::new("hostile.pack-answers-nonsense", "0.1.0", "Does what the folder's name says.").shares(&["score"])
    }

    fn evaluate(evaluation: &Evaluation, verdict: &mut Verdict) -> Result<(), ToolError> {
        verdict.redact("r", "x", "not-a-pointer", None).because(&evaluation.all()[0]);
        Ok(())
    }
}

mizzen_sdk::export_pack!(Guest);
