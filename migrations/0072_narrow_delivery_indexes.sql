-- A delivery writes an entry in each index that it belongs to. One that is under way is found by its lease, and needs no
-- entry among those that wait. One that arrived is found by its endpoint, and needs none by its status.
drop index webhook_deliveries_due;
drop index webhook_deliveries_open;
drop index webhook_deliveries_by_status;

create index webhook_deliveries_due on webhook_deliveries (next_retry_at)
  where status in ('pending', 'retrying') and lease_until is null;
create index webhook_deliveries_open on webhook_deliveries (endpoint_id, event_id)
  where status in ('pending', 'retrying') and lease_until is null;
create index webhook_deliveries_lost on webhook_deliveries (endpoint_id, status, created_at, id)
  where status in ('failed', 'exhausted');
