-- What a frequent search of purchases finds is kept, as that of orders is, in the state of the purchases of its edition. The
-- longest spans count their changes: each of a purchase changes a span, or is one of its code or its order.
alter table order_counts add column purchase_changes integer not null default 0;

drop trigger order_counts_added_up;
create trigger order_counts_added_up after insert on order_counts when new.span_bits in (21, 29)
begin
  insert into order_counts (
      span_bits, edition_id, span, pending_online, pending_in_person, pending_imported, confirmed_online,
      confirmed_in_person, confirmed_imported, completed_online, completed_in_person, completed_imported,
      cancelled_online, cancelled_in_person, cancelled_imported, changes, customers, purchases,
      purchases_pending, purchases_active, purchases_used, purchases_refunded, purchases_expired, purchases_cancelled,
      purchase_changes)
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
      new.purchases_cancelled,
      new.bought <> 0)
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
      purchases_cancelled = purchases_cancelled + excluded.purchases_cancelled,
      purchase_changes = purchase_changes + excluded.purchase_changes;
end;

drop trigger order_counts_added_up_anew;
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
      purchases_cancelled = purchases_cancelled + new.purchases_cancelled - old.purchases_cancelled,
      purchase_changes = purchase_changes
        + ((new.bought, new.purchases, new.purchases_pending, new.purchases_active, new.purchases_used, new.purchases_refunded,
          new.purchases_expired, new.purchases_cancelled) is not (old.bought, old.purchases, old.purchases_pending, old.purchases_active,
          old.purchases_used, old.purchases_refunded, old.purchases_expired, old.purchases_cancelled))
    where span_bits = new.span_bits + 4 and edition_id = new.edition_id and span = new.span >> 4;
end;

create trigger purchases_found_otherwise after update of vendor_code, order_id on purchases
  when (new.vendor_code, new.order_id) is not (old.vendor_code, old.order_id)
begin
  update order_counts set purchase_changes = purchase_changes + 1
    where span_bits = 33 and edition_id = new.edition_id and span = new.created_at >> 33;
end;
