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
  when new.list in ('audit_log', 'audit_log_resources', 'organization_refund_requests', 'refund_requests', 'users')
begin
  insert into list_span_parts (list, scope, bits, span, counts, total)
    select new.list, new.scope, column1, new.span >> (column1 - 28), new.counts, new.total from (values (31), (34)) where true
    on conflict (list, scope, bits, span) do update set total = total + excluded.total, counts = (
      select json_group_object(key, n) from (select key, sum(value) as n from (
        select key, value from json_each(list_span_parts.counts) union all select key, value from json_each(excluded.counts))
        group by key having sum(value) <> 0));
end;

create trigger list_spans_added_up_anew after update of counts, total on list_spans
  when new.list in ('audit_log', 'audit_log_resources', 'organization_refund_requests', 'refund_requests', 'users')
begin
  update list_span_parts set total = total + new.total - old.total, counts = (
      select json_group_object(key, n) from (select key, sum(value) as n from (
        select key, value from json_each(counts) union all select key, value from json_each(new.counts)
        union all select key, -value from json_each(old.counts))
        group by key having sum(value) <> 0))
    where (list, scope, bits, span) in (values (new.list, new.scope, 31, new.span >> 3), (new.list, new.scope, 34, new.span >> 6));
end;

create trigger list_spans_taken_out after delete on list_spans
  when old.list in ('audit_log', 'audit_log_resources', 'organization_refund_requests', 'refund_requests', 'users')
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

