-- Where a hook leads: deliveries to one place must not hold up those to another.
ALTER TABLE outbox ADD COLUMN destination TEXT NOT NULL DEFAULT '';
