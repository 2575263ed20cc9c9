-- The registry: sprites, councils, access, audit, and the plugins' own keys.
-- `seq` is the order of creation and the position that list cursors carry; `id` is what callers see.

CREATE TABLE sprites (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT    NOT NULL UNIQUE,
    name        TEXT    NOT NULL,
    version     TEXT    NOT NULL,
    role        TEXT,
    fingerprint TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    document    TEXT    NOT NULL
) STRICT;
CREATE INDEX sprites_by_name ON sprites (name, seq);
CREATE INDEX sprites_by_role ON sprites (role, seq) WHERE role IS NOT NULL;

CREATE TABLE sprite_tags (
    tag    TEXT    NOT NULL,
    sprite INTEGER NOT NULL REFERENCES sprites (seq) ON DELETE CASCADE,
    PRIMARY KEY (tag, sprite)
) STRICT, WITHOUT ROWID;
CREATE INDEX sprite_tags_by_sprite ON sprite_tags (sprite);

CREATE TABLE sprite_capabilities (
    capability TEXT    NOT NULL,
    sprite     INTEGER NOT NULL REFERENCES sprites (seq) ON DELETE CASCADE,
    PRIMARY KEY (capability, sprite)
) STRICT, WITHOUT ROWID;
CREATE INDEX sprite_capabilities_by_sprite ON sprite_capabilities (sprite);

CREATE TABLE councils (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT    NOT NULL UNIQUE,
    domain     TEXT    NOT NULL UNIQUE,
    name       TEXT    NOT NULL,
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    document   TEXT    NOT NULL
) STRICT;
CREATE INDEX councils_by_name ON councils (name, seq);

-- No foreign key on the sprite: a council keeps its own snapshot (D7), and a forced delete of the sprite leaves it.
CREATE TABLE council_sprites (
    sprite_id TEXT    NOT NULL,
    council   INTEGER NOT NULL REFERENCES councils (seq) ON DELETE CASCADE,
    PRIMARY KEY (sprite_id, council)
) STRICT, WITHOUT ROWID;
CREATE INDEX council_sprites_by_council ON council_sprites (council);

CREATE TABLE council_chains (
    chain_id TEXT    NOT NULL PRIMARY KEY,
    council  INTEGER NOT NULL REFERENCES councils (seq) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX council_chains_by_council ON council_chains (council);

CREATE TABLE api_keys (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT    NOT NULL UNIQUE,
    name       TEXT    NOT NULL,
    digest     BLOB    NOT NULL UNIQUE,
    grants     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) STRICT;

CREATE TABLE idempotency_keys (
    scope      TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    digest     BLOB    NOT NULL,
    answer     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- Hash-chained: `hash` covers the entry and the hash before it.
CREATE TABLE audit (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL,
    actor      TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    outcome    TEXT    NOT NULL,
    request_id TEXT    NOT NULL,
    detail     TEXT    NOT NULL,
    hash       BLOB    NOT NULL
) STRICT;
CREATE INDEX audit_by_subject ON audit (subject, seq);

CREATE TABLE plugin_kv (
    plugin TEXT NOT NULL,
    key    TEXT NOT NULL,
    value  BLOB NOT NULL,
    PRIMARY KEY (plugin, key)
) STRICT;

-- The sum that the quota is checked against, kept in the transaction that changes it.
CREATE TABLE plugin_kv_usage (
    plugin TEXT    NOT NULL PRIMARY KEY,
    bytes  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
