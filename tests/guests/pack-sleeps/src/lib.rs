//! A pack that waits inside of a host call, where no epoch reaches it, and never comes to a verdict.

use mizzen_sdk::ToolError;
use mizzen_sdk::pack::{Descriptor, Evaluation, Pack, Verdict};

struct Guest;

impl Pack for Guest {
    fn describe() -> Descriptor {
        Descriptor::new("hostile.pack-sleeps", "0.1.0", "Does what the folder's name says.").shares(&["score"])
    }

    fn evaluate(_: &Evaluation, _: &mut Verdict) -> Result<(), ToolError> {
        std::thread::sleep(std::time::Duration::from_secs(3600));
        Ok(())
    }
}

mizzen_sdk::export_pack!(Guest);
