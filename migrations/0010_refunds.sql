-- Refund requests and batches of them. What is paid back, and reserved by open requests, stands with each purchase and
-- payment, so one guarded update checks and reserves.

-- A request to pay back an order, a payment or a purchase.
create table refund_requests (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  order_id text not null references orders (id),
  -- The payment that is paid back.
  transaction_id text not null references transactions (id),
  -- Null for a refund of the whole order or payment. Its row in `refund_items` has the foreign key.
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
  -- The parts of the amount that is requested, approved or paid back.
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
  -- Decided together with the key: whose payment the reference is. Null before the first attempt, and for a reference
  -- that no payment can have.
  payment_check text,
  -- True if a role of the organization approved it, and not one of the edition or the refund policy.
  is_approved_by_organization integer not null default 0 check (is_approved_by_organization in (0, 1)),
  provider_reference text,
  failure_code text,
  failure_message text,
  -- True if roles of an edition read the failure of an unknown payment instead.
  is_failure_hidden integer not null default 0 check (is_failure_hidden in (0, 1)),
  -- The reason why an approved refund waits, and since when; null when it does not wait.
  waiting_reason text,
  waiting_since integer,
  -- When the provider is called or asked next; null when nothing is due.
  due_at integer,
  claimed_until integer,
  checks integer not null default 0,
  needs_attention integer not null default 0 check (needs_attention in (0, 1)),
  metadata text not null default '{}' check (json_valid(metadata)),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  completed_at integer
) strict, without rowid;
-- Serves lists of an edition by creation, and its other orderings, which SQLite sorts from it.
create index refund_requests_edition_created on refund_requests
  (edition_id, created_at, id, status, reason, source, modified_at, requested_minor, order_id, batch_id);
-- Serves lists of an organization as the index before serves those of an edition.
create index refund_requests_organization_created on refund_requests
  (organization_id, created_at, id, status, reason, source, modified_at, requested_minor, order_id, batch_id);
-- Finds what was requested of an order, and so what can still be paid back.
create index refund_requests_of_order on refund_requests (order_id);
-- Finds what was requested of a payment, and checks references when a payment is deleted.
create index refund_requests_of_transaction on refund_requests (transaction_id);
-- Finds the refunds of a customer: a customer with one stays when an import is undone, and erasures change them.
create index refund_requests_of_user on refund_requests (user_id);
-- Finds requests for which a provider is called or asked now.
create index refund_requests_due on refund_requests (due_at) where due_at is not null;
-- Finds refunds that wait for a provider, for each of its accounts.
create index refund_requests_waiting on refund_requests (merchant_account_id, waiting_since)
  where waiting_since is not null;
-- Finds stuck refunds for the health of an edition.
create index refund_requests_of_attention on refund_requests (edition_id) where needs_attention = 1;
-- Finds refunds that wait for a provider, for the health of an edition.
create index refund_requests_waiting_of_edition on refund_requests (edition_id)
  where waiting_since is not null and merchant_account_id is not null;
-- Finds refunds of an account before it is deleted.
create index refund_requests_of_merchant_account on refund_requests (merchant_account_id)
  where merchant_account_id is not null;
-- Records a provider's refund once, and finds it by the provider's events. Several refunds paid by hand may share a
-- transfer.
create unique index refund_requests_of_provider on refund_requests (merchant_account_id, provider_reference)
  where provider_reference is not null and service <> 'manual';
-- A batch makes one request per order.
create unique index refund_requests_of_batch on refund_requests (batch_id, order_id) where batch_id is not null;
-- Finds a refund by its name at the provider, for searches.
create index refund_requests_of_reference on refund_requests (provider_reference) where provider_reference is not null;

-- The amount that a refund pays back, or reserves, for each purchase. A remainder that belongs to none, such as a
-- service fee, has no row.
create table refund_items (
  refund_request_id text not null references refund_requests (id),
  purchase_id text not null references purchases (id),
  amount_minor integer not null check (amount_minor >= 0),
  -- The parts of the purchase that the item pays back, so that later refunds know which are left.
  price_minor integer not null default 0 check (price_minor >= 0),
  deposit_minor integer not null default 0 check (deposit_minor >= 0),
  handling_fee_minor integer not null default 0 check (handling_fee_minor >= 0),
  -- The status of the purchase before this refund cancelled it; null when it did not.
  status_before text,
  primary key (refund_request_id, purchase_id)
) strict, without rowid;
-- Finds the refunds of a purchase, and checks references when purchases are deleted.
create index refund_items_of_purchase on refund_items (purchase_id);

-- Batches of refunds, for example for a cancelled edition. A dry run counts what would be paid back; once started, a
-- batch makes one request for each order.
create table refund_batches (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  status text not null,
  filter text not null check (json_valid(filter)),
  -- The percentage of what is left, times 100; 10000 pays everything back.
  percent_hundredths integer not null check (percent_hundredths between 1 and 10000),
  include_fees integer not null check (include_fees in (0, 1)),
  cancel_purchases integer not null check (cancel_purchases in (0, 1)),
  notify_customers integer not null check (notify_customers in (0, 1)),
  reason text not null,
  message text not null,
  -- Counts of the dry run and of the requests since, each with the purchases that were left out.
  dry_run text not null check (json_valid(dry_run)),
  customers_count integer not null default 0,
  requested text not null check (json_valid(requested)),
  -- The last order that was processed; null before the first.
  cursor_created_at integer,
  cursor_seq integer,
  -- When the batch has work to do; null when it has none.
  due_at integer,
  claimed_until integer,
  source text not null,
  created_by text not null,
  started_by text,
  -- True if a role of the organization started it, and not one of the edition.
  is_started_by_organization integer not null default 0 check (is_started_by_organization in (0, 1)),
  started_at integer,
  ended_at integer,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- Serves the list of batches of an edition.
create index refund_batches_of_edition on refund_batches (edition_id, created_at, id);
-- Finds batches that have work to do.
create index refund_batches_due on refund_batches (due_at) where due_at is not null;

-- Customers counted by a dry run, so that each counts once. They are deleted when it ends.
create table refund_batch_customers (
  batch_id text not null references refund_batches (id),
  user_id text not null,
  primary key (batch_id, user_id)
) strict, without rowid;

-- Totals of the requests of each batch, kept by triggers, so that showing a batch counts nothing.
create table refund_batch_totals (
  batch_id text not null references refund_batches (id),
  currency text not null,
  status text not null,
  needs_attention integer not null check (needs_attention in (0, 1)),
  requests integer not null,
  amount_minor integer not null,
  primary key (batch_id, currency, status, needs_attention)
) strict, without rowid;

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
