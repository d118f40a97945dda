-- The last attempt stands in its delivery's row, as JSON, and moves to webhook_attempts when the next one is recorded. A
-- delivery that arrives at the first attempt so writes no row of its own for it. Attempts from before stay where they are.
alter table webhook_deliveries add column last_attempt text;
