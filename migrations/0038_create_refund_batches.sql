-- Batches of refunds, as for an edition that is called off: a dry run counts what would be paid back, and once it is
-- started each order that it finds gets one request.

create table refund_batches (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  status text not null,
  filter text not null check (json_valid(filter)),
  -- Hundredths of a percent of what is left; 10000 for all of it.
  share integer not null check (share between 1 and 10000),
  include_fees integer not null check (include_fees in (0, 1)),
  cancel_purchases integer not null check (cancel_purchases in (0, 1)),
  notify_customers integer not null check (notify_customers in (0, 1)),
  reason text not null,
  message text not null,
  -- What the dry run found, and what was requested since: each with the purchases that it left out.
  counted text not null check (json_valid(counted)),
  customers_count integer not null default 0,
  requested text not null check (json_valid(requested)),
  -- The last order that was looked at; null before the first.
  cursor_created_at integer,
  cursor_seq integer,
  -- When there is something to do; null when there is not.
  due_at integer,
  lease_until integer,
  source text not null,
  created_by text not null,
  started_by text,
  started_at integer,
  ended_at integer,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;

create index refund_batches_of_edition on refund_batches (edition_id, created_at, id);
create index refund_batches_due on refund_batches (due_at) where due_at is not null;

-- The customers of a dry run, so that each is counted once. They go when it has ended.
create table refund_batch_customers (
  batch_id text not null references refund_batches (id),
  user_id text not null,
  primary key (batch_id, user_id)
) strict, without rowid;

-- An order gets one request of a batch, whatever comes twice.
create unique index refund_requests_of_batch on refund_requests (batch_id, order_id) where batch_id is not null;

-- How the requests of each batch stand, so that nobody has to count them.
create table refund_batch_totals (
  batch_id text not null references refund_batches (id),
  currency text not null,
  status text not null,
  needs_attention integer not null,
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
