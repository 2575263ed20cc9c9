-- Journals under one number, the run's and the entry's: a table by rowid keeps an entry in its page where one without rowids moves
-- anything over a quarter of a page into a page of its own, and appending to it is the cheapest write there is.

CREATE TABLE run_entries (
    -- (run << 24) | seq
    place INTEGER PRIMARY KEY,
    bytes TEXT NOT NULL,
    hash  BLOB NOT NULL
) STRICT;
INSERT INTO run_entries (place, bytes, hash) SELECT (run << 24) | seq, bytes, hash FROM run_events ORDER BY run, seq;
DROP TABLE run_events;
ALTER TABLE run_entries RENAME TO run_events;

-- The totals of history are added to by the statement after the one that ends a run, in its transaction: a trigger makes SQLite keep
-- a copy of every page that the statement changes.
DROP TRIGGER run_begun_and_ended;
DROP TRIGGER run_ended;
