-- Refund requests and customers have the sums of eight spans too, as the audit log: triggers on spans keep them. A page by its
-- number reads a row for 25 days where it read one for three.
drop trigger list_spans_added_up;
create trigger list_spans_added_up after insert on list_spans when new.list in ('audit_log', 'audit_log_resources', 'refund_requests', 'users')
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
  when new.list in ('audit_log', 'audit_log_resources', 'refund_requests', 'users')
begin
  update list_span_parts set total = total + new.total - old.total, counts = (
      select json_group_object(key, n) from (select key, sum(value) as n from (
        select key, value from json_each(counts) union all select key, value from json_each(new.counts)
        union all select key, -value from json_each(old.counts))
        group by key having sum(value) <> 0))
    where list = new.list and scope = new.scope and bits = 31 and span = new.span >> 3;
end;

drop trigger list_spans_taken_out;
create trigger list_spans_taken_out after delete on list_spans when old.list in ('audit_log', 'audit_log_resources', 'refund_requests', 'users')
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

insert into list_span_parts (list, scope, bits, span, counts, total)
  select list, scope, 31, long, (
      select json_group_object(key, n) from (select facet.key, sum(facet.value) as n
        from list_spans as short cross join json_each(short.counts) as facet
        where short.list = whole.list and short.scope = whole.scope and short.span between long << 3 and (long << 3) + 7
        group by 1 having sum(facet.value) <> 0)), total
  from (select list, scope, span >> 3 as long, sum(total) as total from list_spans
    where list in ('refund_requests', 'users') group by 1, 2, 3) as whole;

-- A list of a status is read in any order without the requests of others. Lists of all of them merge seven ranges.
drop index refund_requests_by_modified;
create index refund_requests_by_modified on refund_requests (edition_id, status, modified_at);
drop index refund_requests_by_amount;
create index refund_requests_by_amount on refund_requests (edition_id, status, requested_minor);
