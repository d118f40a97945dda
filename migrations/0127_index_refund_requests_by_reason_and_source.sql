-- A reason or a source that few requests have was looked for among all requests of an edition. A filter by one of them merges
-- the ranges of the other. The status is not in it, because each of its changes would write the entry again.
create index refund_requests_by_reason on refund_requests (edition_id, reason, source, created_at, id);
