-- Shorter spans of lists in `list_spans` that have many rows in one of its spans, so that a page by its number begins near its
-- rows. A span of 28 bits with more than 128 rows has parts of 24 bits, such a part has parts of 21 bits, and so on to one
-- millisecond. Together the parts of a span have its rows. The version before counts rows in no parts: where they are fewer
-- than those of their span, they lead nowhere until the night counts them anew.
create table list_span_parts (
  list text not null,
  scope text not null,
  -- `created_at >> bits` is the number of the part.
  bits integer not null,
  span integer not null,
  counts text not null check (json_valid(counts)),
  total integer not null,
  primary key (list, scope, bits, span)
) strict, without rowid;

drop trigger webhook_deliveries_recounted;
create trigger webhook_deliveries_recounted after update of status on webhook_deliveries
  when new.status <> old.status and new.modified_at >= new.created_at + 600000
    and new.created_at < (select until from settled_lists where list = 'webhook_deliveries' and scope = new.endpoint_id)
begin
  update list_spans set counts = json_set(counts,
      '$."' || old.status || ' ' || coalesce((select edition_id from webhook_events where id = old.event_id), '-') || '"', coalesce(counts ->> ('$."' || old.status || ' ' || coalesce((select edition_id from webhook_events where id = old.event_id), '-') || '"'), 0) - 1,
      '$."' || new.status || ' ' || coalesce((select edition_id from webhook_events where id = new.event_id), '-') || '"', coalesce(counts ->> ('$."' || new.status || ' ' || coalesce((select edition_id from webhook_events where id = new.event_id), '-') || '"'), 0) + 1)
    where list = 'webhook_deliveries' and scope = new.endpoint_id and span = new.created_at >> 28;
  update list_span_parts set counts = json_set(counts,
      '$."' || old.status || ' ' || coalesce((select edition_id from webhook_events where id = old.event_id), '-') || '"', coalesce(counts ->> ('$."' || old.status || ' ' || coalesce((select edition_id from webhook_events where id = old.event_id), '-') || '"'), 0) - 1,
      '$."' || new.status || ' ' || coalesce((select edition_id from webhook_events where id = new.event_id), '-') || '"', coalesce(counts ->> ('$."' || new.status || ' ' || coalesce((select edition_id from webhook_events where id = new.event_id), '-') || '"'), 0) + 1)
    where (list, scope, bits, span) in (select 'webhook_deliveries', new.endpoint_id, value, new.created_at >> value
      from json_each('[24,21,18,15,12,9,6,3,0]'));
end;

drop trigger webhook_endpoints_uncounted;
create trigger webhook_endpoints_uncounted after delete on webhook_endpoints
begin
  delete from list_spans where list = 'webhook_deliveries' and scope = old.id;
  delete from list_span_parts where list = 'webhook_deliveries' and scope = old.id;
  delete from settled_lists where list = 'webhook_deliveries' and scope = old.id;
end;

drop trigger users_left_spans;
create trigger users_left_spans after delete on users
  when old.created_at < (select until from settled_lists where list = 'users' and scope = old.organization_id)
begin
  update list_spans set total = total - 1, counts = json_set(counts, '$.all', (counts ->> '$.all') - 1)
    where list = 'users' and scope = old.organization_id and span = old.created_at >> 28;
  update list_span_parts set total = total - 1, counts = json_set(counts, '$.all', (counts ->> '$.all') - 1)
    where (list, scope, bits, span) in (select 'users', old.organization_id, value, old.created_at >> value
      from json_each('[24,21,18,15,12,9,6,3,0]'));
end;

-- Refund requests are counted by triggers. A sweep divides long spans that have ended, so that almost all requests come, and
-- end, before their span has parts, and write nothing more. A later change writes each part that the request is in.
create trigger refund_requests_counted_in_parts after insert on refund_requests
  when exists (select 1 from list_span_parts where list = 'refund_requests' and scope = new.edition_id
    and bits = 24 and span >= (new.created_at >> 28) << 4 and span < ((new.created_at >> 28) + 1) << 4)
begin
  insert into list_span_parts (list, scope, bits, span, counts, total)
    select 'refund_requests', new.edition_id, bits, new.created_at >> bits, json_object(new.status || ' ' || new.reason || ' ' || new.source, 1), 1
    from (select value as bits, iif(value = 24, 28, value + 3) as above from json_each('[24,21,18,15,12,9,6,3,0]')) as level
    where exists (select 1 from list_span_parts as part
      where part.list = 'refund_requests' and part.scope = new.edition_id and part.bits = level.bits
        and part.span >= (new.created_at >> above) << (above - level.bits)
        and part.span < ((new.created_at >> above) + 1) << (above - level.bits))
    on conflict (list, scope, bits, span) do update set total = total + 1,
      counts = json_set(counts, '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1);
end;

create trigger refund_requests_uncounted_in_parts after delete on refund_requests
  when exists (select 1 from list_span_parts where list = 'refund_requests' and scope = old.edition_id
    and bits = 24 and span >= (old.created_at >> 28) << 4 and span < ((old.created_at >> 28) + 1) << 4)
begin
  update list_span_parts set total = total - 1, counts = json_set(counts, '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1)
    where (list, scope, bits, span) in (select 'refund_requests', old.edition_id, value, old.created_at >> value
      from json_each('[24,21,18,15,12,9,6,3,0]'));
end;

create trigger refund_requests_recounted_in_parts after update of status, reason, source on refund_requests
  when (new.status, new.reason, new.source) is not (old.status, old.reason, old.source)
    and (new.edition_id, new.created_at) is (old.edition_id, old.created_at)
    and exists (select 1 from list_span_parts where list = 'refund_requests' and scope = new.edition_id
    and bits = 24 and span >= (new.created_at >> 28) << 4 and span < ((new.created_at >> 28) + 1) << 4)
begin
  update list_span_parts set counts = json_set(counts, '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1, '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1)
    where (list, scope, bits, span) in (select 'refund_requests', new.edition_id, value, new.created_at >> value
      from json_each('[24,21,18,15,12,9,6,3,0]'));
end;

create trigger refund_requests_moved_in_parts after update of edition_id, created_at on refund_requests
  when (new.edition_id, new.created_at) is not (old.edition_id, old.created_at)
begin
  update list_span_parts set total = total - 1, counts = json_set(counts, '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1)
    where (list, scope, bits, span) in (select 'refund_requests', old.edition_id, value, old.created_at >> value
      from json_each('[24,21,18,15,12,9,6,3,0]'));
  insert into list_span_parts (list, scope, bits, span, counts, total)
    select 'refund_requests', new.edition_id, bits, new.created_at >> bits, json_object(new.status || ' ' || new.reason || ' ' || new.source, 1), 1
    from (select value as bits, iif(value = 24, 28, value + 3) as above from json_each('[24,21,18,15,12,9,6,3,0]')) as level
    where exists (select 1 from list_span_parts as part
      where part.list = 'refund_requests' and part.scope = new.edition_id and part.bits = level.bits
        and part.span >= (new.created_at >> above) << (above - level.bits)
        and part.span < ((new.created_at >> above) + 1) << (above - level.bits))
    on conflict (list, scope, bits, span) do update set total = total + 1,
      counts = json_set(counts, '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1);
end;
