-- Pages of purchases of a status by their number: spans of all lengths count purchases by status, and not those of 2^29
-- milliseconds alone. A purchase that changes its status writes three rows more. What the version before adds in the meantime
-- has no status in spans of 2^21 and their sums: where those of a long span do not have its sum, they lead nowhere until the
-- night.
drop trigger purchases_counted;
create trigger purchases_counted after insert on purchases when new.counted_together = 0
begin
  insert into order_counts (span_bits, edition_id, span, purchases,
      purchases_pending, purchases_active, purchases_used,
      purchases_refunded, purchases_expired, purchases_cancelled)
    select bits.value, new.edition_id, new.created_at >> bits.value, 1,
      new.status = 'pending',
      new.status = 'active',
      new.status = 'used',
      new.status = 'refunded',
      new.status = 'expired',
      new.status = 'cancelled'
    from json_each('[29, 21]') as bits where true
    on conflict (span_bits, edition_id, span) do update set
      purchases = purchases + 1,
      purchases_pending = purchases_pending + excluded.purchases_pending,
      purchases_active = purchases_active + excluded.purchases_active,
      purchases_used = purchases_used + excluded.purchases_used,
      purchases_refunded = purchases_refunded + excluded.purchases_refunded,
      purchases_expired = purchases_expired + excluded.purchases_expired,
      purchases_cancelled = purchases_cancelled + excluded.purchases_cancelled;
end;

drop trigger purchases_uncounted;
create trigger purchases_uncounted after delete on purchases
begin
  update order_counts set
      purchases = purchases - 1,
      purchases_pending = purchases_pending - (old.status = 'pending'),
      purchases_active = purchases_active - (old.status = 'active'),
      purchases_used = purchases_used - (old.status = 'used'),
      purchases_refunded = purchases_refunded - (old.status = 'refunded'),
      purchases_expired = purchases_expired - (old.status = 'expired'),
      purchases_cancelled = purchases_cancelled - (old.status = 'cancelled')
    where edition_id = old.edition_id
      and (span_bits, span) in (values (21, old.created_at >> 21), (29, old.created_at >> 29));
end;

drop trigger purchases_recounted;
create trigger purchases_recounted after update of status on purchases
  when new.status <> old.status and (new.edition_id, new.created_at) is (old.edition_id, old.created_at)
begin
  update order_counts set
      purchases_pending = purchases_pending + (new.status = 'pending') - (old.status = 'pending'),
      purchases_active = purchases_active + (new.status = 'active') - (old.status = 'active'),
      purchases_used = purchases_used + (new.status = 'used') - (old.status = 'used'),
      purchases_refunded = purchases_refunded + (new.status = 'refunded') - (old.status = 'refunded'),
      purchases_expired = purchases_expired + (new.status = 'expired') - (old.status = 'expired'),
      purchases_cancelled = purchases_cancelled + (new.status = 'cancelled') - (old.status = 'cancelled')
    where edition_id = new.edition_id
      and (span_bits, span) in (values (21, new.created_at >> 21), (29, new.created_at >> 29));
end;

drop trigger purchases_moved;
create trigger purchases_moved after update of edition_id, created_at on purchases
  when (new.edition_id, new.created_at) is not (old.edition_id, old.created_at)
begin
  update order_counts set
      purchases = purchases - 1,
      purchases_pending = purchases_pending - (old.status = 'pending'),
      purchases_active = purchases_active - (old.status = 'active'),
      purchases_used = purchases_used - (old.status = 'used'),
      purchases_refunded = purchases_refunded - (old.status = 'refunded'),
      purchases_expired = purchases_expired - (old.status = 'expired'),
      purchases_cancelled = purchases_cancelled - (old.status = 'cancelled')
    where edition_id = old.edition_id
      and (span_bits, span) in (values (21, old.created_at >> 21), (29, old.created_at >> 29));
  insert into order_counts (span_bits, edition_id, span, purchases,
      purchases_pending, purchases_active, purchases_used,
      purchases_refunded, purchases_expired, purchases_cancelled)
    select bits.value, new.edition_id, new.created_at >> bits.value, 1,
      new.status = 'pending',
      new.status = 'active',
      new.status = 'used',
      new.status = 'refunded',
      new.status = 'expired',
      new.status = 'cancelled'
    from json_each('[29, 21]') as bits where true
    on conflict (span_bits, edition_id, span) do update set
      purchases = purchases + 1,
      purchases_pending = purchases_pending + excluded.purchases_pending,
      purchases_active = purchases_active + excluded.purchases_active,
      purchases_used = purchases_used + excluded.purchases_used,
      purchases_refunded = purchases_refunded + excluded.purchases_refunded,
      purchases_expired = purchases_expired + excluded.purchases_expired,
      purchases_cancelled = purchases_cancelled + excluded.purchases_cancelled;
end;

drop trigger order_counts_added_up;
drop trigger order_counts_added_up_anew;

insert into order_counts (span_bits, edition_id, span,
    purchases_pending, purchases_active, purchases_used, purchases_refunded, purchases_expired, purchases_cancelled)
  select 21, edition_id, created_at >> 21,
    sum(status = 'pending'),
    sum(status = 'active'),
    sum(status = 'used'),
    sum(status = 'refunded'),
    sum(status = 'expired'),
    sum(status = 'cancelled')
  from purchases where true group by 2, 3
  on conflict (span_bits, edition_id, span) do update set
    purchases_pending = excluded.purchases_pending,
    purchases_active = excluded.purchases_active,
    purchases_used = excluded.purchases_used,
    purchases_refunded = excluded.purchases_refunded,
    purchases_expired = excluded.purchases_expired,
    purchases_cancelled = excluded.purchases_cancelled;
insert into order_counts (span_bits, edition_id, span,
    purchases_pending, purchases_active, purchases_used, purchases_refunded, purchases_expired, purchases_cancelled)
  select span_bits + 4, edition_id, span >> 4,
    sum(purchases_pending),
    sum(purchases_active),
    sum(purchases_used),
    sum(purchases_refunded),
    sum(purchases_expired),
    sum(purchases_cancelled)
  from order_counts where span_bits in (21, 29) group by 1, 2, 3
  on conflict (span_bits, edition_id, span) do update set
    purchases_pending = excluded.purchases_pending,
    purchases_active = excluded.purchases_active,
    purchases_used = excluded.purchases_used,
    purchases_refunded = excluded.purchases_refunded,
    purchases_expired = excluded.purchases_expired,
    purchases_cancelled = excluded.purchases_cancelled;

create trigger order_counts_added_up after insert on order_counts when new.span_bits in (21, 29)
begin
  insert into order_counts (
      span_bits, edition_id, span, pending_online, pending_in_person, pending_imported, confirmed_online,
      confirmed_in_person, confirmed_imported, completed_online, completed_in_person, completed_imported,
      cancelled_online, cancelled_in_person, cancelled_imported, changes, customers, purchases,
      purchases_pending, purchases_active, purchases_used, purchases_refunded, purchases_expired, purchases_cancelled)
    values (
      new.span_bits + 4, new.edition_id, new.span >> 4, new.pending_online, new.pending_in_person, new.pending_imported,
      new.confirmed_online, new.confirmed_in_person, new.confirmed_imported, new.completed_online,
      new.completed_in_person, new.completed_imported, new.cancelled_online, new.cancelled_in_person,
      new.cancelled_imported, new.changes, new.customers, new.bought,
      new.purchases_pending,
      new.purchases_active,
      new.purchases_used,
      new.purchases_refunded,
      new.purchases_expired,
      new.purchases_cancelled)
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
      purchases = purchases + excluded.purchases,
      purchases_pending = purchases_pending + excluded.purchases_pending,
      purchases_active = purchases_active + excluded.purchases_active,
      purchases_used = purchases_used + excluded.purchases_used,
      purchases_refunded = purchases_refunded + excluded.purchases_refunded,
      purchases_expired = purchases_expired + excluded.purchases_expired,
      purchases_cancelled = purchases_cancelled + excluded.purchases_cancelled;
end;

-- Each change of orders also goes up by `changes`.
create trigger order_counts_added_up_anew after update on order_counts
  when new.span_bits in (21, 29) and (new.changes <> old.changes or new.customers <> old.customers or new.bought <> old.bought
    or (new.purchases_pending, new.purchases_active, new.purchases_used, new.purchases_refunded,
      new.purchases_expired, new.purchases_cancelled) is not (old.purchases_pending, old.purchases_active, old.purchases_used,
      old.purchases_refunded, old.purchases_expired, old.purchases_cancelled))
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
      purchases = purchases + new.bought - old.bought,
      purchases_pending = purchases_pending + new.purchases_pending - old.purchases_pending,
      purchases_active = purchases_active + new.purchases_active - old.purchases_active,
      purchases_used = purchases_used + new.purchases_used - old.purchases_used,
      purchases_refunded = purchases_refunded + new.purchases_refunded - old.purchases_refunded,
      purchases_expired = purchases_expired + new.purchases_expired - old.purchases_expired,
      purchases_cancelled = purchases_cancelled + new.purchases_cancelled - old.purchases_cancelled
    where span_bits = new.span_bits + 4 and edition_id = new.edition_id and span = new.span >> 4;
end;
