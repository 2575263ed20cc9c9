//! Lists councils.

use crate::document::Documents;
use crate::error::OpError;
use crate::host::Host;
use mizzen_store::List;

impl Host {
    /// A page of councils as stored, oldest first; all, or the one of a domain.
    pub async fn list_councils(
        &self,
        domain: Option<String>,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<Documents, OpError> {
        let after = cursor
            .map(|text| self.store.cursor(List::Councils, text))
            .transpose()?;
        let page = self.store.list_councils(domain, after, limit).await?;
        Ok(Documents {
            items: page.items.into_iter().map(|record| record.document).collect(),
            next_cursor: page.next.map(|next| next.to_text(List::Councils)),
        })
    }
}
