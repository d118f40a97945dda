-- A request is written to one index less for each of its payment and its purchase: nothing but their deletion has read
-- these indexes. The references go with them, because a deletion would read all requests without an index. Triggers keep
-- that promise for payments, `refund_items` keeps it for purchases.
pragma defer_foreign_keys = on;

create table refund_requests_before as select * from refund_requests;
drop table refund_requests;

create table refund_requests (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  order_id text not null references orders (id),
  -- The payment that is paid back.
  transaction_id text not null,
  -- Null for a refund of the whole order or payment.
  purchase_id text,
  user_id text not null references users (id),
  batch_id text,
  target text not null,
  status text not null,
  source text not null,
  reason text not null,
  comment text not null default '',
  currency text not null,
  requested_minor integer not null check (requested_minor >= 0),
  approved_minor integer check (approved_minor >= 0),
  refunded_minor integer not null default 0,
  -- The shares of the amount that is asked for, approved or paid back.
  price_minor integer not null default 0,
  deposit_minor integer not null default 0,
  handling_fee_minor integer not null default 0,
  service_fee_minor integer not null default 0,
  include_fees integer not null default 0 check (include_fees in (0, 1)),
  cancel_purchase integer not null default 0 check (cancel_purchase in (0, 1)),
  notify_customer integer not null default 1 check (notify_customer in (0, 1)),
  requested_by text,
  reviewed_by text,
  reviewed_at integer,
  rejection_reason text,
  note text,
  -- The gateway and the account that pay it back; null until it is approved.
  service text,
  merchant_account_id text references merchant_accounts (id),
  attempts integer not null default 0,
  -- `<id>:<attempt>`, stored before the provider is called.
  provider_key text,
  provider_key_at integer,
  provider_reference text,
  failure_code text,
  failure_message text,
  -- When the provider is to be called or asked next; null when nothing is due.
  due_at integer,
  lease_until integer,
  checks integer not null default 0,
  needs_attention integer not null default 0 check (needs_attention in (0, 1)),
  metadata text not null default '{}' check (json_valid(metadata)),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  completed_at integer
) strict, without rowid;

insert into refund_requests select * from refund_requests_before;
drop table refund_requests_before;

create index refund_requests_of_organization on refund_requests (organization_id, created_at, id);
create index refund_requests_of_edition on refund_requests (edition_id, created_at, id);
create index refund_requests_of_order on refund_requests (order_id);
create index refund_requests_of_user on refund_requests (user_id);
create index refund_requests_due on refund_requests (due_at) where due_at is not null;
create index refund_requests_of_attention on refund_requests (edition_id) where needs_attention = 1;
create index refund_requests_of_merchant_account on refund_requests (merchant_account_id)
  where merchant_account_id is not null;
-- A refund of the provider is recorded once. Several that were paid by hand may have the reference of one transfer.
create unique index refund_requests_of_provider on refund_requests (merchant_account_id, provider_reference)
  where provider_reference is not null and service <> 'manual';
-- An order gets one request of a batch, whatever comes twice.
create unique index refund_requests_of_batch on refund_requests (batch_id, order_id) where batch_id is not null;

create trigger transactions_of_refunds_kept before delete on transactions
  when exists (select 1 from refund_requests where order_id = old.order_id and transaction_id = old.id)
begin
  select raise(abort, 'FOREIGN KEY constraint failed');
end;

-- They count from here on: the requests above are counted already.
create trigger refund_requests_added_to_batch after insert on refund_requests when new.batch_id is not null
begin
  insert into refund_batch_totals (batch_id, currency, status, needs_attention, requests, amount_minor)
    values (new.batch_id, new.currency, new.status, new.needs_attention, 1,
      coalesce(new.approved_minor, new.requested_minor))
    on conflict do update set requests = requests + 1, amount_minor = amount_minor + excluded.amount_minor;
end;

create trigger refund_requests_changed_in_batch
  after update of status, needs_attention, approved_minor on refund_requests
  when new.batch_id is not null and (new.status <> old.status or new.needs_attention <> old.needs_attention
    or coalesce(new.approved_minor, new.requested_minor) <> coalesce(old.approved_minor, old.requested_minor))
begin
  update refund_batch_totals set requests = requests - 1,
      amount_minor = amount_minor - coalesce(old.approved_minor, old.requested_minor)
    where batch_id = old.batch_id and currency = old.currency and status = old.status
      and needs_attention = old.needs_attention;
  insert into refund_batch_totals (batch_id, currency, status, needs_attention, requests, amount_minor)
    values (new.batch_id, new.currency, new.status, new.needs_attention, 1,
      coalesce(new.approved_minor, new.requested_minor))
    on conflict do update set requests = requests + 1, amount_minor = amount_minor + excluded.amount_minor;
end;
