-- The root keys that callbacks are verified by while nobody asks the platform for its own: development and tests.
create table captured_wallet_keys (
  key_value text primary key,
  expires_at integer not null
) strict, without rowid;
