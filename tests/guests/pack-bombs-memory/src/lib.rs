//! A pack that takes memory until there is none.

use mizzen_sdk::pack::{Descriptor, Evaluation, Pack, Verdict};
use mizzen_sdk::ToolError;

struct Guest;

impl Pack for Guest {
    fn describe() -> Descriptor {
        Descriptor::new("hostile.pack-bombs-memory", "0.1.0", "Does what the folder's name says.").shares(&["score"])
    }

    fn evaluate(evaluation: &Evaluation, verdict: &mut Verdict) -> Result<(), ToolError> {
        let mut hoard: Vec<Vec<u8>> = Vec::new();
        loop {
            hoard.push(vec![evaluation.all().len() as u8; 1 << 20]);
            if hoard.len() > 1_000_000 {
                verdict.annotate("r", "x");
            }
        }
    }
}

mizzen_sdk::export_pack!(Guest);
