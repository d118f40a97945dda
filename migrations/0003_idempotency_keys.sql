-- Requests that may be repeated and are executed once.

-- Answers to requests that carried an `Idempotency-Key`, until they expire.
create table idempotency_keys (
  caller_id text not null,
  key_hash text not null,
  fingerprint text not null,
  claim_id text not null,
  claimed_until integer not null,
  expires_at integer not null,
  status integer,
  headers text,
  body text,
  primary key (caller_id, key_hash)
) strict, without rowid;
-- Finds expired keys, which a sweep deletes.
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);
