-- Pages of purchases by their number, in the order of creation: long and short spans of an edition count all purchases that
-- were made in them, whatever their status. A change of a status does not change that. What the version before adds in the
-- meantime is in the columns of the statuses alone: where these have another sum, short spans lead nowhere until the night.
alter table order_counts add column purchases integer not null default 0;

drop trigger purchases_counted;
create trigger purchases_counted after insert on purchases when new.counted_together = 0
begin
  insert into order_counts (span_bits, edition_id, span, purchases,
      purchases_pending, purchases_active, purchases_used,
      purchases_refunded, purchases_expired, purchases_cancelled)
    values (29, new.edition_id, new.created_at >> 29, 1,
      new.status = 'pending',
      new.status = 'active',
      new.status = 'used',
      new.status = 'refunded',
      new.status = 'expired',
      new.status = 'cancelled')
    on conflict (span_bits, edition_id, span) do update set
      purchases = purchases + 1,
      purchases_pending = purchases_pending + excluded.purchases_pending,
      purchases_active = purchases_active + excluded.purchases_active,
      purchases_used = purchases_used + excluded.purchases_used,
      purchases_refunded = purchases_refunded + excluded.purchases_refunded,
      purchases_expired = purchases_expired + excluded.purchases_expired,
      purchases_cancelled = purchases_cancelled + excluded.purchases_cancelled;
  insert into order_counts (span_bits, edition_id, span, purchases) values (21, new.edition_id, new.created_at >> 21, 1)
    on conflict (span_bits, edition_id, span) do update set purchases = purchases + 1;
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
    where span_bits = 29 and edition_id = old.edition_id and span = old.created_at >> 29;
  update order_counts set purchases = purchases - 1
    where span_bits = 21 and edition_id = old.edition_id and span = old.created_at >> 21;
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
    where span_bits = 29 and edition_id = old.edition_id and span = old.created_at >> 29;
  update order_counts set purchases = purchases - 1
    where span_bits = 21 and edition_id = old.edition_id and span = old.created_at >> 21;
  insert into order_counts (span_bits, edition_id, span, purchases,
      purchases_pending, purchases_active, purchases_used,
      purchases_refunded, purchases_expired, purchases_cancelled)
    values (29, new.edition_id, new.created_at >> 29, 1,
      new.status = 'pending',
      new.status = 'active',
      new.status = 'used',
      new.status = 'refunded',
      new.status = 'expired',
      new.status = 'cancelled')
    on conflict (span_bits, edition_id, span) do update set
      purchases = purchases + 1,
      purchases_pending = purchases_pending + excluded.purchases_pending,
      purchases_active = purchases_active + excluded.purchases_active,
      purchases_used = purchases_used + excluded.purchases_used,
      purchases_refunded = purchases_refunded + excluded.purchases_refunded,
      purchases_expired = purchases_expired + excluded.purchases_expired,
      purchases_cancelled = purchases_cancelled + excluded.purchases_cancelled;
  insert into order_counts (span_bits, edition_id, span, purchases) values (21, new.edition_id, new.created_at >> 21, 1)
    on conflict (span_bits, edition_id, span) do update set purchases = purchases + 1;
end;

update order_counts set purchases = purchases_pending + purchases_active + purchases_used + purchases_refunded
    + purchases_expired + purchases_cancelled
  where span_bits = 29;
insert into order_counts (span_bits, edition_id, span, purchases)
  select 21, edition_id, created_at >> 21, count(*) from purchases where true group by 2, 3
  on conflict (span_bits, edition_id, span) do update set purchases = excluded.purchases;
