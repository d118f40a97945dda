-- The long spans of an edition also count its purchases by status, in the span of their own creation, and its customers in
-- any span: the sum of an edition's spans is the length of its lists. `list_sizes` counts an organisation's customers. Rows that
-- an import adds together say so and are counted by its statements, as orders are. All others have triggers.
alter table purchases add column counted_together integer not null default 0 check (counted_together in (0, 1));
alter table user_editions add column counted_together integer not null default 0 check (counted_together in (0, 1));
alter table users add column counted_together integer not null default 0 check (counted_together in (0, 1));

alter table list_sizes add column customers integer not null default 0;
alter table order_counts add column customers integer not null default 0;
alter table order_counts add column purchases_pending integer not null default 0;
alter table order_counts add column purchases_active integer not null default 0;
alter table order_counts add column purchases_used integer not null default 0;
alter table order_counts add column purchases_refunded integer not null default 0;
alter table order_counts add column purchases_expired integer not null default 0;
alter table order_counts add column purchases_cancelled integer not null default 0;

create trigger purchases_counted after insert on purchases when new.counted_together = 0
begin
  insert into order_counts (span_bits, edition_id, span,
      purchases_pending, purchases_active, purchases_used,
      purchases_refunded, purchases_expired, purchases_cancelled)
    values (29, new.edition_id, new.created_at >> 29,
      new.status = 'pending',
      new.status = 'active',
      new.status = 'used',
      new.status = 'refunded',
      new.status = 'expired',
      new.status = 'cancelled')
    on conflict (span_bits, edition_id, span) do update set
      purchases_pending = purchases_pending + excluded.purchases_pending,
      purchases_active = purchases_active + excluded.purchases_active,
      purchases_used = purchases_used + excluded.purchases_used,
      purchases_refunded = purchases_refunded + excluded.purchases_refunded,
      purchases_expired = purchases_expired + excluded.purchases_expired,
      purchases_cancelled = purchases_cancelled + excluded.purchases_cancelled;
end;

create trigger purchases_uncounted after delete on purchases
begin
  update order_counts set
      purchases_pending = purchases_pending - (old.status = 'pending'),
      purchases_active = purchases_active - (old.status = 'active'),
      purchases_used = purchases_used - (old.status = 'used'),
      purchases_refunded = purchases_refunded - (old.status = 'refunded'),
      purchases_expired = purchases_expired - (old.status = 'expired'),
      purchases_cancelled = purchases_cancelled - (old.status = 'cancelled')
    where span_bits = 29 and edition_id = old.edition_id and span = old.created_at >> 29;
end;

-- Almost every purchase changes its status alone, which writes one row.
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
    where span_bits = 29 and edition_id = new.edition_id and span = new.created_at >> 29;
end;

create trigger purchases_moved after update of edition_id, created_at on purchases
  when (new.edition_id, new.created_at) is not (old.edition_id, old.created_at)
begin
  update order_counts set
      purchases_pending = purchases_pending - (old.status = 'pending'),
      purchases_active = purchases_active - (old.status = 'active'),
      purchases_used = purchases_used - (old.status = 'used'),
      purchases_refunded = purchases_refunded - (old.status = 'refunded'),
      purchases_expired = purchases_expired - (old.status = 'expired'),
      purchases_cancelled = purchases_cancelled - (old.status = 'cancelled')
    where span_bits = 29 and edition_id = old.edition_id and span = old.created_at >> 29;
  insert into order_counts (span_bits, edition_id, span,
      purchases_pending, purchases_active, purchases_used,
      purchases_refunded, purchases_expired, purchases_cancelled)
    values (29, new.edition_id, new.created_at >> 29,
      new.status = 'pending',
      new.status = 'active',
      new.status = 'used',
      new.status = 'refunded',
      new.status = 'expired',
      new.status = 'cancelled')
    on conflict (span_bits, edition_id, span) do update set
      purchases_pending = purchases_pending + excluded.purchases_pending,
      purchases_active = purchases_active + excluded.purchases_active,
      purchases_used = purchases_used + excluded.purchases_used,
      purchases_refunded = purchases_refunded + excluded.purchases_refunded,
      purchases_expired = purchases_expired + excluded.purchases_expired,
      purchases_cancelled = purchases_cancelled + excluded.purchases_cancelled;
end;

create trigger user_editions_counted after insert on user_editions when new.counted_together = 0
begin
  insert into order_counts (span_bits, edition_id, span, customers) values (29, new.edition_id, new.created_at >> 29, 1)
    on conflict (span_bits, edition_id, span) do update set customers = customers + 1;
end;

create trigger user_editions_uncounted after delete on user_editions
begin
  insert into order_counts (span_bits, edition_id, span, customers) values (29, old.edition_id, old.created_at >> 29, -1)
    on conflict (span_bits, edition_id, span) do update set customers = customers - 1;
end;

create trigger users_counted after insert on users when new.counted_together = 0
begin
  insert into list_sizes (organization_id, customers) values (new.organization_id, 1)
    on conflict (organization_id) do update set customers = customers + 1;
end;

create trigger users_uncounted after delete on users
begin
  update list_sizes set customers = customers - 1 where organization_id = old.organization_id;
end;

insert into order_counts (span_bits, edition_id, span,
    purchases_pending, purchases_active, purchases_used,
    purchases_refunded, purchases_expired, purchases_cancelled)
  select 29, edition_id, created_at >> 29,
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

insert into order_counts (span_bits, edition_id, span, customers)
  select 29, edition_id, min(created_at) >> 29, count(*) from user_editions where true group by edition_id
  on conflict (span_bits, edition_id, span) do update set customers = excluded.customers;

insert into list_sizes (organization_id, customers)
  select organization_id, count(*) from users where true group by organization_id
  on conflict (organization_id) do update set customers = excluded.customers;
