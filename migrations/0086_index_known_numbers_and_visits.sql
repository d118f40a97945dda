-- Most customers have no telephone number or were never seen. They write no entry in the index of numbers or visits: the index
-- of the order in which customers joined begins with what they lack, so that it has those in order too.
drop index users_order_created;
drop index users_order_phone;
drop index users_order_seen;

create index users_order_created on users (organization_id, (phone_number is null), (last_seen_at is null), created_at);
create index users_order_phone on users (organization_id, phone_number, created_at) where phone_number is not null;
create index users_order_seen on users (organization_id, last_seen_at, created_at) where last_seen_at is not null;
