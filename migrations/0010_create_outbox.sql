-- What the capture gateways were given instead of a provider. Calls with a key that is known keep nothing again.
create table captured_messages (
  seq integer primary key,
  id text not null unique,
  channel text not null,
  call_key text not null,
  position integer not null,
  reference text not null,
  sender text not null,
  recipient text not null,
  reply_to text,
  subject text not null default '',
  html text not null default '',
  body text not null,
  headers text not null default '{}' check (json_valid(headers)),
  created_at integer not null,
  unique (channel, call_key, position)
) strict;

create index captured_messages_of_recipient on captured_messages (recipient, seq);

-- Messages that follow from what somebody did, one row a message: receipts of orders.
create table transactional_emails (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  order_id text not null references orders (id),
  user_id text not null references users (id),
  kind text not null,
  email_message_id text not null,
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
  unique (order_id, kind)
) strict, without rowid;

create index transactional_emails_due on transactional_emails (next_attempt_at) where status = 'pending';
