-- A list of the deliveries of a status, or of several editions, read each combination of status and edition in each span. Now
-- `counts` has the sum for each filter by one of them too, as those of the audit log: {"success edt_1": 12, "success,*": 12,
-- "*,edt_1": 12, "*,*": 12}. Of a span whose sum of everything is not `total`, as the version before leaves it, the combinations
-- are read until a night counts it anew.
update list_spans set counts = json_patch(counts, (
  select json_group_object(name, n) from (
    select iif(shown.value & 1, substr(facet.key, 1, instr(facet.key, ' ') - 1), '*') || ','
        || iif(shown.value & 2, substr(facet.key, instr(facet.key, ' ') + 1), '*') as name, sum(facet.value) as n
    from json_each(list_spans.counts) as facet cross join json_each('[0,1,2]') as shown
    group by 1)))
where list = 'webhook_deliveries' and counts <> '{}';

update list_span_parts set counts = json_patch(counts, (
  select json_group_object(name, n) from (
    select iif(shown.value & 1, substr(facet.key, 1, instr(facet.key, ' ') - 1), '*') || ','
        || iif(shown.value & 2, substr(facet.key, instr(facet.key, ' ') + 1), '*') as name, sum(facet.value) as n
    from json_each(list_span_parts.counts) as facet cross join json_each('[0,1,2]') as shown
    group by 1)))
where list = 'webhook_deliveries' and counts <> '{}';

drop trigger webhook_deliveries_recounted;
create trigger webhook_deliveries_recounted after update of status on webhook_deliveries
  when new.status <> old.status and new.modified_at >= new.created_at + 600000
    and new.created_at < (select until from settled_lists where list = 'webhook_deliveries' and scope = new.endpoint_id)
begin
  update list_spans set counts = json_set(counts,
      '$."' || old.status || ' ' || coalesce((select edition_id from webhook_events where id = old.event_id), '-') || '"', coalesce(counts ->> ('$."' || old.status || ' ' || coalesce((select edition_id from webhook_events where id = old.event_id), '-') || '"'), 0) - 1,
      '$."' || new.status || ' ' || coalesce((select edition_id from webhook_events where id = new.event_id), '-') || '"', coalesce(counts ->> ('$."' || new.status || ' ' || coalesce((select edition_id from webhook_events where id = new.event_id), '-') || '"'), 0) + 1,
      '$."' || old.status || ',*"', coalesce(counts ->> ('$."' || old.status || ',*"'), 0) - 1,
      '$."' || new.status || ',*"', coalesce(counts ->> ('$."' || new.status || ',*"'), 0) + 1)
    where list = 'webhook_deliveries' and scope = new.endpoint_id and span = new.created_at >> 28;
  update list_span_parts set counts = json_set(counts,
      '$."' || old.status || ' ' || coalesce((select edition_id from webhook_events where id = old.event_id), '-') || '"', coalesce(counts ->> ('$."' || old.status || ' ' || coalesce((select edition_id from webhook_events where id = old.event_id), '-') || '"'), 0) - 1,
      '$."' || new.status || ' ' || coalesce((select edition_id from webhook_events where id = new.event_id), '-') || '"', coalesce(counts ->> ('$."' || new.status || ' ' || coalesce((select edition_id from webhook_events where id = new.event_id), '-') || '"'), 0) + 1,
      '$."' || old.status || ',*"', coalesce(counts ->> ('$."' || old.status || ',*"'), 0) - 1,
      '$."' || new.status || ',*"', coalesce(counts ->> ('$."' || new.status || ',*"'), 0) + 1)
    where (list, scope, bits, span) in (select 'webhook_deliveries', new.endpoint_id, value, new.created_at >> value
      from json_each('[24,21,18,15,12,9,6,3,0]'));
end;
