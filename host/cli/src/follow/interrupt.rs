//! Ctrl-C. Whether it was pressed decides the exit code, so it is remembered and not only reacted to.

use super::EXIT_INTERRUPTED;
use anyhow::Result;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Whether Ctrl-C was pressed.
pub(crate) struct Interrupt {
    pressed: watch::Receiver<bool>,
}

impl Interrupt {
    /// From now on Ctrl-C does not end the process by itself. The second one does: somebody does not want to wait.
    pub(crate) fn listen() -> Result<Self> {
        let mut signals = signal(SignalKind::interrupt())?;
        let (press, pressed) = watch::channel(false);
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                if press.send_replace(true) {
                    eprintln!("interrupted again: not waiting for the run to be cancelled");
                    std::process::exit(i32::from(EXIT_INTERRUPTED));
                }
            }
        });
        Ok(Self { pressed })
    }

    /// Whether it was pressed at any time.
    pub(crate) fn is_requested(&self) -> bool {
        *self.pressed.borrow()
    }

    /// Waits until it is pressed; at once if it was.
    pub(crate) async fn requested(&self) {
        let mut pressed = self.pressed.clone();
        if pressed.wait_for(|pressed| *pressed).await.is_err() {
            // The task that listens is gone, so nothing can be pressed any more.
            std::future::pending().await
        }
    }
}
