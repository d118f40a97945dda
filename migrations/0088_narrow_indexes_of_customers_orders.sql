-- A customer belongs to one organisation, so that its indexes of orders and purchases need none. Every index ends with the rowid,
-- which is seq.
drop index orders_of_user;
create index orders_of_user on orders (user_id, created_at, seq, status, amount_minor);

drop index purchases_of_user;
create index purchases_of_user on purchases (user_id, product_id, status);

drop index orders_edition_created;
create index orders_edition_created on orders (edition_id, created_at);
