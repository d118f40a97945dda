-- Refunds that are paid: their rows among an order's transactions, what providers tell of them, and messages about them.

-- Of a row of type refund: the request that it pays.
alter table transactions add column refund_request_id text references refund_requests (id);
create index transactions_of_refund on transactions (refund_request_id) where refund_request_id is not null;
create index transactions_of_provider on transactions (provider_reference) where provider_reference is not null;

create index refund_requests_of_attention on refund_requests (edition_id) where needs_attention = 1;

-- Webhooks of payment providers that were taken in: each once.
create table payment_events (
  merchant_account_id text not null,
  -- In the provider's words.
  id text not null,
  kind text not null,
  provider_reference text not null,
  created_at integer not null,
  primary key (merchant_account_id, id)
) strict, without rowid;

create index payment_events_by_age on payment_events (created_at);

-- A message about a refund belongs to its request, and through that to an order: an order may have several.
create table transactional_emails_new (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  order_id text references orders (id),
  user_id text not null references users (id),
  kind text not null,
  email_message_id text,
  consent_record_id text,
  confirmation text check (json_valid(confirmation)),
  refund_request_id text references refund_requests (id),
  -- The attempt that the message is about: one that fails late and is made again is confirmed again.
  refund_attempt integer,
  -- What the message says of the refund, as it was then.
  refund text check (json_valid(refund)),
  language text not null,
  recipient text not null,
  status text not null,
  attempts integer not null default 0,
  next_attempt_at integer,
  lease_until integer,
  content text check (json_valid(content)),
  provider text,
  first_call_at integer,
  is_doubtful integer not null default 0 check (is_doubtful in (0, 1)),
  provider_id text,
  error_code text,
  error_detail text not null default '',
  sent_at integer,
  created_at integer not null,
  modified_at integer not null,
  check (case kind when 'receipt' then order_id is not null and email_message_id is not null and edition_id is not null
    when 'consent_confirmation' then consent_record_id is not null and confirmation is not null
    else order_id is null and refund_request_id is not null and refund_attempt is not null and refund is not null end),
  unique (order_id, kind)
) strict, without rowid;

insert into transactional_emails_new (id, organization_id, edition_id, order_id, user_id, kind, email_message_id,
    consent_record_id, confirmation, language, recipient, status, attempts, next_attempt_at, lease_until, content,
    provider, first_call_at, is_doubtful, provider_id, error_code, error_detail, sent_at, created_at, modified_at)
  select id, organization_id, edition_id, order_id, user_id, kind, email_message_id,
    consent_record_id, confirmation, language, recipient, status, attempts, next_attempt_at, lease_until, content,
    provider, first_call_at, is_doubtful, provider_id, error_code, error_detail, sent_at, created_at, modified_at
  from transactional_emails;

drop table transactional_emails;
alter table transactional_emails_new rename to transactional_emails;

create index transactional_emails_due on transactional_emails (next_attempt_at) where status = 'pending';
create index transactional_emails_of_user on transactional_emails (user_id);
create index transactional_emails_of_consent_record on transactional_emails (consent_record_id, created_at)
  where consent_record_id is not null;
create unique index transactional_emails_of_refund on transactional_emails (refund_request_id, kind, refund_attempt)
  where refund_request_id is not null;

-- Several refunds that were paid by hand may have the reference of one transfer.
drop index refund_requests_of_provider;
create unique index refund_requests_of_provider on refund_requests (merchant_account_id, provider_reference)
  where provider_reference is not null and service <> 'manual';
