-- Serve a range of time in an order that no index has together with it: a run has the orders of an edition in the order of an
-- ordering, packed with their moments of creation, in chunks that are a row each.
create table order_runs (
  edition_short_id text not null,
  ordering text not null check (ordering in ('amount', 'modified', 'number')),
  -- A main run has all orders of the edition, and the delta of the same generation those that changed since.
  generation integer not null,
  is_delta integer not null check (is_delta in (0, 1)),
  number integer not null,
  -- The key of the first order: the value of the ordering, the moment of creation, the number of the row.
  first_value any not null,
  first_created_at integer not null,
  first_seq integer not null,
  -- How many of the orders were created in each span of 2^31 milliseconds, as a JSON array of pairs.
  spans text not null,
  entries blob not null,
  primary key (edition_short_id, ordering, generation, is_delta, number)
) strict, without rowid;

-- The runs that lists read: those of the last generation that is whole.
create table order_run_states (
  edition_short_id text primary key not null,
  generation integer not null default 0,
  -- The delta has each order that was last changed from this moment on, and those of `late_orders` behind this number.
  main_until integer not null default 0,
  main_late integer not null default 0,
  -- Orders that were last changed from this moment on, and those of `late_orders` behind this number, may be in neither run.
  until integer not null default 0,
  late integer not null default 0,
  -- An order that comes to an earlier moment of change than this is noted in `late_orders`.
  noted_until integer not null default 0,
  main_size integer not null default 0,
  delta_size integer not null default 0,
  -- Where the walk that makes the next generation is, as JSON.
  walk text
) strict, without rowid;

-- Orders that changed without becoming young, in the order of these changes.
create table late_orders (
  edition_short_id text not null,
  number integer not null,
  seq integer not null,
  primary key (edition_short_id, number)
) strict, without rowid;

create trigger orders_came_late after insert on orders
  when new.modified_at < (select noted_until from order_run_states where edition_short_id = substr(new.edition_id, -8))
begin
  insert into late_orders (edition_short_id, number, seq)
    select substr(new.edition_id, -8), 1 + coalesce(max(number), 0), new.seq from late_orders
      where edition_short_id = substr(new.edition_id, -8);
end;

create trigger orders_changed_late after update of edition_id, created_at, modified_at, status, type, amount_minor, number_key on orders
  when (new.edition_id, new.created_at, new.modified_at, new.status, new.type, new.amount_minor, new.number_key)
    is not (old.edition_id, old.created_at, old.modified_at, old.status, old.type, old.amount_minor, old.number_key)
    and new.modified_at < (select noted_until from order_run_states where edition_short_id = substr(new.edition_id, -8))
begin
  insert into late_orders (edition_short_id, number, seq)
    select substr(new.edition_id, -8), 1 + coalesce(max(number), 0), new.seq from late_orders
      where edition_short_id = substr(new.edition_id, -8);
end;

create trigger orders_went_late after delete on orders
  when old.modified_at < (select noted_until from order_run_states where edition_short_id = substr(old.edition_id, -8))
begin
  insert into late_orders (edition_short_id, number, seq)
    select substr(old.edition_id, -8), 1 + coalesce(max(number), 0), old.seq from late_orders
      where edition_short_id = substr(old.edition_id, -8);
end;
