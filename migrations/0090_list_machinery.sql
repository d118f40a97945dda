-- Counts, intervals, runs, packs and hits that lists are read through. Everything here serves lists alone and can be
-- deleted as a whole.

-- Counts and hits of searches, valid for one state of the lists they are of.
create table list_counts (
  slot integer primary key,
  -- A hash of what the list is asked for, because filters may name people.
  key text not null,
  version integer not null,
  total integer not null,
  counted_at integer not null,
  hits text
) strict;

-- Rows of other lists by span of time (`created_at >> 28`), by the values the list is filtered by.
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

-- Parts and sums of `list_spans`.
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

-- Up to which row or moment sweeps have counted a list.
create table settled_lists (
  list text not null,
  scope text not null,
  until any not null,
  primary key (list, scope)
) strict, without rowid;

-- The same for refund requests.
create table refund_intervals (
  -- An edition or an organisation.
  scope text not null,
  ordering text not null check (ordering in ('amount', 'modified')),
  value any not null,
  id text not null,
  pending integer not null default 0,
  approved integer not null default 0,
  processing integer not null default 0,
  completed integer not null default 0,
  failed integer not null default 0,
  rejected integer not null default 0,
  cancelled integer not null default 0,
  primary key (scope, ordering, value, id)
) strict, without rowid;

-- The same for deliveries of an endpoint.
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
  of_editions text,
  primary key (scope, ordering, value, created_at, id)
) strict, without rowid;
-- Finds intervals whose editions a sweep has to count.
create index delivery_intervals_without_editions on delivery_intervals (scope, ordering) where of_editions is null;

-- The same for refund requests.
create table refund_runs (
  edition_id text not null,
  ordering text not null check (ordering in ('amount', 'modified', 'status')),
  -- A main run has all requests of the edition, and the delta of the same generation those that changed since.
  generation integer not null,
  is_delta integer not null check (is_delta in (0, 1)),
  number integer not null,
  -- What the key of the first request is made of: the value of the ordering, the moment of creation, the id.
  first_value any not null,
  first_created_at integer not null,
  first_id text not null,
  -- How many of the requests were created in each span of 2^31 milliseconds, as a JSON array of pairs.
  spans text not null,
  entries blob not null,
  -- How many of them are of each kind: a status, a reason and a source.
  kinds text,
  primary key (edition_id, ordering, generation, is_delta, number)
) strict, without rowid;

create table refund_run_states (
  edition_id text primary key not null,
  generation integer not null default 0,
  main_until integer not null default 0,
  main_late integer not null default 0,
  until integer not null default 0,
  late integer not null default 0,
  noted_until integer not null default 0,
  main_size integer not null default 0,
  delta_size integer not null default 0,
  walk text
) strict, without rowid;

create table late_refund_requests (
  edition_id text not null,
  number integer not null,
  id text not null,
  primary key (edition_id, number)
) strict, without rowid;

-- Deliveries of one edition and kind, packed, among those of an endpoint.
create table delivery_packs (
  endpoint_id text not null,
  edition_id text not null,
  kind text not null,
  -- That of the first delivery.
  first_created_at integer not null,
  -- Packs of one edition and kind are numbered in their order.
  number integer not null,
  size integer not null,
  entries text not null,
  primary key (endpoint_id, edition_id, kind, first_created_at, number)
) strict, without rowid;

-- Deliveries of an edition that changed late or ended without success.
create table edition_deliveries (
  endpoint_id text not null,
  edition_id text not null,
  list text not null check (list in ('late', 'failed', 'exhausted', 'failed by change', 'exhausted by change')),
  -- Empty where the order is that of last changes.
  kind text not null,
  at integer not null,
  id text not null,
  primary key (endpoint_id, edition_id, list, kind, at, id)
) strict, without rowid;

-- How many more rows of an import have errors than were staged with them.
create table import_row_errors (
  import_id text primary key,
  rows_count integer not null
) strict, without rowid;

create view names_of_files (id, names) as
  select id, json_array(edition || ' ' || purpose || ' ' || type, edition || ',' || purpose || ',*', edition || ',*,' || type,
    edition || ',*,*', '*,' || purpose || ',' || type, '*,' || purpose || ',*', '*,*,' || type, '*,*,*')
  from (select id, coalesce(edition_id, '-') as edition, purpose, mime_type as type from files);

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

create trigger import_rows_with_errors_changed after update of errors on import_rows
  when (new.errors <> '[]') <> (old.errors <> '[]')
begin
  insert into import_row_errors (import_id, rows_count) values (new.import_id, iif(new.errors <> '[]', 1, -1))
    on conflict (import_id) do update set rows_count = rows_count + excluded.rows_count;
end;

create trigger import_rows_deleted after delete on import_rows when old.row_number = 1
begin
  delete from import_row_errors where import_id = old.import_id;
end;

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

create trigger refund_requests_left_intervals after delete on refund_requests
  when old.modified_at < (select until from settled_lists where list = 'refund_requests' and scope = old.edition_id)
begin
  update refund_intervals set
      pending = pending - (old.status = 'pending'),
      approved = approved - (old.status = 'approved'),
      processing = processing - (old.status = 'processing'),
      completed = completed - (old.status = 'completed'),
      failed = failed - (old.status = 'failed'),
      rejected = rejected - (old.status = 'rejected'),
      cancelled = cancelled - (old.status = 'cancelled')
    where (scope, ordering, value, id) in (
      select one.scope, one.ordering, one.value, one.id
        from (select old.edition_id as scope union all select old.organization_id) as scopes
          cross join (select 'amount' as ordering, old.requested_minor as value
            union all select 'modified', old.modified_at) as keys
          cross join refund_intervals as one on one.scope = scopes.scope and one.ordering = keys.ordering
            and (one.value, one.id) = (
              select value, id from refund_intervals as before
                where before.scope = scopes.scope and before.ordering = keys.ordering
                  and (before.value, before.id) <= (+keys.value, +old.id)
                order by before.value desc, before.id desc limit 1));
end;

create trigger refund_requests_joined_intervals after insert on refund_requests
  when new.modified_at < (select until from settled_lists where list = 'refund_requests' and scope = new.edition_id)
begin
  update refund_intervals set
      pending = pending + (new.status = 'pending'),
      approved = approved + (new.status = 'approved'),
      processing = processing + (new.status = 'processing'),
      completed = completed + (new.status = 'completed'),
      failed = failed + (new.status = 'failed'),
      rejected = rejected + (new.status = 'rejected'),
      cancelled = cancelled + (new.status = 'cancelled')
    where (scope, ordering, value, id) in (
      select one.scope, one.ordering, one.value, one.id
        from (select new.edition_id as scope union all select new.organization_id) as scopes
          cross join (select 'amount' as ordering, new.requested_minor as value
            union all select 'modified', new.modified_at) as keys
          cross join refund_intervals as one on one.scope = scopes.scope and one.ordering = keys.ordering
            and (one.value, one.id) = (
              select value, id from refund_intervals as before
                where before.scope = scopes.scope and before.ordering = keys.ordering
                  and (before.value, before.id) <= (+keys.value, +new.id)
                order by before.value desc, before.id desc limit 1));
end;

create trigger refund_requests_changed_in_intervals after update of edition_id, organization_id, modified_at, requested_minor, status on refund_requests
  when (new.edition_id, new.organization_id, new.modified_at, new.requested_minor, new.status)
    is not (old.edition_id, old.organization_id, old.modified_at, old.requested_minor, old.status)
    and old.modified_at < (select until from settled_lists where list = 'refund_requests' and scope = old.edition_id)
begin
  update refund_intervals set
      pending = pending - (old.status = 'pending'),
      approved = approved - (old.status = 'approved'),
      processing = processing - (old.status = 'processing'),
      completed = completed - (old.status = 'completed'),
      failed = failed - (old.status = 'failed'),
      rejected = rejected - (old.status = 'rejected'),
      cancelled = cancelled - (old.status = 'cancelled')
    where (scope, ordering, value, id) in (
      select one.scope, one.ordering, one.value, one.id
        from (select old.edition_id as scope union all select old.organization_id) as scopes
          cross join (select 'amount' as ordering, old.requested_minor as value
            union all select 'modified', old.modified_at) as keys
          cross join refund_intervals as one on one.scope = scopes.scope and one.ordering = keys.ordering
            and (one.value, one.id) = (
              select value, id from refund_intervals as before
                where before.scope = scopes.scope and before.ordering = keys.ordering
                  and (before.value, before.id) <= (+keys.value, +old.id)
                order by before.value desc, before.id desc limit 1));
end;

create trigger refund_requests_changed_into_intervals after update of edition_id, organization_id, modified_at, requested_minor, status on refund_requests
  when (new.edition_id, new.organization_id, new.modified_at, new.requested_minor, new.status)
    is not (old.edition_id, old.organization_id, old.modified_at, old.requested_minor, old.status)
    and new.modified_at < (select until from settled_lists where list = 'refund_requests' and scope = new.edition_id)
begin
  update refund_intervals set
      pending = pending + (new.status = 'pending'),
      approved = approved + (new.status = 'approved'),
      processing = processing + (new.status = 'processing'),
      completed = completed + (new.status = 'completed'),
      failed = failed + (new.status = 'failed'),
      rejected = rejected + (new.status = 'rejected'),
      cancelled = cancelled + (new.status = 'cancelled')
    where (scope, ordering, value, id) in (
      select one.scope, one.ordering, one.value, one.id
        from (select new.edition_id as scope union all select new.organization_id) as scopes
          cross join (select 'amount' as ordering, new.requested_minor as value
            union all select 'modified', new.modified_at) as keys
          cross join refund_intervals as one on one.scope = scopes.scope and one.ordering = keys.ordering
            and (one.value, one.id) = (
              select value, id from refund_intervals as before
                where before.scope = scopes.scope and before.ordering = keys.ordering
                  and (before.value, before.id) <= (+keys.value, +new.id)
                order by before.value desc, before.id desc limit 1));
end;

create trigger refund_requests_came_late after insert on refund_requests
  when new.modified_at < (select noted_until from refund_run_states where edition_id = new.edition_id)
begin
  insert into late_refund_requests (edition_id, number, id)
    select new.edition_id, 1 + coalesce(max(number), 0), new.id from late_refund_requests where edition_id = new.edition_id;
end;

create trigger refund_requests_changed_late
  after update of edition_id, created_at, modified_at, status, reason, source, requested_minor on refund_requests
  when (new.edition_id, new.created_at, new.modified_at, new.status, new.reason, new.source, new.requested_minor)
    is not (old.edition_id, old.created_at, old.modified_at, old.status, old.reason, old.source, old.requested_minor)
    and new.modified_at < (select noted_until from refund_run_states where edition_id = new.edition_id)
begin
  insert into late_refund_requests (edition_id, number, id)
    select new.edition_id, 1 + coalesce(max(number), 0), new.id from late_refund_requests where edition_id = new.edition_id;
end;

create trigger refund_requests_went_late after delete on refund_requests
  when exists (select 1 from refund_run_states where edition_id = old.edition_id)
begin
  insert into late_refund_requests (edition_id, number, id)
    select old.edition_id, 1 + coalesce(max(number), 0), old.id from late_refund_requests where edition_id = old.edition_id;
end;

create trigger refund_requests_left_runs after update of edition_id on refund_requests
  when new.edition_id <> old.edition_id and exists (select 1 from refund_run_states where edition_id = old.edition_id)
begin
  insert into late_refund_requests (edition_id, number, id)
    select old.edition_id, 1 + coalesce(max(number), 0), old.id from late_refund_requests where edition_id = old.edition_id;
end;

create trigger delivery_intervals_counted_before
  after update of pending, retrying, success, failed, exhausted on delivery_intervals
  when new.of_editions is old.of_editions and new.of_editions is not null
    and (new.pending, new.retrying, new.success, new.failed, new.exhausted)
      is not (old.pending, old.retrying, old.success, old.failed, old.exhausted)
begin
  update delivery_intervals set of_editions = null
    where (scope, ordering, value, created_at, id) = (new.scope, new.ordering, new.value, new.created_at, new.id);
end;

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

create trigger refund_requests_changed_insert after insert on refund_requests begin
  insert into list_sizes (organization_id, refund_changes) values (new.organization_id, 1)
    on conflict (organization_id) do update set refund_changes = refund_changes + 1;
end;

create trigger refund_requests_changed_update
  after update of organization_id, edition_id, order_id, status, reason, source, requested_minor, provider_reference, created_at,
    modified_at on refund_requests begin
  insert into list_sizes (organization_id, refund_changes) values (new.organization_id, 1)
    on conflict (organization_id) do update set refund_changes = refund_changes + 1;
end;

create trigger refund_requests_changed_delete after delete on refund_requests begin
  update list_sizes set refund_changes = refund_changes + 1 where organization_id = old.organization_id;
end;

create trigger webhook_deliveries_came_to_editions after insert on webhook_deliveries
  when new.modified_at not between new.created_at and new.created_at + 300000 or new.status in ('failed', 'exhausted')
begin
  insert or ignore into edition_deliveries (endpoint_id, edition_id, list, kind, at, id)
    select new.endpoint_id, edition_id, list, key.kind, at, new.id
    from (select 'late' as list, '' as kind, new.modified_at as at
        where new.modified_at not between new.created_at and new.created_at + 300000
      union all select new.status, new.kind, new.created_at where new.status in ('failed', 'exhausted')
      union all select new.status || ' by change', '', new.modified_at where new.status in ('failed', 'exhausted')) as key
      cross join webhook_events on webhook_events.id = new.event_id and edition_id is not null;
end;

create trigger webhook_deliveries_changed_in_editions after update of status, modified_at on webhook_deliveries
  when (new.status, new.modified_at) is not (old.status, old.modified_at)
    and (new.modified_at not between new.created_at and new.created_at + 300000
      or old.modified_at not between old.created_at and old.created_at + 300000
      or new.status in ('failed', 'exhausted') or old.status in ('failed', 'exhausted'))
begin
  delete from edition_deliveries
    where endpoint_id = old.endpoint_id and edition_id = (select edition_id from webhook_events where id = old.event_id)
      and list = 'late' and kind = '' and at = old.modified_at and id = old.id and new.modified_at <> old.modified_at;
  delete from edition_deliveries
    where endpoint_id = old.endpoint_id and edition_id = (select edition_id from webhook_events where id = old.event_id)
      and list = old.status and kind = old.kind and at = old.created_at and id = old.id and new.status <> old.status;
  delete from edition_deliveries
    where endpoint_id = old.endpoint_id and edition_id = (select edition_id from webhook_events where id = old.event_id)
      and list = old.status || ' by change' and kind = '' and at = old.modified_at and id = old.id;
  insert or ignore into edition_deliveries (endpoint_id, edition_id, list, kind, at, id)
    select new.endpoint_id, edition_id, list, key.kind, at, new.id
    from (select 'late' as list, '' as kind, new.modified_at as at
        where new.modified_at not between new.created_at and new.created_at + 300000
      union all select new.status, new.kind, new.created_at where new.status in ('failed', 'exhausted')
      union all select new.status || ' by change', '', new.modified_at where new.status in ('failed', 'exhausted')) as key
      cross join webhook_events on webhook_events.id = new.event_id and edition_id is not null;
end;

create trigger webhook_deliveries_went_from_editions after delete on webhook_deliveries
  when old.modified_at not between old.created_at and old.created_at + 300000 or old.status in ('failed', 'exhausted')
begin
  delete from edition_deliveries
    where endpoint_id = old.endpoint_id and edition_id = (select edition_id from webhook_events where id = old.event_id)
      and list = 'late' and kind = '' and at = old.modified_at and id = old.id;
  delete from edition_deliveries
    where endpoint_id = old.endpoint_id and edition_id = (select edition_id from webhook_events where id = old.event_id)
      and list = old.status and kind = old.kind and at = old.created_at and id = old.id;
  delete from edition_deliveries
    where endpoint_id = old.endpoint_id and edition_id = (select edition_id from webhook_events where id = old.event_id)
      and list = old.status || ' by change' and kind = '' and at = old.modified_at and id = old.id;
end;

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

create trigger webhook_endpoints_uncounted after delete on webhook_endpoints
begin
  delete from list_spans where list = 'webhook_deliveries' and scope = old.id;
  delete from list_span_parts where list = 'webhook_deliveries' and scope = old.id;
  delete from delivery_intervals where scope = old.id;
  delete from delivery_packs where endpoint_id = old.id;
  delete from edition_deliveries where endpoint_id = old.id;
  delete from settled_lists where list in ('webhook_deliveries', 'delivery_intervals', 'delivery_intervals divided', 'delivery_packs')
    and scope = old.id;
end;

create trigger files_count_added after insert on files begin
  insert into organization_storage (organization_id, used_bytes, file_changes) values (new.organization_id, 0, 1)
    on conflict (organization_id) do update set file_changes = file_changes + 1;
end;

create trigger files_count_deleted after delete on files begin
  update organization_storage set file_changes = file_changes + 1 where organization_id = old.organization_id;
end;

create trigger files_count_changed
  after update of edition_id, name, purpose, mime_type, size, search, created_at, modified_at on files begin
  insert into organization_storage (organization_id, used_bytes, file_changes) values (new.organization_id, 0, 1)
    on conflict (organization_id) do update set file_changes = file_changes + 1;
end;

create trigger editions_count_shown_file after update of meta_image_id on editions
  when new.meta_image_id is not old.meta_image_id begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id in (select organization_id from files where id in (old.meta_image_id, new.meta_image_id));
end;

create trigger editions_count_added_file after insert on editions when new.meta_image_id is not null begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id = (select organization_id from files where id = new.meta_image_id);
end;

create trigger editions_count_deleted_file after delete on editions when old.meta_image_id is not null begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id = (select organization_id from files where id = old.meta_image_id);
end;

create trigger organizations_count_shown_file after update of avatar_file_id on organizations
  when new.avatar_file_id is not old.avatar_file_id begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id in (select organization_id from files where id in (old.avatar_file_id, new.avatar_file_id));
end;

create trigger product_images_count_added after insert on product_images begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id = (select organization_id from files where id = new.file_id);
end;

create trigger product_images_count_deleted after delete on product_images begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id = (select organization_id from files where id = old.file_id);
end;

create trigger email_message_images_count_added after insert on email_message_images begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id = (select organization_id from files where id = new.file_id);
end;

create trigger email_message_images_count_deleted after delete on email_message_images begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id = (select organization_id from files where id = old.file_id);
end;

create trigger data_imports_count_added_file after insert on data_imports when new.file_id is not null begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id = (select organization_id from files where id = new.file_id);
end;

create trigger data_imports_count_shown_file after update of file_id on data_imports when new.file_id is not old.file_id begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id in (select organization_id from files where id in (old.file_id, new.file_id));
end;

create trigger data_imports_count_deleted_file after delete on data_imports when old.file_id is not null begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id = (select organization_id from files where id = old.file_id);
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

