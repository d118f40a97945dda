-- Most orders of most imports are created. What an import keeps of them is one row a transaction, instead of a change of
-- each staged order and an entry in the index of its id.

-- An order of `import_orders` without an outcome, whose number is not above the last number here, was created. Orders
-- that were created with warnings, and all that were created before this migration, have their outcome in their own row.
create table import_created_orders (
  import_id text not null references data_imports (id),
  first_number integer not null,
  last_number integer not null,
  -- JSON by number: the order's id, and what an undo of it needs.
  orders text not null check (json_valid(orders)),
  primary key (import_id, first_number)
) strict, without rowid;

-- The import that created the order, and the number that the order has there. No number for an order that came by a call.
alter table orders add column import_id text;
alter table orders add column import_number integer;
