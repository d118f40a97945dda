-- Purchases of an edition are read as those of each status, which the index of statuses has in the order of the list.
drop index purchases_edition_created;

-- Requests of an organisation are read through the indexes of its editions, which have one for each order of the list.
drop index refund_requests_of_organization;
create index refund_requests_by_modified on refund_requests (edition_id, modified_at);
create index refund_requests_by_amount on refund_requests (edition_id, requested_minor);
create index refund_requests_by_status on refund_requests (edition_id, status, created_at);
