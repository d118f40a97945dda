-- Lists of an organisation merged the requests of its editions and added up the counts of each. Where all of them are seen, indexes
-- have them together, and spans count them (`organization_refund_requests` in `list_spans`), however many editions there are. A
-- request writes five rows more, and a change of its status three. The version before counts by triggers too, and reads none of it.
create index refund_requests_of_organization on refund_requests (organization_id, created_at);
create index refund_requests_of_organization_by_status on refund_requests (organization_id, status, created_at);
create index refund_requests_of_organization_by_reason on refund_requests (organization_id, reason, source, created_at);

drop trigger list_spans_added_up;
create trigger list_spans_added_up after insert on list_spans
  when new.list in ('audit_log', 'audit_log_resources', 'files', 'organization_refund_requests', 'refund_requests', 'users')
begin
  insert into list_span_parts (list, scope, bits, span, counts, total)
    values (new.list, new.scope, 31, new.span >> 3, new.counts, new.total)
    on conflict (list, scope, bits, span) do update set total = total + excluded.total, counts = (
      select json_group_object(key, n) from (select key, sum(value) as n from (
        select key, value from json_each(list_span_parts.counts) union all select key, value from json_each(excluded.counts))
        group by key having sum(value) <> 0));
end;

drop trigger list_spans_added_up_anew;
create trigger list_spans_added_up_anew after update of counts, total on list_spans
  when new.list in ('audit_log', 'audit_log_resources', 'files', 'organization_refund_requests', 'refund_requests', 'users')
begin
  update list_span_parts set total = total + new.total - old.total, counts = (
      select json_group_object(key, n) from (select key, sum(value) as n from (
        select key, value from json_each(counts) union all select key, value from json_each(new.counts)
        union all select key, -value from json_each(old.counts))
        group by key having sum(value) <> 0))
    where list = new.list and scope = new.scope and bits = 31 and span = new.span >> 3;
end;

drop trigger list_spans_taken_out;
create trigger list_spans_taken_out after delete on list_spans
  when old.list in ('audit_log', 'audit_log_resources', 'files', 'organization_refund_requests', 'refund_requests', 'users')
begin
  update list_span_parts set total = total - old.total, counts = (
      select json_group_object(key, n) from (select key, sum(value) as n from (
        select key, value from json_each(counts) union all select key, -value from json_each(old.counts))
        group by key having sum(value) <> 0))
    where list = old.list and scope = old.scope and bits = 31 and span = old.span >> 3;
  delete from list_span_parts where list = old.list and scope = old.scope and bits = 31 and span = old.span >> 3
    and not exists (select 1 from list_spans where list = old.list and scope = old.scope
      and span between (old.span >> 3) << 3 and ((old.span >> 3) << 3) + 7);
end;

create trigger organization_refunds_counted after insert on refund_requests
begin
  insert into list_spans (list, scope, span, counts, total)
    values ('organization_refund_requests', new.organization_id, new.created_at >> 28, json_object(new.status || ' ' || new.reason || ' ' || new.source, 1), 1)
    on conflict (list, scope, span) do update set total = total + 1, counts = json_set(counts, '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1);
end;

create trigger organization_refunds_uncounted after delete on refund_requests
begin
  update list_spans set total = total - 1, counts = json_set(counts, '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1)
    where list = 'organization_refund_requests' and scope = old.organization_id and span = old.created_at >> 28;
end;

create trigger organization_refunds_recounted after update of status, reason, source on refund_requests
  when (new.status, new.reason, new.source) is not (old.status, old.reason, old.source)
    and (new.organization_id, new.created_at >> 28) is (old.organization_id, old.created_at >> 28)
begin
  update list_spans set counts = json_set(counts, '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1, '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1)
    where list = 'organization_refund_requests' and scope = new.organization_id and span = new.created_at >> 28;
end;

create trigger organization_refunds_moved after update of organization_id, created_at on refund_requests
  when (new.organization_id, new.created_at >> 28) is not (old.organization_id, old.created_at >> 28)
begin
  update list_spans set total = total - 1, counts = json_set(counts, '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1)
    where list = 'organization_refund_requests' and scope = old.organization_id and span = old.created_at >> 28;
  insert into list_spans (list, scope, span, counts, total)
    values ('organization_refund_requests', new.organization_id, new.created_at >> 28, json_object(new.status || ' ' || new.reason || ' ' || new.source, 1), 1)
    on conflict (list, scope, span) do update set total = total + 1, counts = json_set(counts, '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1);
end;

create trigger organization_refunds_counted_in_parts after insert on refund_requests
  when exists (select 1 from list_span_parts where list = 'organization_refund_requests' and scope = new.organization_id
    and bits = 24 and span >= (new.created_at >> 28) << 4 and span < ((new.created_at >> 28) + 1) << 4)
begin
  insert into list_span_parts (list, scope, bits, span, counts, total)
    select 'organization_refund_requests', new.organization_id, bits, new.created_at >> bits, json_object(new.status || ' ' || new.reason || ' ' || new.source, 1), 1
    from (select value as bits, iif(value = 24, 28, value + 3) as above from json_each('[24,21,18,15,12,9,6,3,0]')) as level
    where exists (select 1 from list_span_parts as part
      where part.list = 'organization_refund_requests' and part.scope = new.organization_id and part.bits = level.bits
        and part.span >= (new.created_at >> above) << (above - level.bits)
        and part.span < ((new.created_at >> above) + 1) << (above - level.bits))
    on conflict (list, scope, bits, span) do update set total = total + 1, counts = json_set(counts, '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1);
end;

create trigger organization_refunds_uncounted_in_parts after delete on refund_requests
  when exists (select 1 from list_span_parts where list = 'organization_refund_requests' and scope = old.organization_id
    and bits = 24 and span >= (old.created_at >> 28) << 4 and span < ((old.created_at >> 28) + 1) << 4)
begin
  update list_span_parts set total = total - 1, counts = json_set(counts, '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1)
    where (list, scope, bits, span) in (select 'organization_refund_requests', old.organization_id, value, old.created_at >> value from json_each('[24,21,18,15,12,9,6,3,0]'));
end;

create trigger organization_refunds_recounted_in_parts after update of status, reason, source on refund_requests
  when (new.status, new.reason, new.source) is not (old.status, old.reason, old.source)
    and (new.organization_id, new.created_at) is (old.organization_id, old.created_at)
    and exists (select 1 from list_span_parts where list = 'organization_refund_requests' and scope = new.organization_id
    and bits = 24 and span >= (new.created_at >> 28) << 4 and span < ((new.created_at >> 28) + 1) << 4)
begin
  update list_span_parts set counts = json_set(counts, '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1, '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1)
    where (list, scope, bits, span) in (select 'organization_refund_requests', new.organization_id, value, new.created_at >> value from json_each('[24,21,18,15,12,9,6,3,0]'));
end;

create trigger organization_refunds_moved_in_parts after update of organization_id, created_at on refund_requests
  when (new.organization_id, new.created_at) is not (old.organization_id, old.created_at)
begin
  update list_span_parts set total = total - 1, counts = json_set(counts, '$."' || old.status || ' ' || old.reason || ' ' || old.source || '"', coalesce(counts ->> ('$."' || old.status || ' ' || old.reason || ' ' || old.source || '"'), 0) - 1)
    where (list, scope, bits, span) in (select 'organization_refund_requests', old.organization_id, value, old.created_at >> value from json_each('[24,21,18,15,12,9,6,3,0]'));
  insert into list_span_parts (list, scope, bits, span, counts, total)
    select 'organization_refund_requests', new.organization_id, bits, new.created_at >> bits, json_object(new.status || ' ' || new.reason || ' ' || new.source, 1), 1
    from (select value as bits, iif(value = 24, 28, value + 3) as above from json_each('[24,21,18,15,12,9,6,3,0]')) as level
    where exists (select 1 from list_span_parts as part
      where part.list = 'organization_refund_requests' and part.scope = new.organization_id and part.bits = level.bits
        and part.span >= (new.created_at >> above) << (above - level.bits)
        and part.span < ((new.created_at >> above) + 1) << (above - level.bits))
    on conflict (list, scope, bits, span) do update set total = total + 1, counts = json_set(counts, '$."' || new.status || ' ' || new.reason || ' ' || new.source || '"', coalesce(counts ->> ('$."' || new.status || ' ' || new.reason || ' ' || new.source || '"'), 0) + 1);
end;

insert into list_spans (list, scope, span, counts, total)
  select 'organization_refund_requests', organization_id, span, json_group_object(facets, n), sum(n)
  from (select organization_id, created_at >> 28 as span, status || ' ' || reason || ' ' || source as facets, count(*) as n
    from refund_requests group by 1, 2, 3)
  group by organization_id, span;
