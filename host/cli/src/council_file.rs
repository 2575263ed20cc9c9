//! A council file: the council with its sprites, which stand in it or in files beside it.

use crate::document_file;
use anyhow::{Context, Result, bail};
use mizzen_json::Json;
use mizzen_model::council::SPRITES_MAX;
use std::path::{Component, Path};

/// Reads a council file and the files of its sprites.
pub(crate) fn read(file: &Path) -> Result<Json> {
    let mut council = document_file::read(file)?;
    let sprites = council
        .as_object_mut()
        .and_then(|council| council.get_mut("sprites"));
    if let Some(Json::Array(sprites)) = sprites {
        if sprites.len() > SPRITES_MAX {
            bail!("{} lists more than {SPRITES_MAX} sprites", file.display());
        }
        for sprite in sprites.iter_mut() {
            if let Some(path) = sprite.as_str() {
                *sprite = sprite_file(file, path)?;
            }
        }
    }
    Ok(council)
}

/// A council file may have come from somebody else: it names files beside or below itself, and no others.
fn sprite_file(council: &Path, named: &str) -> Result<Json> {
    let path = Path::new(named);
    let is_below = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if named.is_empty() || !is_below {
        bail!(
            "{named:?} in `sprites` must be a file beside or below the council's own; write a relative path without `..`"
        );
    }
    document_file::read(&council.parent().unwrap_or(Path::new("")).join(path)).with_context(|| {
        format!(
            "the sprite file {named:?} of {} cannot be used",
            council.display()
        )
    })
}
