//! Lists sprites.

use crate::document::Documents;
use crate::error::OpError;
use crate::host::Host;
use mizzen_store::{List, SpriteFilter};

impl Host {
    /// A page of sprites, oldest first.
    pub async fn list_sprites(
        &self,
        filter: SpriteFilter,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<Documents, OpError> {
        let after = cursor
            .map(|text| self.store.cursor(List::Sprites, text))
            .transpose()?;
        let page = self.store.list_sprites(filter, after, limit).await?;
        Ok(Documents {
            items: page.items.into_iter().map(|record| record.document).collect(),
            next_cursor: page.next.map(|next| next.to_text(List::Sprites)),
        })
    }
}
