-- Every index of these tables ends with the rowid, which is seq. Where seq also stood among the columns, it was stored
-- twice, and a comparison of a cursor's keys did not reach it: each page read all rows of one moment again.
drop index users_order_created;
create index users_order_created on users (organization_id, created_at);
drop index users_order_phone;
create index users_order_phone on users (organization_id, phone_number);
drop index users_order_seen;
create index users_order_seen on users (organization_id, last_seen_at);

drop index campaigns_by_created;
create index campaigns_by_created on campaigns (organization_id, created_at);
drop index campaigns_of_edition;
create index campaigns_of_edition on campaigns (edition_id, created_at);

drop index segments_by_created;
create index segments_by_created on segments (organization_id, created_at) where deleted_at is null;
drop index segments_of_edition;
create index segments_of_edition on segments (edition_id, created_at) where deleted_at is null and edition_id is not null;
