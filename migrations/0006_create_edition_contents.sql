-- What an edition offers. Products, variants, options and locations stand since 0003; imports go on making them bare.
create table categories (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  name text not null,
  name_translations text not null default '{}' check (json_valid(name_translations)),
  position integer not null default 0,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;

create index categories_of_edition on categories (edition_id, position, id);

alter table products add column category_id text references categories (id);
alter table products add column name_translations text not null default '{}' check (json_valid(name_translations));
-- Null until somebody sets a price: an import knows what was paid, not what it costs.
alter table products add column price_minor integer check (price_minor >= 0);
alter table products add column deposit_minor integer check (deposit_minor >= 0);
alter table products add column is_variant_required integer not null default 0 check (is_variant_required in (0, 1));
alter table products add column is_pickup_required integer not null default 0 check (is_pickup_required in (0, 1));
alter table products add column is_wallet_enabled integer not null default 0 check (is_wallet_enabled in (0, 1));

alter table variants add column is_active integer not null default 1 check (is_active in (0, 1));

-- How passes for wallets look; without a product, those of every product that has no design of its own.
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

create index pass_designs_of_edition on pass_designs (edition_id, product_id);

-- Few rows ever: those of imports that nobody goes on with.
create index data_imports_in_mapping on data_imports (edition_id, modified_at)
  where status in ('mapping_columns', 'mapping_products');
