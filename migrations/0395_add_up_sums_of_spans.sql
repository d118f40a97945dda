-- Sums of eight spans are 25 days each, so that a list of ten years added up 147 of them for each scope. Eight of these are added
-- up in turn, in rows of 34 bits (199 days). The triggers keep both, whichever version writes the spans; the version before reads
-- those of 31 bits alone.
drop trigger list_spans_added_up;
create trigger list_spans_added_up after insert on list_spans
  when new.list in ('audit_log', 'audit_log_resources', 'files', 'organization_refund_requests', 'refund_requests', 'users')
begin
  insert into list_span_parts (list, scope, bits, span, counts, total)
    select new.list, new.scope, column1, new.span >> (column1 - 28), new.counts, new.total from (values (31), (34)) where true
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
    where (list, scope, bits, span) in (values (new.list, new.scope, 31, new.span >> 3), (new.list, new.scope, 34, new.span >> 6));
end;

drop trigger list_spans_taken_out;
create trigger list_spans_taken_out after delete on list_spans
  when old.list in ('audit_log', 'audit_log_resources', 'files', 'organization_refund_requests', 'refund_requests', 'users')
begin
  update list_span_parts set total = total - old.total, counts = (
      select json_group_object(key, n) from (select key, sum(value) as n from (
        select key, value from json_each(counts) union all select key, -value from json_each(old.counts))
        group by key having sum(value) <> 0))
    where (list, scope, bits, span) in (values (old.list, old.scope, 31, old.span >> 3), (old.list, old.scope, 34, old.span >> 6));
  delete from list_span_parts where list = old.list and scope = old.scope and bits = 31 and span = old.span >> 3
    and not exists (select 1 from list_spans where list = old.list and scope = old.scope
      and span between (old.span >> 3) << 3 and ((old.span >> 3) << 3) + 7);
  delete from list_span_parts where list = old.list and scope = old.scope and bits = 34 and span = old.span >> 6
    and not exists (select 1 from list_spans where list = old.list and scope = old.scope
      and span between (old.span >> 6) << 6 and ((old.span >> 6) << 6) + 63);
end;

insert into list_span_parts (list, scope, bits, span, counts, total)
  select list, scope, 34, long, (
      select json_group_object(key, n) from (select facet.key, sum(facet.value) as n
        from list_span_parts as short cross join json_each(short.counts) as facet
        where short.list = whole.list and short.scope = whole.scope and short.bits = 31
          and short.span between long << 3 and (long << 3) + 7
        group by 1 having sum(facet.value) <> 0)), total
  from (select list, scope, span >> 3 as long, sum(total) as total from list_span_parts
    where bits = 31 group by 1, 2, 3) as whole;
