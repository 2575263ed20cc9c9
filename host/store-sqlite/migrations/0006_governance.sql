-- The mandatory packs of the host's configuration that have governed the runs in this folder, and the keys that signed them. A host
-- whose configuration lacks one does not run on it.

CREATE TABLE governance (
    pack_id TEXT PRIMARY KEY,
    -- Ids of keys, with spaces between them; empty until the pack has been loaded.
    signers TEXT NOT NULL,
    -- When it was first mounted, in milliseconds since 1970.
    since   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
