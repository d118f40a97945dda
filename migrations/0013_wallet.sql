-- Passes for the wallets of phones.

-- How passes look. A design without a product is for every product that has none of its own.
create table pass_designs (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  product_id text references products (id),
  name text not null,
  design text not null default '{}' check (json_valid(design)),
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- Finds the design for a product.
create index pass_designs_of_edition on pass_designs (edition_id, product_id);

-- One row per pass.
create table wallet_passes (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  purchase_id text not null references purchases (id),
  platform text not null,
  -- The vendor of the platform when the pass was issued. Events name it.
  provider text not null,
  serial_number text not null unique,
  -- SHA-256 of the token that a phone shows to the web service; null on platforms without one, and after an erasure.
  token_hash text,
  status text not null,
  -- How many phones hold the pass.
  registrations_count integer not null default 0 check (registrations_count >= 0),
  added_at integer,
  removed_at integer,
  -- Expiry of the last callback that counted. An older one comes too late.
  callback_expires_at integer,
  -- Rises with every change of any pass, so that a phone can ask for what changed since.
  change_number integer not null,
  -- Moves by at least a second, because HTTP dates have whole seconds.
  changed_at integer not null,
  -- When the platform is told of the last change; null when it knows.
  due_at integer,
  claimed_until integer,
  attempts integer not null default 0,
  update_error text,
  voided_at integer,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- A purchase has at most one active pass per platform.
create unique index wallet_passes_active on wallet_passes (purchase_id, platform) where status = 'active';
-- Serves the passes of a purchase.
create index wallet_passes_of_purchase on wallet_passes (purchase_id, created_at, id);
-- Finds what changed since a number, and the highest number.
create index wallet_passes_by_change on wallet_passes (change_number);
-- Finds passes whose platform has to be told of a change.
create index wallet_passes_due on wallet_passes (due_at) where due_at is not null;

-- Phones that ask for the changes of a pass.
create table wallet_registrations (
  pass_id text not null references wallet_passes (id),
  device_id text not null,
  push_token text not null,
  -- The change that the phone was last told of.
  notified_number integer not null,
  created_at integer not null,
  modified_at integer not null,
  primary key (pass_id, device_id)
) strict, without rowid;
-- Finds the passes of a phone.
create index wallet_registrations_of_device on wallet_registrations (device_id, pass_id);
-- Finds phones that were not told of the last change.
create index wallet_registrations_to_notify on wallet_registrations (pass_id, notified_number);

-- Callbacks that were processed, until they expire, so that each nonce counts once.
create table wallet_callbacks (
  nonce_hash text primary key,
  pass_id text not null references wallet_passes (id),
  event text not null,
  expires_at integer not null,
  created_at integer not null
) strict, without rowid;
-- Finds expired callbacks, which a sweep deletes.
create index wallet_callbacks_by_expiry on wallet_callbacks (expires_at);

-- Root keys that callbacks are verified with in development and tests, where the platform is not asked for its own.
create table captured_wallet_keys (
  key_value text primary key,
  expires_at integer not null
) strict, without rowid;
