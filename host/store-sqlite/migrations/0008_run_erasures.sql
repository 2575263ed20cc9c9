-- Runs whose journal and result were erased. What is left shows that the rest of the record is what was signed, and what is gone.
CREATE TABLE run_erasures (
    run       INTEGER PRIMARY KEY REFERENCES runs (seq),
    -- When, in milliseconds since 1970, and who did it.
    at        INTEGER NOT NULL,
    actor     TEXT    NOT NULL,
    -- The host's signed statement, JSON.
    statement TEXT    NOT NULL,
    -- Of the erased entries, in their order, 32 bytes each.
    hashes    BLOB    NOT NULL
) STRICT;

-- What an erased run is made from: nothing. Its row stays, so that totals and ids do.
INSERT INTO run_definitions (hash, document) VALUES (x'0000000000000000000000000000000000000000000000000000000000000000', '');

-- A definition goes with the last run that was made from it; without this, looking for another one would read all of history.
CREATE INDEX runs_by_definition ON runs (definition);
