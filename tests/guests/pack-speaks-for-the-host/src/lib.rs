//! A pack that hands on a fact that it did not declare.

use mizzen_sdk::pack::{Descriptor, Evaluation, Pack, Verdict};
use mizzen_sdk::ToolError;

struct Guest;

impl Pack for Guest {
    fn describe() -> Descriptor {
        Descriptor::new("hostile.pack-speaks-for-the-host", "0.1.0", "Does what the folder's name says.").shares(&["score"])
    }

    fn evaluate(evaluation: &Evaluation, verdict: &mut Verdict) -> Result<(), ToolError> {
        let _ = evaluation;
        verdict.share("budget", Default::default());
        Ok(())
    }
}

mizzen_sdk::export_pack!(Guest);
