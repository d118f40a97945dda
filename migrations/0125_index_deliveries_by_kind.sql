-- Deliveries of an endpoint in the order of their kinds read all of them. The indexes of lists now have them by kind, and
-- a list in the order of creation merges the kinds, which are few. A delivery writes as many entries as before.
drop index webhook_deliveries_of_endpoint;
create index webhook_deliveries_of_endpoint on webhook_deliveries (endpoint_id, kind, created_at, id);

drop index webhook_deliveries_lost;
create index webhook_deliveries_lost on webhook_deliveries (endpoint_id, status, kind, created_at, id)
  where status in ('failed', 'exhausted');

-- In the order of their last changes they were all read, too. Most change for the last time soon after they were made, so
-- that the order of creation leads to them. This index has the others: a change later than five minutes writes an entry more.
create index webhook_deliveries_late on webhook_deliveries (endpoint_id, modified_at, id)
  where modified_at not between created_at and created_at + 300000;
