-- One index has the orders of each status and type. A filter by one of them merges the values of the other.
drop index orders_edition_type;
drop index orders_edition_status;
create index orders_edition_status on orders (edition_id, status, type, created_at);
