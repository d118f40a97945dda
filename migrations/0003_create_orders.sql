-- Customers of an organisation. `seq` is the order of creation and the row of a later search index.
create table users (
  seq integer primary key,
  id text not null unique,
  organization_id text not null references organizations (id),
  email text,
  phone_number text,
  first_name text not null default '',
  last_name text not null default '',
  locale text not null,
  msg_channel text not null,
  is_verified integer not null default 0 check (is_verified in (0, 1)),
  is_active integer not null default 1 check (is_active in (0, 1)),
  metadata text not null default '{}' check (json_valid(metadata)),
  email_folded text not null default '',
  phone_digits text not null default '',
  search text not null,
  last_seen_at integer,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  check (email is not null or phone_number is not null)
) strict;

create unique index users_by_email on users (organization_id, email) where email is not null;
create unique index users_by_phone_only on users (organization_id, phone_number) where email is null;
create index users_order_created on users (organization_id, created_at, seq);
create index users_order_email on users (organization_id, coalesce(email, ''), seq);
create index users_order_phone on users (organization_id, coalesce(phone_number, ''), seq);
create index users_order_seen on users (organization_id, coalesce(last_seen_at, 0), seq);

-- In which editions a customer has bought.
create table user_editions (
  edition_id text not null references editions (id),
  user_id text not null references users (id),
  created_at integer not null,
  primary key (edition_id, user_id)
) strict, without rowid;

create index user_editions_of_user on user_editions (user_id);

create table products (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  name text not null,
  name_folded text not null,
  is_draft integer not null default 0 check (is_draft in (0, 1)),
  created_at integer not null,
  unique (edition_id, name_folded)
) strict, without rowid;

create table variants (
  id text primary key,
  product_id text not null references products (id),
  name text not null,
  name_folded text not null,
  created_at integer not null,
  unique (product_id, name_folded)
) strict, without rowid;

create table options (
  id text primary key,
  product_id text not null references products (id),
  name text not null,
  name_folded text not null,
  price_mod_minor integer not null default 0,
  deposit_mod_minor integer not null default 0,
  created_at integer not null,
  unique (product_id, name_folded)
) strict, without rowid;

create table locations (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  name text not null,
  name_folded text not null,
  is_draft integer not null default 0 check (is_draft in (0, 1)),
  created_at integer not null,
  unique (edition_id, name_folded)
) strict, without rowid;

create table orders (
  seq integer primary key,
  id text not null unique,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  user_id text not null references users (id),
  order_number text,
  type text not null,
  status text not null,
  amount_minor integer not null check (amount_minor >= 0),
  currency text not null,
  items_count integer not null,
  has_payment integer not null check (has_payment in (0, 1)),
  completed_transaction_id text,
  metadata text not null default '{}' check (json_valid(metadata)),
  external_source text,
  external_id text,
  number_folded text not null default '',
  -- Order number, order id and transaction ids; `search` adds the customer's address and number.
  search_own text not null,
  search text not null,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict;

create unique index orders_by_external_id on orders (edition_id, external_source, external_id)
  where external_id is not null;

-- One index an ordering for each of the two wide scopes. Equal keys follow the time of creation.
create index orders_edition_created on orders (edition_id, created_at, seq);
create index orders_edition_modified on orders (edition_id, modified_at, created_at, seq);
create index orders_edition_number on orders (edition_id, coalesce(order_number, ''), created_at, seq);
create index orders_edition_status on orders (edition_id, status, created_at, seq);
create index orders_edition_type on orders (edition_id, type, created_at, seq);
create index orders_edition_amount on orders (edition_id, amount_minor, created_at, seq);
create index orders_organization_created on orders (organization_id, created_at, seq);
create index orders_organization_modified on orders (organization_id, modified_at, created_at, seq);
create index orders_organization_number on orders (organization_id, coalesce(order_number, ''), created_at, seq);
create index orders_organization_status on orders (organization_id, status, created_at, seq);
create index orders_organization_type on orders (organization_id, type, created_at, seq);
create index orders_organization_amount on orders (organization_id, amount_minor, created_at, seq);
create index orders_of_user on orders (user_id, created_at, seq);

create table carts (
  order_id text primary key references orders (id),
  id text not null unique,
  status text not null,
  coupon_code text,
  subtotal_minor integer not null,
  deposit_minor integer not null,
  handling_fee_minor integer not null,
  service_fee_minor integer not null,
  discount_minor integer not null,
  tax_minor integer not null,
  total_minor integer not null,
  created_at integer not null
) strict, without rowid;

create table cart_items (
  order_id text not null references orders (id),
  position integer not null,
  id text not null,
  product_id text not null references products (id),
  variant_id text references variants (id),
  location_id text references locations (id),
  -- Options as they were bought: [{api_id, name, price_mod_minor, deposit_mod_minor}].
  options text not null default '[]' check (json_valid(options)),
  quantity integer not null check (quantity > 0),
  price_minor integer not null,
  deposit_minor integer not null,
  handling_fee_minor integer not null,
  primary key (order_id, position)
) strict, without rowid;

create table transactions (
  id text primary key,
  order_id text not null references orders (id),
  organization_id text not null,
  type text not null,
  status text not null,
  service text not null,
  amount_minor integer not null,
  currency text not null,
  service_fee_minor integer not null,
  handling_fee_minor integer not null,
  refunded_minor integer not null default 0,
  created_at integer not null
) strict, without rowid;

create index transactions_of_order on transactions (order_id);

-- One row a unit that was bought.
create table purchases (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  order_id text not null references orders (id),
  user_id text not null references users (id),
  product_id text not null references products (id),
  variant_id text references variants (id),
  location_id text references locations (id),
  options text not null default '[]' check (json_valid(options)),
  vendor_code text,
  status text not null,
  price_minor integer not null,
  deposit_minor integer not null,
  handling_fee_minor integer not null,
  uses_limit integer not null default 1,
  uses_count integer not null default 0,
  is_unlimited_use integer not null default 0 check (is_unlimited_use in (0, 1)),
  metadata text not null default '{}',
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;

create index purchases_of_order on purchases (order_id);

create table data_imports (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  account_id text,
  name text not null,
  source text not null,
  external_source text,
  status text not null,
  options text not null check (json_valid(options)),
  total_rows integer not null,
  created_orders integer not null,
  updated_orders integer not null,
  skipped_orders integer not null,
  failed_orders integer not null,
  results text not null check (json_valid(results)),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;

create index data_imports_by_created on data_imports (organization_id, created_at, id);
