-- Four lengths of spans in place of two: 2^33 milliseconds (99 days), 2^29 (six days), 2^25 (nine hours) and 2^21 (35 minutes).
-- Sixteen spans of a length are one of the next, so that a count and a page by its number read few of each. The two new
-- lengths are sums of those that are there: triggers on their rows keep them, whichever version writes these.
create table order_counts_before as select * from order_counts;
drop table order_counts;

create table order_counts (
  span_bits integer not null check (span_bits in (21, 25, 29, 33)),
  edition_id text not null,
  span integer not null,
  pending_online integer not null default 0,
  pending_in_person integer not null default 0,
  pending_imported integer not null default 0,
  confirmed_online integer not null default 0,
  confirmed_in_person integer not null default 0,
  confirmed_imported integer not null default 0,
  completed_online integer not null default 0,
  completed_in_person integer not null default 0,
  completed_imported integer not null default 0,
  cancelled_online integer not null default 0,
  cancelled_in_person integer not null default 0,
  cancelled_imported integer not null default 0,
  -- Goes up with each change of an order of the span that a list could show: the sum of an edition never is the same twice.
  changes integer not null default 0,
  -- Of spans of 29 bits and their sums.
  customers integer not null default 0,
  -- Of spans of 29 bits alone, so that a purchase whose status changes writes one row.
  purchases_pending integer not null default 0,
  purchases_active integer not null default 0,
  purchases_used integer not null default 0,
  purchases_refunded integer not null default 0,
  purchases_expired integer not null default 0,
  purchases_cancelled integer not null default 0,
  -- Of any status.
  purchases integer not null default 0,
  -- The same. What a version before 0128 counts is in the columns of statuses alone.
  bought integer as (iif(span_bits = 29, purchases_pending + purchases_active + purchases_used + purchases_refunded
    + purchases_expired + purchases_cancelled, purchases)),
  primary key (span_bits, edition_id, span)
) strict, without rowid;

insert into order_counts (
    span_bits, edition_id, span, pending_online, pending_in_person, pending_imported, confirmed_online,
    confirmed_in_person, confirmed_imported, completed_online, completed_in_person, completed_imported, cancelled_online,
    cancelled_in_person, cancelled_imported, changes, customers, purchases_pending, purchases_active, purchases_used,
    purchases_refunded, purchases_expired, purchases_cancelled, purchases)
  select
    span_bits, edition_id, span, pending_online, pending_in_person, pending_imported, confirmed_online,
    confirmed_in_person, confirmed_imported, completed_online, completed_in_person, completed_imported, cancelled_online,
    cancelled_in_person, cancelled_imported, changes, customers, purchases_pending, purchases_active, purchases_used,
    purchases_refunded, purchases_expired, purchases_cancelled, purchases
  from order_counts_before;
drop table order_counts_before;

insert into order_counts (
    span_bits, edition_id, span, pending_online, pending_in_person, pending_imported, confirmed_online,
    confirmed_in_person, confirmed_imported, completed_online, completed_in_person, completed_imported, cancelled_online,
    cancelled_in_person, cancelled_imported, changes, customers, purchases)
  select
    span_bits + 4, edition_id, span >> 4, sum(pending_online), sum(pending_in_person), sum(pending_imported),
    sum(confirmed_online), sum(confirmed_in_person), sum(confirmed_imported), sum(completed_online),
    sum(completed_in_person), sum(completed_imported), sum(cancelled_online), sum(cancelled_in_person),
    sum(cancelled_imported), sum(changes), sum(customers), sum(bought)
  from order_counts where span_bits in (21, 29) group by 1, 2, 3;

create trigger order_counts_added_up after insert on order_counts when new.span_bits in (21, 29)
begin
  insert into order_counts (
      span_bits, edition_id, span, pending_online, pending_in_person, pending_imported, confirmed_online,
      confirmed_in_person, confirmed_imported, completed_online, completed_in_person, completed_imported,
      cancelled_online, cancelled_in_person, cancelled_imported, changes, customers, purchases)
    values (
      new.span_bits + 4, new.edition_id, new.span >> 4, new.pending_online, new.pending_in_person, new.pending_imported,
      new.confirmed_online, new.confirmed_in_person, new.confirmed_imported, new.completed_online,
      new.completed_in_person, new.completed_imported, new.cancelled_online, new.cancelled_in_person,
      new.cancelled_imported, new.changes, new.customers, new.bought)
    on conflict (span_bits, edition_id, span) do update set
      pending_online = pending_online + excluded.pending_online,
      pending_in_person = pending_in_person + excluded.pending_in_person,
      pending_imported = pending_imported + excluded.pending_imported,
      confirmed_online = confirmed_online + excluded.confirmed_online,
      confirmed_in_person = confirmed_in_person + excluded.confirmed_in_person,
      confirmed_imported = confirmed_imported + excluded.confirmed_imported,
      completed_online = completed_online + excluded.completed_online,
      completed_in_person = completed_in_person + excluded.completed_in_person,
      completed_imported = completed_imported + excluded.completed_imported,
      cancelled_online = cancelled_online + excluded.cancelled_online,
      cancelled_in_person = cancelled_in_person + excluded.cancelled_in_person,
      cancelled_imported = cancelled_imported + excluded.cancelled_imported,
      changes = changes + excluded.changes,
      customers = customers + excluded.customers,
      purchases = purchases + excluded.purchases;
end;

-- Each change of orders also goes up by `changes`. A purchase that only changes its status is in no sum.
create trigger order_counts_added_up_anew after update on order_counts
  when new.span_bits in (21, 29) and (new.changes <> old.changes or new.customers <> old.customers or new.bought <> old.bought)
begin
  update order_counts set
      pending_online = pending_online + new.pending_online - old.pending_online,
      pending_in_person = pending_in_person + new.pending_in_person - old.pending_in_person,
      pending_imported = pending_imported + new.pending_imported - old.pending_imported,
      confirmed_online = confirmed_online + new.confirmed_online - old.confirmed_online,
      confirmed_in_person = confirmed_in_person + new.confirmed_in_person - old.confirmed_in_person,
      confirmed_imported = confirmed_imported + new.confirmed_imported - old.confirmed_imported,
      completed_online = completed_online + new.completed_online - old.completed_online,
      completed_in_person = completed_in_person + new.completed_in_person - old.completed_in_person,
      completed_imported = completed_imported + new.completed_imported - old.completed_imported,
      cancelled_online = cancelled_online + new.cancelled_online - old.cancelled_online,
      cancelled_in_person = cancelled_in_person + new.cancelled_in_person - old.cancelled_in_person,
      cancelled_imported = cancelled_imported + new.cancelled_imported - old.cancelled_imported,
      changes = changes + new.changes - old.changes,
      customers = customers + new.customers - old.customers,
      purchases = purchases + new.bought - old.bought
    where span_bits = new.span_bits + 4 and edition_id = new.edition_id and span = new.span >> 4;
end;

-- Most orders change their status alone: they are in the same spans as before, each of which is written once.
drop trigger orders_recounted;
create trigger orders_recounted after update of status, type on orders
  when (new.status, new.type) is not (old.status, old.type)
    and (new.edition_id, new.created_at) is (old.edition_id, old.created_at)
begin
  update order_counts set
      pending_online = pending_online + (new.status = 'pending' and new.type = 'online')
        - (old.status = 'pending' and old.type = 'online'),
      pending_in_person = pending_in_person + (new.status = 'pending' and new.type = 'in-person')
        - (old.status = 'pending' and old.type = 'in-person'),
      pending_imported = pending_imported + (new.status = 'pending' and new.type = 'imported')
        - (old.status = 'pending' and old.type = 'imported'),
      confirmed_online = confirmed_online + (new.status = 'confirmed' and new.type = 'online')
        - (old.status = 'confirmed' and old.type = 'online'),
      confirmed_in_person = confirmed_in_person + (new.status = 'confirmed' and new.type = 'in-person')
        - (old.status = 'confirmed' and old.type = 'in-person'),
      confirmed_imported = confirmed_imported + (new.status = 'confirmed' and new.type = 'imported')
        - (old.status = 'confirmed' and old.type = 'imported'),
      completed_online = completed_online + (new.status = 'completed' and new.type = 'online')
        - (old.status = 'completed' and old.type = 'online'),
      completed_in_person = completed_in_person + (new.status = 'completed' and new.type = 'in-person')
        - (old.status = 'completed' and old.type = 'in-person'),
      completed_imported = completed_imported + (new.status = 'completed' and new.type = 'imported')
        - (old.status = 'completed' and old.type = 'imported'),
      cancelled_online = cancelled_online + (new.status = 'cancelled' and new.type = 'online')
        - (old.status = 'cancelled' and old.type = 'online'),
      cancelled_in_person = cancelled_in_person + (new.status = 'cancelled' and new.type = 'in-person')
        - (old.status = 'cancelled' and old.type = 'in-person'),
      cancelled_imported = cancelled_imported + (new.status = 'cancelled' and new.type = 'imported')
        - (old.status = 'cancelled' and old.type = 'imported'),
      changes = changes + 1
    where edition_id = new.edition_id
      and (span_bits, span) in (values (21, new.created_at >> 21), (29, new.created_at >> 29));
end;

create trigger orders_moved after update of edition_id, created_at on orders
  when (new.edition_id, new.created_at) is not (old.edition_id, old.created_at)
begin
  update order_counts set
      pending_online = pending_online - (old.status = 'pending' and old.type = 'online'),
      pending_in_person = pending_in_person - (old.status = 'pending' and old.type = 'in-person'),
      pending_imported = pending_imported - (old.status = 'pending' and old.type = 'imported'),
      confirmed_online = confirmed_online - (old.status = 'confirmed' and old.type = 'online'),
      confirmed_in_person = confirmed_in_person - (old.status = 'confirmed' and old.type = 'in-person'),
      confirmed_imported = confirmed_imported - (old.status = 'confirmed' and old.type = 'imported'),
      completed_online = completed_online - (old.status = 'completed' and old.type = 'online'),
      completed_in_person = completed_in_person - (old.status = 'completed' and old.type = 'in-person'),
      completed_imported = completed_imported - (old.status = 'completed' and old.type = 'imported'),
      cancelled_online = cancelled_online - (old.status = 'cancelled' and old.type = 'online'),
      cancelled_in_person = cancelled_in_person - (old.status = 'cancelled' and old.type = 'in-person'),
      cancelled_imported = cancelled_imported - (old.status = 'cancelled' and old.type = 'imported'),
      changes = changes + 1
    where edition_id = old.edition_id
      and (span_bits, span) in (values (21, old.created_at >> 21), (29, old.created_at >> 29));
  insert into order_counts (
      span_bits, edition_id, span, pending_online, pending_in_person, pending_imported, confirmed_online,
      confirmed_in_person, confirmed_imported, completed_online, completed_in_person, completed_imported,
      cancelled_online, cancelled_in_person, cancelled_imported, changes)
    select bits.value, new.edition_id, new.created_at >> bits.value,
      new.status = 'pending' and new.type = 'online',
      new.status = 'pending' and new.type = 'in-person',
      new.status = 'pending' and new.type = 'imported',
      new.status = 'confirmed' and new.type = 'online',
      new.status = 'confirmed' and new.type = 'in-person',
      new.status = 'confirmed' and new.type = 'imported',
      new.status = 'completed' and new.type = 'online',
      new.status = 'completed' and new.type = 'in-person',
      new.status = 'completed' and new.type = 'imported',
      new.status = 'cancelled' and new.type = 'online',
      new.status = 'cancelled' and new.type = 'in-person',
      new.status = 'cancelled' and new.type = 'imported',
      1 from json_each('[21, 29]') as bits where true
    on conflict (span_bits, edition_id, span) do update set
      pending_online = pending_online + excluded.pending_online,
      pending_in_person = pending_in_person + excluded.pending_in_person,
      pending_imported = pending_imported + excluded.pending_imported,
      confirmed_online = confirmed_online + excluded.confirmed_online,
      confirmed_in_person = confirmed_in_person + excluded.confirmed_in_person,
      confirmed_imported = confirmed_imported + excluded.confirmed_imported,
      completed_online = completed_online + excluded.completed_online,
      completed_in_person = completed_in_person + excluded.completed_in_person,
      completed_imported = completed_imported + excluded.completed_imported,
      cancelled_online = cancelled_online + excluded.cancelled_online,
      cancelled_in_person = cancelled_in_person + excluded.cancelled_in_person,
      cancelled_imported = cancelled_imported + excluded.cancelled_imported,
      changes = changes + 1;
end;
