-- Intervals of deliveries count by the edition of the event, too: `of_editions` has the numbers of all statuses and editions
-- ('success edt_…', 'success -' without an edition) as JSON. Null where they are not known: a sweep counts such intervals
-- anew. Nothing else is written: what writes the counts by status writes these in the same row.
alter table delivery_intervals add column of_editions text;
create index delivery_intervals_without_editions on delivery_intervals (scope, ordering) where of_editions is null;

-- The version before counts by status alone.
create trigger delivery_intervals_counted_before
  after update of pending, retrying, success, failed, exhausted on delivery_intervals
  when new.of_editions is old.of_editions and new.of_editions is not null
    and (new.pending, new.retrying, new.success, new.failed, new.exhausted)
      is not (old.pending, old.retrying, old.success, old.failed, old.exhausted)
begin
  update delivery_intervals set of_editions = null
    where (scope, ordering, value, created_at, id) = (new.scope, new.ordering, new.value, new.created_at, new.id);
end;

drop trigger webhook_deliveries_changed_in_intervals;
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
      exhausted = exhausted - (old.status = 'exhausted'),
      of_editions = (select json_set(of_editions, path, coalesce(of_editions ->> path, 0) - 1) from (
        select '$."' || old.status || ' ' || coalesce((select edition_id from webhook_events where id = old.event_id), '-')
          || '"' as path limit 1))
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
      exhausted = exhausted + (new.status = 'exhausted'),
      of_editions = (select json_set(of_editions, path, coalesce(of_editions ->> path, 0) + 1) from (
        select '$."' || new.status || ' ' || coalesce((select edition_id from webhook_events where id = new.event_id), '-')
          || '"' as path limit 1))
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
