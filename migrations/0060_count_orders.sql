-- How many orders an edition has in each span of time, by status and type, so that lists say their length without reading
-- it. A span is created_at >> span_bits: 2^29 milliseconds are six days, 2^21 are 35 minutes, and 256 of these are one of
-- the others. Triggers keep the counts in the transaction that changes an order. Rows are never deleted.
create table order_counts (
  span_bits integer not null check (span_bits in (21, 29)),
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
  primary key (span_bits, edition_id, span)
) strict, without rowid;

create trigger orders_counted after insert on orders
begin
  insert into order_counts (span_bits, edition_id, span,
      pending_online, pending_in_person, pending_imported, confirmed_online, confirmed_in_person, confirmed_imported,
      completed_online, completed_in_person, completed_imported, cancelled_online, cancelled_in_person,
      cancelled_imported, changes)
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

create trigger orders_uncounted after delete on orders
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
end;

create trigger orders_recounted after update of edition_id, created_at, status, type on orders
  when (new.edition_id, new.created_at, new.status, new.type) is not (old.edition_id, old.created_at, old.status, old.type)
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
  insert into order_counts (span_bits, edition_id, span,
      pending_online, pending_in_person, pending_imported, confirmed_online, confirmed_in_person, confirmed_imported,
      completed_online, completed_in_person, completed_imported, cancelled_online, cancelled_in_person,
      cancelled_imported, changes)
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

insert into order_counts (span_bits, edition_id, span,
    pending_online, pending_in_person, pending_imported, confirmed_online, confirmed_in_person, confirmed_imported,
    completed_online, completed_in_person, completed_imported, cancelled_online, cancelled_in_person,
    cancelled_imported)
  select 21, edition_id, created_at >> 21,
    sum(status = 'pending' and type = 'online'),
    sum(status = 'pending' and type = 'in-person'),
    sum(status = 'pending' and type = 'imported'),
    sum(status = 'confirmed' and type = 'online'),
    sum(status = 'confirmed' and type = 'in-person'),
    sum(status = 'confirmed' and type = 'imported'),
    sum(status = 'completed' and type = 'online'),
    sum(status = 'completed' and type = 'in-person'),
    sum(status = 'completed' and type = 'imported'),
    sum(status = 'cancelled' and type = 'online'),
    sum(status = 'cancelled' and type = 'in-person'),
    sum(status = 'cancelled' and type = 'imported')
  from orders group by 2, 3;

insert into order_counts (span_bits, edition_id, span,
    pending_online, pending_in_person, pending_imported, confirmed_online, confirmed_in_person, confirmed_imported,
    completed_online, completed_in_person, completed_imported, cancelled_online, cancelled_in_person,
    cancelled_imported)
  select 29, edition_id, span >> 8,
    sum(pending_online), sum(pending_in_person), sum(pending_imported), sum(confirmed_online),
    sum(confirmed_in_person), sum(confirmed_imported), sum(completed_online), sum(completed_in_person),
    sum(completed_imported), sum(cancelled_online), sum(cancelled_in_person), sum(cancelled_imported)
  from order_counts where span_bits = 21 group by 2, 3;

-- What lists are filtered by and spans do not count: counts that are kept by the changes of an edition end with them.
create trigger orders_listed after update of user_id, number_folded, search on orders
  when (new.user_id, new.number_folded, new.search) is not (old.user_id, old.number_folded, old.search)
begin
  update order_counts set changes = changes + 1
    where span_bits = 29 and edition_id = new.edition_id and span = new.created_at >> 29;
end;

create trigger users_of_orders_changed after update of email_folded, phone_digits on users
  when (new.email_folded, new.phone_digits) is not (old.email_folded, old.phone_digits)
begin
  update order_counts set changes = changes + 1
    where span_bits = 29 and (edition_id, span) in
      (select edition_id, max(created_at >> 29) from orders where user_id = new.id group by edition_id);
end;
