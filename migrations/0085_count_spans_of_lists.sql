-- Counts of long lists. A row counts the rows of a list and a scope that were made in a span of time (`created_at >> 28`,
-- 3.1 days), by the values that the list is filtered by, joined by spaces: {"approved customer_request api": 12}.
create table list_spans (
  list text not null,
  -- An endpoint, an organisation or an edition.
  scope text not null,
  span integer not null,
  counts text not null check (json_valid(counts)),
  -- Their sum, because each value of a JSON text is a row read.
  total integer not null,
  primary key (list, scope, span)
) strict, without rowid;

-- Rows of deliveries and of the audit log are counted some minutes after they were made, so that making them writes nothing
-- more. `until` is where those begin that are not counted yet: a moment of deliveries, an id of the audit log.
create table settled_lists (
  list text not null,
  scope text not null,
  until any not null,
  primary key (list, scope)
) strict, without rowid;

create trigger refund_requests_counted after insert on refund_requests
begin
  insert into list_spans (list, scope, span, counts, total)
    values ('refund_requests', new.edition_id, new.created_at >> 28, json_object(new.status || ' ' || new.reason || ' ' || new.source, 1), 1)
    on conflict (list, scope, span) do update set total = total + 1,
      counts = json_set(counts, '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1);
end;

create trigger refund_requests_uncounted after delete on refund_requests
begin
  update list_spans set total = total - 1, counts = json_set(counts, '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1)
    where list = 'refund_requests' and scope = old.edition_id and span = old.created_at >> 28;
end;

-- Almost every request changes its status alone, which writes one row.
create trigger refund_requests_recounted after update of status, reason, source on refund_requests
  when (new.status, new.reason, new.source) is not (old.status, old.reason, old.source)
    and (new.edition_id, new.created_at >> 28) is (old.edition_id, old.created_at >> 28)
begin
  update list_spans set counts = json_set(counts,
      '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1,
      '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1)
    where list = 'refund_requests' and scope = new.edition_id and span = new.created_at >> 28;
end;

create trigger refund_requests_moved after update of edition_id, created_at on refund_requests
  when (new.edition_id, new.created_at >> 28) is not (old.edition_id, old.created_at >> 28)
begin
  update list_spans set total = total - 1, counts = json_set(counts, '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1)
    where list = 'refund_requests' and scope = old.edition_id and span = old.created_at >> 28;
  insert into list_spans (list, scope, span, counts, total)
    values ('refund_requests', new.edition_id, new.created_at >> 28, json_object(new.status || ' ' || new.reason || ' ' || new.source, 1), 1)
    on conflict (list, scope, span) do update set total = total + 1,
      counts = json_set(counts, '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1);
end;

insert into list_spans (list, scope, span, counts, total)
  select 'refund_requests', edition_id, span, json_group_object(facets, n), sum(n)
  from (select edition_id, created_at >> 28 as span, status || ' ' || reason || ' ' || source as facets, count(*) as n
    from refund_requests group by 1, 2, 3)
  group by edition_id, span;

-- A delivery is not counted before it is 15 minutes old. One that changes earlier than after ten cannot have been counted,
-- so that almost all deliveries end without a look at their counts. An edition of NULL is `-`.
create trigger webhook_deliveries_recounted after update of status on webhook_deliveries
  when new.status <> old.status and new.modified_at >= new.created_at + 600000
begin
  update list_spans set counts = json_set(counts,
      '$."' || old.status || ' ' || coalesce((select edition_id from webhook_events where id = old.event_id), '-') || '"', coalesce(counts ->> ('$."' || old.status || ' ' || coalesce((select edition_id from webhook_events where id = old.event_id), '-') || '"'), 0) - 1,
      '$."' || new.status || ' ' || coalesce((select edition_id from webhook_events where id = new.event_id), '-') || '"', coalesce(counts ->> ('$."' || new.status || ' ' || coalesce((select edition_id from webhook_events where id = new.event_id), '-') || '"'), 0) + 1)
    where list = 'webhook_deliveries' and scope = new.endpoint_id and span = new.created_at >> 28
      and new.created_at < (select until from settled_lists where list = 'webhook_deliveries' and scope = new.endpoint_id);
end;

create trigger webhook_endpoints_uncounted after delete on webhook_endpoints
begin
  delete from list_spans where list = 'webhook_deliveries' and scope = old.id;
  delete from settled_lists where list = 'webhook_deliveries' and scope = old.id;
end;
