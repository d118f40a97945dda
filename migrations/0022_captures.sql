-- What stands for the outside world in development and tests: records and answers of gateways, and a clock that moves.

-- Calls that the capture gateways recorded instead of sending. A repeated call with the same key records nothing.
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
-- Serves the mailbox of a recipient.
create index captured_messages_of_recipient on captured_messages (recipient, seq);

-- Records that the capture gateway for DNS returns, in development and tests.
create table captured_dns_records (
  name text not null,
  value text not null,
  primary key (name, value)
) strict, without rowid;

-- Root keys that callbacks are verified with in development and tests, where the platform is not asked for its own.
create table captured_wallet_keys (
  key_value text primary key,
  expires_at integer not null
) strict, without rowid;

-- The clock in development: one row, once `POST /dev/clock` has moved it.
create table dev_clock (
  id integer primary key check (id = 1),
  -- The clock is this much ahead of the machine's.
  offset_ms integer not null check (offset_ms >= 0)
) strict;
