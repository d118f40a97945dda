-- A list of a status or a type is read in any order without the orders of others. Lists of all of them merge twelve ranges.
drop index orders_edition_modified;
create index orders_edition_modified on orders (edition_short_id, status, type, modified_at, created_at);
drop index orders_edition_number;
create index orders_edition_number on orders (edition_short_id, status, type, number_key, created_at);
drop index orders_edition_amount;
create index orders_edition_amount on orders (edition_short_id, status, type, amount_minor, created_at);
