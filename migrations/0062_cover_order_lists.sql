-- Lists of orders are filtered by status and type in every order: each index of an order has both, so that a page reads the
-- row of no order that it does not show.
drop index orders_edition_modified;
create index orders_edition_modified on orders (edition_id, modified_at, created_at, seq, status, type);
drop index orders_edition_number;
create index orders_edition_number on orders (edition_id, number_key, created_at, seq, status, type);
drop index orders_edition_amount;
create index orders_edition_amount on orders (edition_id, amount_minor, created_at, seq, status, type);
drop index orders_edition_status;
create index orders_edition_status on orders (edition_id, status, created_at, seq, type);
drop index orders_edition_type;
create index orders_edition_type on orders (edition_id, type, created_at, seq, status);
