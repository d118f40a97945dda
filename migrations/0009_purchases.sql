-- The units bought with orders, and their uses.

-- One row per unit bought.
create table purchases (
  id text primary key,
  edition_id text not null references editions (id),
  order_id text not null references orders (id),
  user_id text not null references users (id),
  product_id text not null references products (id),
  variant_id text references variants (id),
  location_id text references locations (id),
  options text not null default '[]' check (json_valid(options)),
  vendor_code text,
  status text not null,
  -- Price, deposit and handling fee are what was paid, after the order's discount.
  price_minor integer not null,
  deposit_minor integer not null,
  handling_fee_minor integer not null,
  refunded_minor integer not null default 0 check (refunded_minor >= 0),
  reserved_minor integer not null default 0 check (reserved_minor >= 0),
  uses_limit integer not null default 1,
  uses_count integer not null default 0,
  is_unlimited_use integer not null default 0 check (is_unlimited_use in (0, 1)),
  -- When the purchase ends; null for one that does not end by itself.
  valid_until integer,
  metadata text not null default '{}',
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- Finds an order's purchases, and checks references when an order is deleted.
create index purchases_of_order on purchases (order_id);
-- Serves segment conditions on what a person bought, and erasures.
create index purchases_of_user on purchases (user_id, product_id, status);
-- Finds the purchases of a variant before it is deleted. SQLite also checks the reference by it.
create index purchases_of_variant on purchases (variant_id) where variant_id is not null;
-- Finds purchases that have ended, which a sweep marks as expired.
create index purchases_due on purchases (valid_until) where status = 'active' and valid_until is not null;
-- Finds the purchases of a location before it is deleted.
create index purchases_of_location on purchases (location_id) where location_id is not null;
-- Serves lists of an edition, or of all editions of an organization, by creation. It has the columns that the filters of
-- the list compare, so that only the rows of the page are read.
create index purchases_edition_created on purchases
  (edition_id, created_at, id, status, product_id, user_id, uses_count, vendor_code);
-- Finds a scanned code, or codes by their beginning. Tickets of one kind may share a code, and all codes of an edition may
-- begin alike, so lists of them, and of the orders that have them, read nothing but the index.
create index purchases_edition_code on purchases
  (edition_id, vendor_code collate nocase, created_at, id, status, product_id, user_id, uses_count, order_id)
  where vendor_code is not null;

-- Uses of a purchase: a scan at an entrance, a meal handed out. A reverted use stays as a record.
create table purchase_uses (
  id text primary key,
  purchase_id text not null references purchases (id),
  quantity integer not null check (quantity > 0),
  location_id text references locations (id),
  used_at integer not null,
  reverted_at integer,
  -- The accounts that recorded and reverted the use.
  created_by text,
  reverted_by text,
  created_at integer not null
) strict, without rowid;
-- Serves the uses of a purchase in order.
create index purchase_uses_of_purchase on purchase_uses (purchase_id, used_at, id);
-- Finds the uses at a location before it is deleted.
create index purchase_uses_of_location on purchase_uses (location_id) where location_id is not null;

-- A transaction that has read the catalogue before a product was merged must not sell it any more: it reads again.
create trigger purchase_of_merged_product before insert on purchases
  when exists (select 1 from products where id = new.product_id and merged_into_id is not null)
begin
  select raise(abort, 'FOREIGN KEY constraint failed');
end;

create trigger purchase_moved_to_merged_product before update of product_id on purchases
  when new.product_id <> old.product_id and exists (
    select 1 from products where id = new.product_id and merged_into_id is not null)
begin
  select raise(abort, 'FOREIGN KEY constraint failed');
end;

create trigger cart_of_merged_product before insert on orders
  when exists (select 1 from product_merges where edition_id = new.edition_id and instr(new.cart, id))
begin
  select raise(abort, 'FOREIGN KEY constraint failed');
end;

-- A cart that has the merged product already is moved later.
create trigger cart_changed_to_merged_product before update of cart on orders
  when exists (select 1 from product_merges
    where edition_id = new.edition_id and instr(new.cart, id) and not instr(old.cart, id))
begin
  select raise(abort, 'FOREIGN KEY constraint failed');
end;
