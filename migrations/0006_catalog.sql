-- Products that an edition sells, and places where they are picked up.

-- Categories of products.
create table categories (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  name text not null,
  name_key text not null,
  name_folded text not null,
  name_translations text not null default '{}' check (json_valid(name_translations)),
  position integer not null default 0,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  unique (edition_id, name_folded)
) strict, without rowid;
-- Serves the categories of an edition in their order.
create index categories_of_edition on categories (edition_id, position, id);
-- Serves the categories of an organization in their order.
create index categories_of_organization on categories (organization_id, position, id);

-- Products. Imports create products by name; their other fields are filled in later.
create table products (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  category_id text references categories (id),
  name text not null,
  name_folded text not null,
  name_translations text not null default '{}' check (json_valid(name_translations)),
  -- Null until a price is set: an import knows what was paid, not what it costs.
  price_minor integer check (price_minor >= 0),
  deposit_minor integer check (deposit_minor >= 0),
  is_variant_required integer not null default 0 check (is_variant_required in (0, 1)),
  is_pickup_required integer not null default 0 check (is_pickup_required in (0, 1)),
  is_wallet_enabled integer not null default 0 check (is_wallet_enabled in (0, 1)),
  -- File ids in the order in which they are shown.
  images text not null default '[]' check (json_type(images) = 'array'),
  is_draft integer not null default 0 check (is_draft in (0, 1)),
  created_at integer not null,
  unique (edition_id, name_folded)
) strict, without rowid;

-- Finds the products of a category before it is deleted.
create index products_of_category on products (category_id) where category_id is not null;

-- Images of products, one row per file id in `products.images`, so that a file in use is found by an index and not
-- deleted.
create table product_images (
  product_id text not null references products (id) on delete cascade,
  file_id text not null references files (id),
  primary key (product_id, file_id)
) strict, without rowid;
-- Finds what uses a file before the file is deleted.
create index product_images_by_file on product_images (file_id);

-- Variants of a product, such as a size.
create table variants (
  id text primary key,
  product_id text not null references products (id),
  name text not null,
  name_folded text not null,
  is_active integer not null default 1 check (is_active in (0, 1)),
  created_at integer not null,
  unique (product_id, name_folded)
) strict, without rowid;

-- Options of a product that change its price.
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

-- Places where purchases are picked up or used.
create table locations (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  name text not null,
  name_key text not null,
  name_folded text not null,
  is_draft integer not null default 0 check (is_draft in (0, 1)),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  unique (edition_id, name_folded)
) strict, without rowid;
-- Serves the locations of an organization.
create index locations_of_organization on locations (organization_id, name_key, id);

-- A product shows images of its own organization only.
create trigger product_images_added after insert on products when new.images <> '[]'
begin
  select raise(abort, 'FOREIGN KEY constraint failed') where exists (
    select 1 from json_each(new.images) as listed left join files on files.id = listed.value
    where files.organization_id is not new.organization_id or files.purpose is not 'image');
  insert into product_images (product_id, file_id) select distinct new.id, value from json_each(new.images);
end;

create trigger product_images_changed after update of images on products when new.images <> old.images
begin
  select raise(abort, 'FOREIGN KEY constraint failed') where exists (
    select 1 from json_each(new.images) as listed left join files on files.id = listed.value
    where files.organization_id is not new.organization_id or files.purpose is not 'image');
  delete from product_images where product_id = new.id;
  insert into product_images (product_id, file_id) select distinct new.id, value from json_each(new.images);
end;
