-- Messages by which people confirm consents are sent as receipts are. They belong to no order, and where the consent is
-- the whole organisation's to no edition; what they say is kept with them.
create table transactional_emails_new (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  order_id text references orders (id),
  user_id text not null references users (id),
  kind text not null,
  email_message_id text,
  -- The answer that the message asks to confirm, by its id, and by its key with the wording that is shown.
  consent_record_id text,
  confirmation text check (json_valid(confirmation)),
  language text not null,
  recipient text not null,
  status text not null,
  attempts integer not null default 0,
  next_attempt_at integer,
  lease_until integer,
  -- What is handed to the provider, from just before the first call until the end: a repeated call is the same call.
  content text check (json_valid(content)),
  provider text,
  first_call_at integer,
  -- A call was made whose answer never came.
  is_doubtful integer not null default 0 check (is_doubtful in (0, 1)),
  provider_id text,
  error_code text,
  error_detail text not null default '',
  sent_at integer,
  created_at integer not null,
  modified_at integer not null,
  check (case kind when 'receipt' then order_id is not null and email_message_id is not null and edition_id is not null
    else consent_record_id is not null and confirmation is not null end),
  unique (order_id, kind)
) strict, without rowid;

insert into transactional_emails_new (id, organization_id, edition_id, order_id, user_id, kind, email_message_id, language,
    recipient, status, attempts, next_attempt_at, lease_until, content, provider, first_call_at, is_doubtful, provider_id,
    error_code, error_detail, sent_at, created_at, modified_at)
  select id, organization_id, edition_id, order_id, user_id, kind, email_message_id, language, recipient, status, attempts,
    next_attempt_at, lease_until, content, provider, first_call_at, is_doubtful, provider_id, error_code, error_detail,
    sent_at, created_at, modified_at
  from transactional_emails;

drop table transactional_emails;
alter table transactional_emails_new rename to transactional_emails;

create index transactional_emails_due on transactional_emails (next_attempt_at) where status = 'pending';
create index transactional_emails_of_user on transactional_emails (user_id);
create index transactional_emails_of_consent_record on transactional_emails (consent_record_id, created_at)
  where consent_record_id is not null;
