-- Executions of chains: what each run is made of, its journal, and what is to be delivered because of it.

-- What runs are made from (a council with its sprites, chains and rules), kept once however many runs use it.
CREATE TABLE run_definitions (
    hash     BLOB NOT NULL PRIMARY KEY,
    document TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- `sort_at` is completed_at, or started_at while the run is open: what history is ordered by.
CREATE TABLE runs (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT    NOT NULL UNIQUE,
    council_id   TEXT    NOT NULL,
    chain_id     TEXT    NOT NULL,
    status       TEXT    NOT NULL,
    open         INTEGER NOT NULL,
    started_at   INTEGER NOT NULL,
    completed_at INTEGER,
    sort_at      INTEGER NOT NULL,
    definition   BLOB    NOT NULL REFERENCES run_definitions (hash),
    next_seq     INTEGER NOT NULL,
    head         BLOB    NOT NULL,
    result       TEXT,
    seal         TEXT
) STRICT;
CREATE INDEX runs_by_time ON runs (sort_at DESC, seq DESC);
CREATE INDEX runs_by_status ON runs (status, sort_at DESC, seq DESC);
CREATE INDEX runs_by_chain ON runs (chain_id, sort_at DESC, seq DESC);
CREATE INDEX runs_by_chain_and_status ON runs (chain_id, status, sort_at DESC, seq DESC);
CREATE INDEX runs_by_council ON runs (council_id, sort_at DESC, seq DESC);
CREATE INDEX runs_open ON runs (seq) WHERE open = 1;

-- Append-only. `bytes` are what was hashed; `hash` covers them and the hash before.
CREATE TABLE run_events (
    run   INTEGER NOT NULL REFERENCES runs (seq),
    seq   INTEGER NOT NULL,
    bytes TEXT    NOT NULL,
    hash  BLOB    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- Hooks, written with the decision that they tell of and delivered after it.
CREATE TABLE outbox (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id     TEXT    NOT NULL,
    rule_id    TEXT    NOT NULL,
    hook       TEXT    NOT NULL,
    payload    TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    attempts   INTEGER NOT NULL,
    due_at     INTEGER NOT NULL,
    last_error TEXT
) STRICT;
CREATE INDEX outbox_by_run ON outbox (run_id, seq);
CREATE INDEX outbox_due ON outbox (due_at, seq) WHERE state = 'pending';
