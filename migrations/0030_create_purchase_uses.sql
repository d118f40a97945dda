-- Each use of a purchase: a scan at an entrance, a meal that was handed out. One that was reverted stays as a record.
create table purchase_uses (
  id text primary key,
  purchase_id text not null references purchases (id),
  quantity integer not null check (quantity > 0),
  location_id text references locations (id),
  used_at integer not null,
  reverted_at integer,
  created_at integer not null
) strict, without rowid;

create index purchase_uses_of_purchase on purchase_uses (purchase_id, used_at, id);

-- The instant from which the purchase is no longer valid; null for one that does not end by itself.
alter table purchases add column valid_until integer;

create index purchases_due on purchases (valid_until) where status = 'active' and valid_until is not null;

create index purchases_edition_created on purchases (edition_id, created_at);
create index purchases_edition_status on purchases (edition_id, status, created_at);
-- A code is looked up at the door: by all of it, or by its beginning. Tickets of one kind may share theirs.
create index purchases_edition_code on purchases (edition_id, vendor_code collate nocase, created_at)
  where vendor_code is not null;
