-- Lead to a page of deliveries by its number in the orders of the last change and of the kind, as `order_intervals` to one of
-- orders: an interval counts the settled deliveries of an endpoint from its key (the value of the ordering, the moment of
-- creation in the order of kinds, the id of the delivery) up to the key of the next one, by status. The first interval of each
-- ordering begins before all deliveries.
create table delivery_intervals (
  -- An endpoint.
  scope text not null,
  ordering text not null check (ordering in ('modified', 'name')),
  value any not null,
  created_at integer not null,
  id text not null,
  pending integer not null default 0,
  retrying integer not null default 0,
  success integer not null default 0,
  failed integer not null default 0,
  exhausted integer not null default 0,
  primary key (scope, ordering, value, created_at, id)
) strict, without rowid;

-- Deliveries are settled, that is counted here, when they are 15 minutes old, by their creation: `settled_lists` says of an
-- endpoint up to which moment. One that changes earlier than after ten cannot have been counted, so that almost all deliveries
-- end without a look here. A settled one that changes moves to the interval of its new moment; in the order of kinds it stays
-- where it is. `+` takes the type of a value away: it is compared as it is, and the primary key is used. Retention takes what
-- it deletes from the intervals by itself.
create trigger webhook_deliveries_changed_in_intervals after update of status, modified_at on webhook_deliveries
  when new.modified_at >= new.created_at + 600000
    and (new.status, new.modified_at) is not (old.status, old.modified_at)
    and new.created_at < (select until from settled_lists where list = 'delivery_intervals' and scope = new.endpoint_id)
begin
  update delivery_intervals set
      pending = pending - (old.status = 'pending'),
      retrying = retrying - (old.status = 'retrying'),
      success = success - (old.status = 'success'),
      failed = failed - (old.status = 'failed'),
      exhausted = exhausted - (old.status = 'exhausted')
    where (scope, ordering, value, created_at, id) in (
      select one.scope, one.ordering, one.value, one.created_at, one.id
        from (select 'modified' as ordering, old.modified_at as value, 0 as created_at
            union all select 'name', old.kind, old.created_at where new.status <> old.status) as keys
          cross join delivery_intervals as one on one.scope = old.endpoint_id and one.ordering = keys.ordering
            and (one.value, one.created_at, one.id) = (
              select value, created_at, id from delivery_intervals as former
                where former.scope = old.endpoint_id and former.ordering = keys.ordering
                  and (former.value, former.created_at, former.id) <= (+keys.value, +keys.created_at, +old.id)
                order by former.value desc, former.created_at desc, former.id desc limit 1));
  update delivery_intervals set
      pending = pending + (new.status = 'pending'),
      retrying = retrying + (new.status = 'retrying'),
      success = success + (new.status = 'success'),
      failed = failed + (new.status = 'failed'),
      exhausted = exhausted + (new.status = 'exhausted')
    where (scope, ordering, value, created_at, id) in (
      select one.scope, one.ordering, one.value, one.created_at, one.id
        from (select 'modified' as ordering, new.modified_at as value, 0 as created_at
            union all select 'name', new.kind, new.created_at where new.status <> old.status) as keys
          cross join delivery_intervals as one on one.scope = new.endpoint_id and one.ordering = keys.ordering
            and (one.value, one.created_at, one.id) = (
              select value, created_at, id from delivery_intervals as former
                where former.scope = new.endpoint_id and former.ordering = keys.ordering
                  and (former.value, former.created_at, former.id) <= (+keys.value, +keys.created_at, +new.id)
                order by former.value desc, former.created_at desc, former.id desc limit 1));
end;

drop trigger webhook_endpoints_uncounted;
create trigger webhook_endpoints_uncounted after delete on webhook_endpoints
begin
  delete from list_spans where list = 'webhook_deliveries' and scope = old.id;
  delete from list_span_parts where list = 'webhook_deliveries' and scope = old.id;
  delete from delivery_intervals where scope = old.id;
  delete from settled_lists where list in ('webhook_deliveries', 'delivery_intervals') and scope = old.id;
end;

-- Those that ended without success, in the order of their last changes. One that arrives writes nothing here.
create index webhook_deliveries_lost_by_change on webhook_deliveries (endpoint_id, status, modified_at, id)
  where status in ('failed', 'exhausted');
