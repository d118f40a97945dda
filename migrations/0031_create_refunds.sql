-- Refunds. What is paid back and what is reserved for open requests stands with each purchase and each payment, so that
-- one guarded update checks and reserves.

alter table purchases add column refunded_minor integer not null default 0 check (refunded_minor >= 0);
alter table purchases add column reserved_minor integer not null default 0 check (reserved_minor >= 0);
alter table transactions add column reserved_minor integer not null default 0 check (reserved_minor >= 0);
-- The payment in the provider's own words, such as the id of a payment intent.
alter table transactions add column provider_reference text;
-- The account that took the payment; null for that of the edition.
alter table transactions add column merchant_account_id text references merchant_accounts (id);

create table refund_requests (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  order_id text not null references orders (id),
  -- The payment that is paid back.
  transaction_id text not null references transactions (id),
  -- Null for a refund of the whole order or payment.
  purchase_id text references purchases (id),
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

create index refund_requests_of_organization on refund_requests (organization_id, created_at, id);
create index refund_requests_of_edition on refund_requests (edition_id, created_at, id);
create index refund_requests_of_order on refund_requests (order_id);
create index refund_requests_due on refund_requests (due_at) where due_at is not null;
-- A refund of the provider is recorded once.
create unique index refund_requests_of_provider on refund_requests (merchant_account_id, provider_reference)
  where provider_reference is not null;

-- What a refund pays back, or reserves, for each purchase. A rest that belongs to none (a service fee) has no row.
create table refund_items (
  refund_request_id text not null references refund_requests (id),
  purchase_id text not null references purchases (id),
  amount_minor integer not null check (amount_minor >= 0),
  -- The status that the purchase had before this refund cancelled it; null when it did not.
  status_before text,
  primary key (refund_request_id, purchase_id)
) strict, without rowid;

create index refund_items_of_purchase on refund_items (purchase_id);
