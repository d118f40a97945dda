-- Refund requests of a range of time, a reason or a source have no index together with the orders of change and of the amount:
-- runs have them, as those of orders. Chunks say how many of their rows are of each kind, as a JSON array of pairs; null of
-- those that were made before.
alter table order_runs add column kinds text;

create table refund_runs (
  edition_id text not null,
  ordering text not null check (ordering in ('amount', 'modified', 'status')),
  -- A main run has all requests of the edition, and the delta of the same generation those that changed since.
  generation integer not null,
  is_delta integer not null check (is_delta in (0, 1)),
  number integer not null,
  -- What the key of the first request is made of: the value of the ordering, the moment of creation, the id.
  first_value any not null,
  first_created_at integer not null,
  first_id text not null,
  -- How many of the requests were created in each span of 2^31 milliseconds, as a JSON array of pairs.
  spans text not null,
  entries blob not null,
  -- How many of them are of each kind: a status, a reason and a source.
  kinds text,
  primary key (edition_id, ordering, generation, is_delta, number)
) strict, without rowid;

-- As `order_run_states`, of requests.
create table refund_run_states (
  edition_id text primary key not null,
  generation integer not null default 0,
  main_until integer not null default 0,
  main_late integer not null default 0,
  until integer not null default 0,
  late integer not null default 0,
  noted_until integer not null default 0,
  main_size integer not null default 0,
  delta_size integer not null default 0,
  walk text
) strict, without rowid;

-- Requests that changed without becoming young, or were deleted, in the order of these changes.
create table late_refund_requests (
  edition_id text not null,
  number integer not null,
  id text not null,
  primary key (edition_id, number)
) strict, without rowid;

create trigger refund_requests_came_late after insert on refund_requests
  when new.modified_at < (select noted_until from refund_run_states where edition_id = new.edition_id)
begin
  insert into late_refund_requests (edition_id, number, id)
    select new.edition_id, 1 + coalesce(max(number), 0), new.id from late_refund_requests where edition_id = new.edition_id;
end;

create trigger refund_requests_changed_late
  after update of edition_id, created_at, modified_at, status, reason, source, requested_minor on refund_requests
  when (new.edition_id, new.created_at, new.modified_at, new.status, new.reason, new.source, new.requested_minor)
    is not (old.edition_id, old.created_at, old.modified_at, old.status, old.reason, old.source, old.requested_minor)
    and new.modified_at < (select noted_until from refund_run_states where edition_id = new.edition_id)
begin
  insert into late_refund_requests (edition_id, number, id)
    select new.edition_id, 1 + coalesce(max(number), 0), new.id from late_refund_requests where edition_id = new.edition_id;
end;

-- A run may have a row that has changed since and is young. Nothing but a note says that it is gone.
create trigger refund_requests_went_late after delete on refund_requests
  when exists (select 1 from refund_run_states where edition_id = old.edition_id)
begin
  insert into late_refund_requests (edition_id, number, id)
    select old.edition_id, 1 + coalesce(max(number), 0), old.id from late_refund_requests where edition_id = old.edition_id;
end;

create trigger refund_requests_left_runs after update of edition_id on refund_requests
  when new.edition_id <> old.edition_id and exists (select 1 from refund_run_states where edition_id = old.edition_id)
begin
  insert into late_refund_requests (edition_id, number, id)
    select old.edition_id, 1 + coalesce(max(number), 0), old.id from late_refund_requests where edition_id = old.edition_id;
end;

drop trigger orders_went_late;
create trigger orders_went_late after delete on orders
  when exists (select 1 from order_run_states where edition_short_id = substr(old.edition_id, -8))
begin
  insert into late_orders (edition_short_id, number, seq)
    select substr(old.edition_id, -8), 1 + coalesce(max(number), 0), old.seq from late_orders where edition_short_id = substr(old.edition_id, -8);
end;

create trigger orders_left_runs after update of edition_id on orders
  when new.edition_id <> old.edition_id
    and exists (select 1 from order_run_states where edition_short_id = substr(old.edition_id, -8))
begin
  insert into late_orders (edition_short_id, number, seq)
    select substr(old.edition_id, -8), 1 + coalesce(max(number), 0), old.seq from late_orders where edition_short_id = substr(old.edition_id, -8);
end;
