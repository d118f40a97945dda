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
  -- A product that was merged has its id here, so that others may take its name.
  name_folded text not null,
  -- The sort key of `name`.
  name_key text not null,
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
  -- The product into which this one was merged. Its row stays, so that its id still leads to that product.
  merged_into_id text references products (id),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  unique (edition_id, name_folded)
) strict, without rowid;
-- Serves the list of an organization's products.
create index products_of_organization on products (organization_id, created_at, id);
-- Finds the products of a category before it is deleted.
create index products_of_category on products (category_id) where category_id is not null;
-- Finds the products that were merged into another one.
create index products_merged on products (merged_into_id) where merged_into_id is not null;

-- Other names by which imports find a product: its former names, those of products that were merged into it, and those
-- that somebody added.
create table product_aliases (
  edition_id text not null references editions (id),
  name_folded text not null,
  product_id text not null references products (id) on delete cascade,
  name text not null,
  created_at integer not null,
  primary key (edition_id, name_folded)
) strict, without rowid;
-- Finds the aliases of a product.
create index product_aliases_of_product on product_aliases (product_id, created_at);

-- Merges of one product into another. The row stays, so that the undo of an import finds what its products are today.
create table product_merges (
  -- The product that was merged.
  id text primary key references products (id),
  edition_id text not null references editions (id),
  into_id text not null references products (id),
  -- The ids of the product and of its variants and options that the other product has too, each with the id that
  -- replaces it.
  ids text not null check (json_valid(ids)),
  -- The last order that was moved. Orders are walked by their creation.
  orders_created_at integer not null default -1,
  orders_seq integer not null default -1,
  -- When the next orders are due; null when all orders are moved.
  due_at integer,
  claimed_until integer,
  merged_at integer not null
) strict, without rowid;
-- Finds the merges of an edition.
create index product_merges_of_edition on product_merges (edition_id);
-- Finds merges whose orders are still being moved.
create index product_merges_due on product_merges (due_at) where due_at is not null;

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

-- src/db/failures.ts takes the text of these triggers for a lost race, like a reference that is gone.

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

-- A name leads to one product, whether it is the name of the product or one of its aliases. An import that has read the
-- catalogue before another transaction took the name reads it again.
create trigger product_named before insert on products
  when exists (select 1 from product_aliases where edition_id = new.edition_id and name_folded = new.name_folded)
begin
  select raise(abort, 'FOREIGN KEY constraint failed');
end;

create trigger product_renamed before update of name_folded on products
  when new.name_folded <> old.name_folded and exists (
    select 1 from product_aliases where edition_id = new.edition_id and name_folded = new.name_folded)
begin
  select raise(abort, 'FOREIGN KEY constraint failed');
end;

create trigger product_alias_added before insert on product_aliases
  when exists (select 1 from products where edition_id = new.edition_id and name_folded = new.name_folded)
begin
  select raise(abort, 'FOREIGN KEY constraint failed');
end;
