-- A chunk says how many of its orders are of each kind, as a JSON array of pairs; null of those that were made before.
alter table order_runs add column kinds text;
