-- The organisation of a purchase and of a payment is that of its edition. Neither row names it any more.
pragma defer_foreign_keys = on;

create table purchases_before as select * from purchases;
drop trigger purchases_of_orders_kept;
drop table purchases;

create table purchases (
  id text primary key,
  -- Written by the version before alone.
  organization_id text references organizations (id),
  edition_id text not null references editions (id),
  order_id text not null,
  user_id text not null references users (id),
  product_id text not null references products (id),
  variant_id text references variants (id),
  location_id text references locations (id),
  options text not null default '[]' check (json_valid(options)),
  vendor_code text,
  status text not null,
  price_minor integer not null,
  deposit_minor integer not null,
  handling_fee_minor integer not null,
  uses_limit integer not null default 1,
  uses_count integer not null default 0,
  is_unlimited_use integer not null default 0 check (is_unlimited_use in (0, 1)),
  metadata text not null default '{}',
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  valid_until integer,
  refunded_minor integer not null default 0 check (refunded_minor >= 0),
  reserved_minor integer not null default 0 check (reserved_minor >= 0),
  counted_together integer not null default 0 check (counted_together in (0, 1))
) strict, without rowid;

insert into purchases (id, organization_id, edition_id, order_id, user_id, product_id, variant_id, location_id, options,
    vendor_code, status, price_minor, deposit_minor, handling_fee_minor, uses_limit, uses_count, is_unlimited_use, metadata,
    version, created_at, modified_at, valid_until, refunded_minor, reserved_minor, counted_together)
  select id, organization_id, edition_id, order_id, user_id, product_id, variant_id, location_id, options,
    vendor_code, status, price_minor, deposit_minor, handling_fee_minor, uses_limit, uses_count, is_unlimited_use, metadata,
    version, created_at, modified_at, valid_until, refunded_minor, reserved_minor, counted_together
  from purchases_before;
drop table purchases_before;

create index purchases_of_order on purchases (order_id)
  where substr(id, 1, length(id) - 4) <> 'pur_' || substr(order_id, 5, length(order_id) - 20) || substr(order_id, -12);
create index purchases_of_user on purchases (user_id, product_id, status);
create index purchases_due on purchases (valid_until) where status = 'active' and valid_until is not null;
create index purchases_edition_status on purchases (edition_id, status, created_at);
create index purchases_edition_code on purchases (edition_id, vendor_code collate nocase, created_at)
  where vendor_code is not null;

create trigger purchases_of_orders_kept before delete on orders
  when exists (select 1 from purchases
      where id >= 'pur_' || substr(old.id, 5, length(old.id) - 20) || substr(old.id, -12)
        and id < 'pur_' || substr(old.id, 5, length(old.id) - 20) || substr(old.id, -12) || '[' and order_id = old.id)
    or exists (select 1 from purchases where order_id = old.id
      and substr(id, 1, length(id) - 4) <> 'pur_' || substr(order_id, 5, length(order_id) - 20) || substr(order_id, -12))
begin
  select raise(abort, 'FOREIGN KEY constraint failed');
end;

-- They count from here on: the purchases above are counted already.
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

create table transactions_before_rename (
  id text not null,
  order_id text not null references orders (id),
  -- Written by the version before alone.
  organization_id text,
  type text not null,
  status text not null,
  service text not null,
  amount_minor integer not null,
  currency text not null,
  service_fee_minor integer not null,
  handling_fee_minor integer not null,
  refunded_minor integer not null default 0,
  created_at integer not null,
  reserved_minor integer not null default 0 check (reserved_minor >= 0),
  provider_reference text,
  merchant_account_id text references merchant_accounts (id),
  refund_request_id text references refund_requests (id),
  primary key (order_id, id)
) strict, without rowid;
insert into transactions_before_rename (id, order_id, organization_id, type, status, service, amount_minor, currency,
    service_fee_minor, handling_fee_minor, refunded_minor, created_at, reserved_minor, provider_reference,
    merchant_account_id, refund_request_id)
  select id, order_id, organization_id, type, status, service, amount_minor, currency, service_fee_minor,
    handling_fee_minor, refunded_minor, created_at, reserved_minor, provider_reference, merchant_account_id,
    refund_request_id
  from transactions order by order_id, id;
drop table transactions;
alter table transactions_before_rename rename to transactions;

create unique index transactions_by_id on transactions (id) where substr(id, 5) <> substr(order_id, 5);
create index transactions_of_merchant_account on transactions (merchant_account_id)
  where merchant_account_id is not null;
create index transactions_of_refund on transactions (refund_request_id) where refund_request_id is not null;
create index transactions_of_provider on transactions (provider_reference) where provider_reference is not null;

create trigger transactions_of_refunds_kept before delete on transactions
  when exists (select 1 from refund_requests where order_id = old.order_id and transaction_id = old.id)
begin
  select raise(abort, 'FOREIGN KEY constraint failed');
end;
