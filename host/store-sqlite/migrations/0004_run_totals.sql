-- How many runs have ended, so that a page of history can say its total without counting. Kept by triggers, in the transaction
-- that ends the run. An empty id stands for all: of a council without its chains, of everything.
-- Runs that are open are few; they are counted through their own index.

CREATE TABLE run_totals (
    chain_id   TEXT    NOT NULL,
    council_id TEXT    NOT NULL,
    status     TEXT    NOT NULL,
    ended      INTEGER NOT NULL,
    PRIMARY KEY (chain_id, council_id, status)
) STRICT, WITHOUT ROWID;

INSERT INTO run_totals (chain_id, council_id, status, ended)
    SELECT chain_id, council_id, status, count(*) FROM runs WHERE open = 0 GROUP BY chain_id, council_id, status;
INSERT INTO run_totals (chain_id, council_id, status, ended)
    SELECT '', council_id, status, sum(ended) FROM run_totals GROUP BY council_id, status;
INSERT INTO run_totals (chain_id, council_id, status, ended)
    SELECT '', '', status, sum(ended) FROM run_totals WHERE chain_id = '' GROUP BY status;

CREATE TRIGGER run_begun_and_ended AFTER INSERT ON runs WHEN NEW.open = 0 BEGIN
    INSERT INTO run_totals (chain_id, council_id, status, ended)
        VALUES (NEW.chain_id, NEW.council_id, NEW.status, 1), ('', NEW.council_id, NEW.status, 1), ('', '', NEW.status, 1)
        ON CONFLICT DO UPDATE SET ended = ended + 1;
END;

CREATE TRIGGER run_ended AFTER UPDATE OF open ON runs WHEN OLD.open = 1 AND NEW.open = 0 BEGIN
    INSERT INTO run_totals (chain_id, council_id, status, ended)
        VALUES (NEW.chain_id, NEW.council_id, NEW.status, 1), ('', NEW.council_id, NEW.status, 1), ('', '', NEW.status, 1)
        ON CONFLICT DO UPDATE SET ended = ended + 1;
END;

CREATE TRIGGER run_forgotten AFTER DELETE ON runs WHEN OLD.open = 0 BEGIN
    UPDATE run_totals SET ended = ended - 1 WHERE status = OLD.status
        AND ((chain_id = OLD.chain_id AND council_id = OLD.council_id)
             OR (chain_id = '' AND council_id = OLD.council_id) OR (chain_id = '' AND council_id = ''));
END;
