-- Indexes of an edition begin with the end of its id, which no other edition has: 22 bytes less in each entry.
alter table orders add column edition_short_id text not null generated always as (substr(edition_id, -8)) virtual;
drop index orders_by_external_id;
create unique index orders_by_external_id on orders (edition_short_id, external_id, external_source)
  where external_id is not null;
drop index orders_edition_created;
create index orders_edition_created on orders (edition_short_id, created_at);
drop index orders_edition_modified;
create index orders_edition_modified on orders (edition_short_id, modified_at, created_at, seq, status, type);
drop index orders_edition_number;
create index orders_edition_number on orders (edition_short_id, number_key, created_at, seq, status, type);
drop index orders_edition_amount;
create index orders_edition_amount on orders (edition_short_id, amount_minor, created_at, seq, status, type);
drop index orders_edition_status;
create index orders_edition_status on orders (edition_short_id, status, type, created_at);

alter table purchases add column edition_short_id text not null generated always as (substr(edition_id, -8)) virtual;
drop index purchases_edition_status;
create index purchases_edition_status on purchases (edition_short_id, status, created_at);
drop index purchases_edition_code;
create index purchases_edition_code on purchases (edition_short_id, vendor_code collate nocase, created_at)
  where vendor_code is not null;
