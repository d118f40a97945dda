-- A list of files read all files of an organisation for its count. They are counted in spans as the audit log is: by a sweep, some
-- minutes after they came, so that an upload writes nothing for it. What is counted has names by edition, purpose and type:
-- {"edt_1 image image/png": 12, "edt_1,*,*": 12, "*,image,*": 12, ...}. Triggers follow files that are deleted or moved later.
drop trigger list_spans_added_up;
create trigger list_spans_added_up after insert on list_spans
  when new.list in ('audit_log', 'audit_log_resources', 'files', 'refund_requests', 'users')
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
  when new.list in ('audit_log', 'audit_log_resources', 'files', 'refund_requests', 'users')
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
  when old.list in ('audit_log', 'audit_log_resources', 'files', 'refund_requests', 'users')
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

-- The names that count a file.
create view names_of_files (id, names) as
  select id, json_array(edition || ' ' || purpose || ' ' || type, edition || ',' || purpose || ',*', edition || ',*,' || type,
    edition || ',*,*', '*,' || purpose || ',' || type, '*,' || purpose || ',*', '*,*,' || type, '*,*,*')
  from (select id, coalesce(edition_id, '-') as edition, purpose, mime_type as type from files);

create trigger files_left_spans before delete on files
  when old.created_at < (select until from settled_lists where list = 'files' and scope = old.organization_id)
begin
  update list_spans set total = total - 1, counts = json_patch(counts, (
      select json_group_object(value, coalesce(list_spans.counts ->> ('$."' || value || '"'), 0) - 1)
      from json_each((select names from names_of_files where id = old.id))))
    where list = 'files' and scope = old.organization_id and span = old.created_at >> 28;
  update list_span_parts set total = total - 1, counts = json_patch(counts, (
      select json_group_object(value, coalesce(list_span_parts.counts ->> ('$."' || value || '"'), 0) - 1)
      from json_each((select names from names_of_files where id = old.id))))
    where (list, scope, bits, span) in (select 'files', old.organization_id, value, old.created_at >> value
      from json_each('[24,21,18,15,12,9,6,3,0]'));
end;

create trigger files_leave_spans before update of edition_id, purpose, mime_type on files
  when old.created_at < (select until from settled_lists where list = 'files' and scope = old.organization_id)
begin
  update list_spans set counts = json_patch(counts, (
      select json_group_object(value, coalesce(list_spans.counts ->> ('$."' || value || '"'), 0) - 1)
      from json_each((select names from names_of_files where id = old.id))))
    where list = 'files' and scope = old.organization_id and span = old.created_at >> 28;
  update list_span_parts set counts = json_patch(counts, (
      select json_group_object(value, coalesce(list_span_parts.counts ->> ('$."' || value || '"'), 0) - 1)
      from json_each((select names from names_of_files where id = old.id))))
    where (list, scope, bits, span) in (select 'files', old.organization_id, value, old.created_at >> value
      from json_each('[24,21,18,15,12,9,6,3,0]'));
end;

create trigger files_enter_spans after update of edition_id, purpose, mime_type on files
  when new.created_at < (select until from settled_lists where list = 'files' and scope = new.organization_id)
begin
  update list_spans set counts = json_patch(counts, (
      select json_group_object(value, coalesce(list_spans.counts ->> ('$."' || value || '"'), 0) + 1)
      from json_each((select names from names_of_files where id = new.id))))
    where list = 'files' and scope = new.organization_id and span = new.created_at >> 28;
  update list_span_parts set counts = json_patch(counts, (
      select json_group_object(value, coalesce(list_span_parts.counts ->> ('$."' || value || '"'), 0) + 1)
      from json_each((select names from names_of_files where id = new.id))))
    where (list, scope, bits, span) in (select 'files', new.organization_id, value, new.created_at >> value
      from json_each('[24,21,18,15,12,9,6,3,0]'));
end;

-- A filter by edition, purpose or type merges those that it asks for: the index has the files of each in their order.
create index files_by_kind on files
  (organization_id, coalesce(edition_id, '-') || ' ' || purpose || ' ' || mime_type, created_at, id);
