//! `mizzen demo`: the whole story on embedded defaults, from source to a governed, recorded and verified run, with nothing else
//! installed.

mod records;
mod refusals;
mod story;
mod workshop;

use super::serve::Serve;
use crate::data::Data;
use crate::home::Home;
use crate::local_host::{LocalHost, Place};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use workshop::Workshop;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo run --release -- demo
  cargo run --release -- demo --serve

Run it in a checkout of the repository. It builds and signs the first-party plugins with a
development key, loads them through every check, runs the chains of examples/review-council
(completed, vetoed before and after, timed out, escalated and approved; and one with four
governance packs), shows their history, verifies their journals, and shows what is refused.
--serve then serves the same host over HTTP until Ctrl-C.")]
pub(crate) struct Demo {
    /// Where the demo keeps its key, packages and database [default: .mizzen/demo in the checkout]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Go on as a server on the same host
    #[arg(long)]
    serve: bool,
    /// Where to listen with --serve; port 0 picks a free one [default: 127.0.0.1:7437]
    #[arg(long, value_name = "ADDR", requires = "serve")]
    listen: Option<String>,
}

/// The demo's host is an ordinary one: this is its configuration.
const CONFIG: &str = "\
# Written by `mizzen demo`.

[plugins]
folders = [\"plugins\"]

[trust]
mode = \"dev\"

[grants.plugin]
delivery = [\"kv:*\"]
";

impl Demo {
    pub(super) fn run(self) -> Result<ExitCode> {
        let started = Instant::now();
        let workshop = Workshop::open(self.data.as_deref())?;
        let data = workshop.data().to_owned();
        let home = Home::at(data.clone());

        chapter(1, "Build and sign the first-party plugins and packs");
        workshop.build_plugins()?;
        let config = data.join("mizzen.toml");
        std::fs::write(&config, CONFIG)?;

        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(tell(&workshop, &data, &config))?;
        refusals::greedy_plugin(&workshop, &home)?;
        println!("\nDone in {:.1} s.", started.elapsed().as_secs_f64());

        // Its threads would stand beside those of the server.
        drop(runtime);
        if !self.serve {
            println!("Look at it over HTTP: mizzen demo --serve. Write your own: mizzen plugin new hello");
            return Ok(ExitCode::SUCCESS);
        }
        println!("Serving the same host until Ctrl-C; docs/api.md has requests to try.");
        Serve::of(self.listen, Data::at(host_folder(&data)), config, home).run()
    }
}

fn host_folder(data: &Path) -> PathBuf {
    data.join("host")
}

/// What happens on the host.
async fn tell(workshop: &Workshop, data: &Path, config: &Path) -> Result<()> {
    chapter(
        2,
        "Load them: signature, trust, namespaces, order, imports, exports, compile, describe",
    );
    let place = Place::Made(host_folder(data));
    let local = LocalHost::open(place, Some(config.to_owned()), Home::at(data.to_owned())).await?;
    let told = story_of(workshop, &local).await;
    local.close().await;
    told
}

async fn story_of(workshop: &Workshop, local: &LocalHost) -> Result<()> {
    story::show_tools(local)?;

    chapter(3, "A council: three sprites that act, and one that can say no");
    let council = story::Council::adopt(local, &workshop.council_file()).await?;
    council.show();

    let mut runs = Vec::new();
    for (scene, number) in story::SCENES.iter().zip(4..) {
        chapter(number, scene.title);
        runs.push(council.play(local, scene, workshop).await?);
    }

    chapter(9, story::GOVERNED.title);
    let governed = story::Council::adopt(local, &workshop.governed_file()).await?;
    let run = governed.play(local, &story::GOVERNED, workshop).await?;
    records::check_redacted(&run)?;
    runs.push(run);

    chapter(10, "History, newest first");
    records::show_history(local, &council).await?;

    chapter(
        11,
        "Every journal is signed: verified with the host's public key alone",
    );
    records::verify(local, &runs).await?;

    chapter(
        12,
        "An input that does not fit is refused before any guest code runs",
    );
    refusals::bad_input(local).await
}

fn chapter(number: u32, what: &str) {
    println!("\n{number}. {what}");
}
