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

-- How many customers of an organization stand between two values of an ordering.
create table customer_intervals (
  scope text not null,
  ordering text not null check (ordering in ('email', 'no_email', 'phone', 'no_phone', 'seen', 'unseen')),
  value any not null,
  created_at integer not null,
  seq integer not null,
  total integer not null default 0,
  primary key (scope, ordering, value, created_at, seq)
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

-- Customers of an edition in the order of an ordering, packed.
create table customer_runs (
  edition_short_id text not null,
  ordering text not null
    check (ordering in ('number', 'joined', 'email', 'phone', 'seen', 'given_joined', 'given_email', 'given_phone')),
  generation integer not null,
  is_delta integer not null check (is_delta in (0, 1)),
  number integer not null,
  -- The key of the first customer: the value of the ordering, the moment of creation, the number of the customer.
  first_value any not null,
  first_created_at integer not null,
  first_user_seq integer not null,
  -- How many of the customers joined in each span of 2^31 milliseconds, and are of each kind, as JSON arrays of pairs.
  spans text not null,
  kinds text,
  -- Compressed.
  entries blob not null,
  has_owners integer not null default 0 check (has_owners in (0, 1)),
  primary key (edition_short_id, ordering, generation, is_delta, number)
) strict, without rowid;

create table customer_run_states (
  edition_short_id text primary key not null,
  generation integer not null default 0,
  main_until integer not null default 0,
  main_late integer not null default 0,
  until integer not null default 0,
  late integer not null default 0,
  noted_until integer not null default 0,
  main_size integer not null default 0,
  delta_size integer not null default 0,
  -- When the walk of its main runs began.
  walked_at integer not null default 0,
  walk text,
  owners_generation integer not null default 0
) strict, without rowid;

create table late_customers (
  edition_short_id text not null,
  number integer not null,
  user_seq integer not null,
  -- Runs may have a value of theirs that is no longer stored otherwise.
  is_personal integer not null check (is_personal in (0, 1)),
  primary key (edition_short_id, number)
) strict, without rowid;
-- Finds out whether main runs hold personal values that have to go.
create index late_customers_personal on late_customers (edition_short_id, number) where is_personal = 1;

-- How many customers are in exactly these editions, two or more.
create table shared_customers (
  organization_short_id text not null,
  -- Short ids in their order, behind commas.
  editions text not null,
  customers integer not null,
  primary key (organization_short_id, editions)
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

create virtual table found_customers using fts5 (
  entry unindexed, content = 'customer_entries', content_rowid = 'seq', detail = 'none', columnsize = 0
);

create virtual table found_editions using fts5 (
  entry unindexed, content = 'edition_entries', content_rowid = 'seq', detail = 'none', columnsize = 0
);

create view customer_interval_changes as
  select scope, ordering, value, created_at, seq, 0 as change from customer_intervals where 0;

create view names_of_files (id, names) as
  select id, json_array(edition || ' ' || purpose || ' ' || type, edition || ',' || purpose || ',*', edition || ',*,' || type,
    edition || ',*,*', '*,' || purpose || ',' || type, '*,' || purpose || ',*', '*,*,' || type, '*,*,*')
  from (select id, coalesce(edition_id, '-') as edition, purpose, mime_type as type from files);

create view searched_customers as
  select
    null as organization, null as text, seq, id, organization_id, null as organization_short_id, name_folded,
    address_folded, phone_digits, email, phone_number, created_at, last_seen_at,
    (select json_group_array(json_array(edition_short_id, given_name_folded, address_folded, phone_digits, email,
        phone_number, created_at)) from edition_customers where user_seq = users.seq) as editions,
    null as bought
  from users;

create view editions_of_customers as
  select users.seq as user_seq, users.organization_short_id,
    (select group_concat(',' || edition_short_id, '') from (select edition_short_id from edition_customers
      where user_seq = users.seq order by edition_short_id limit -1)) as editions
  from users;

create view customer_entries as
  select seq, format('[%s,%s]',
    json_array(id, organization_id, name_folded, address_folded, phone_digits, email, phone_number, created_at, last_seen_at),
    coalesce(
      (select json_array(json_array(min(edition_short_id), '', '', '', null, null, min(created_at)))
        from edition_customers where user_seq = users.seq having count(*) = 1),
      (select json_group_array(json_array(edition_short_id, given_name_folded, address_folded, phone_digits, email,
        phone_number, created_at)) from edition_customers where user_seq = users.seq))) as entry
  from users;

create view edition_entries as
  select seq, coalesce(
      (select json_array(json_array(min(edition_short_id), '', '', '', null, null, 0))
        from edition_customers where user_seq = users.seq having count(*) = 1),
      (select json_group_array(json_array(edition_short_id, given_name_folded, address_folded, phone_digits, email,
        phone_number, created_at)) from edition_customers where user_seq = users.seq)) as entry
  from users;

create trigger users_counted after insert on users when new.counted_together = 0
begin
  insert into list_sizes (organization_id, customers, customer_changes) values (new.organization_id, 1, 1)
    on conflict (organization_id) do update set customers = customers + 1, customer_changes = customer_changes + 1;
end;

create trigger users_uncounted after delete on users
begin
  update list_sizes set customers = customers - 1, customer_changes = customer_changes + 1
    where organization_id = old.organization_id;
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

create trigger users_left_spans after delete on users
  when old.created_at < (select until from settled_lists where list = 'users' and scope = old.organization_id)
begin
  update list_spans set total = total - 1, counts = json_set(counts, '$.all', (counts ->> '$.all') - 1)
    where list = 'users' and scope = old.organization_id and span = old.created_at >> 28;
  update list_span_parts set total = total - 1, counts = json_set(counts, '$.all', (counts ->> '$.all') - 1)
    where (list, scope, bits, span) in (select 'users', old.organization_id, value, old.created_at >> value
      from json_each('[24,21,18,15,12,9,6,3,0]'));
end;

create trigger customer_interval_changes_made instead of insert on customer_interval_changes
begin
  update customer_intervals set total = total + new.change
    where scope = new.scope and ordering = new.ordering and (value, created_at, seq) = (
      select value, created_at, seq from customer_intervals as former
        where former.scope = new.scope and former.ordering = new.ordering
          and (former.value, former.created_at, former.seq) <= (+new.value, +new.created_at, +new.seq)
        order by former.value desc, former.created_at desc, former.seq desc limit 1);
  update customer_intervals set total = customer_intervals.total + gone.total
    from customer_intervals as gone
    where new.change < 0 and gone.scope = new.scope and gone.ordering = new.ordering
      and (gone.value, gone.created_at, gone.seq) = (+new.value, +new.created_at, +new.seq)
      and customer_intervals.scope = new.scope and customer_intervals.ordering = new.ordering
      and (customer_intervals.value, customer_intervals.created_at, customer_intervals.seq) = (
        select value, created_at, seq from customer_intervals as former
          where former.scope = new.scope and former.ordering = new.ordering
            and (former.value, former.created_at, former.seq) < (+new.value, +new.created_at, +new.seq)
          order by former.value desc, former.created_at desc, former.seq desc limit 1);
  delete from customer_intervals
    where new.change < 0 and scope = new.scope and ordering = new.ordering
      and (value, created_at, seq) = (+new.value, +new.created_at, +new.seq);
end;

create trigger customers_left_intervals after delete on users
  when old.created_at < (select until from settled_lists where list = 'customer_intervals' and scope = old.organization_id)
begin
  insert into customer_interval_changes (scope, ordering, value, created_at, seq, change)
    select old.organization_id, iif(old.email is null, 'no_email', 'email'), coalesce(old.email, 0), 0, old.seq, -1
    union all select old.organization_id, iif(old.phone_number is null, 'no_phone', 'phone'), coalesce(old.phone_number, 0),
      old.created_at, old.seq, -1 where coalesce(old.phone_number, '') < 'usr_'
    union all select old.organization_id, iif(old.last_seen_at is null, 'unseen', 'seen'), coalesce(old.last_seen_at, 0),
      old.created_at, old.seq, -1;
end;

create trigger customers_joined_intervals after insert on users
  when new.created_at < (select until from settled_lists where list = 'customer_intervals' and scope = new.organization_id)
begin
  insert into customer_interval_changes (scope, ordering, value, created_at, seq, change)
    select new.organization_id, iif(new.email is null, 'no_email', 'email'), coalesce(new.email, 0), 0, new.seq, 1
    union all select new.organization_id, iif(new.phone_number is null, 'no_phone', 'phone'), coalesce(new.phone_number, 0),
      new.created_at, new.seq, 1 where coalesce(new.phone_number, '') < 'usr_'
    union all select new.organization_id, iif(new.last_seen_at is null, 'unseen', 'seen'), coalesce(new.last_seen_at, 0),
      new.created_at, new.seq, 1;
end;

create trigger customers_changed_in_intervals after update of organization_id, created_at, email, phone_number, last_seen_at on users
  when (new.organization_id, new.created_at, new.email, new.phone_number, new.last_seen_at)
    is not (old.organization_id, old.created_at, old.email, old.phone_number, old.last_seen_at)
    and old.created_at < (select until from settled_lists where list = 'customer_intervals' and scope = old.organization_id)
begin
  insert into customer_interval_changes (scope, ordering, value, created_at, seq, change)
    select old.organization_id, iif(old.email is null, 'no_email', 'email'), coalesce(old.email, 0), 0, old.seq, -1
      where (new.organization_id, new.created_at, new.email) is not (old.organization_id, old.created_at, old.email)
    union all select old.organization_id, iif(old.phone_number is null, 'no_phone', 'phone'), coalesce(old.phone_number, 0),
      old.created_at, old.seq, -1 where coalesce(old.phone_number, '') < 'usr_'
        and (new.organization_id, new.created_at, new.phone_number) is not (old.organization_id, old.created_at, old.phone_number)
    union all select old.organization_id, iif(old.last_seen_at is null, 'unseen', 'seen'), coalesce(old.last_seen_at, 0),
      old.created_at, old.seq, -1
      where (new.organization_id, new.created_at, new.last_seen_at) is not (old.organization_id, old.created_at, old.last_seen_at);
end;

create trigger customers_changed_into_intervals after update of organization_id, created_at, email, phone_number, last_seen_at on users
  when (new.organization_id, new.created_at, new.email, new.phone_number, new.last_seen_at)
    is not (old.organization_id, old.created_at, old.email, old.phone_number, old.last_seen_at)
    and new.created_at < (select until from settled_lists where list = 'customer_intervals' and scope = new.organization_id)
begin
  insert into customer_interval_changes (scope, ordering, value, created_at, seq, change)
    select new.organization_id, iif(new.email is null, 'no_email', 'email'), coalesce(new.email, 0), 0, new.seq, 1
      where (new.organization_id, new.created_at, new.email) is not (old.organization_id, old.created_at, old.email)
    union all select new.organization_id, iif(new.phone_number is null, 'no_phone', 'phone'), coalesce(new.phone_number, 0),
      new.created_at, new.seq, 1 where coalesce(new.phone_number, '') < 'usr_'
        and (new.organization_id, new.created_at, new.phone_number) is not (old.organization_id, old.created_at, old.phone_number)
    union all select new.organization_id, iif(new.last_seen_at is null, 'unseen', 'seen'), coalesce(new.last_seen_at, 0),
      new.created_at, new.seq, 1
      where (new.organization_id, new.created_at, new.last_seen_at) is not (old.organization_id, old.created_at, old.last_seen_at);
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

create trigger customers_joined_runs after insert on edition_customers
begin
  insert into late_customers (edition_short_id, number, user_seq, is_personal)
    select known.edition_short_id,
      1 + coalesce((select max(number) from late_customers where edition_short_id = known.edition_short_id), 0), new.user_seq, 0
    from edition_customers as known
      cross join customer_run_states as state on state.edition_short_id = known.edition_short_id
    where known.user_seq = new.user_seq and known.user_seq < state.noted_until;
end;

create trigger customers_left_runs after delete on edition_customers
begin
  insert into late_customers (edition_short_id, number, user_seq, is_personal)
    select state.edition_short_id,
      1 + coalesce((select max(number) from late_customers where edition_short_id = state.edition_short_id), 0), old.user_seq, 1
    from customer_run_states as state
    where state.edition_short_id = old.edition_short_id and old.user_seq < state.noted_until;
  insert into late_customers (edition_short_id, number, user_seq, is_personal)
    select known.edition_short_id,
      1 + coalesce((select max(number) from late_customers where edition_short_id = known.edition_short_id), 0), old.user_seq, 0
    from edition_customers as known
      cross join customer_run_states as state on state.edition_short_id = known.edition_short_id
    where known.user_seq = old.user_seq and known.user_seq < state.noted_until;
end;

create trigger customers_changed_in_runs after update of email, phone_number, last_seen_at, created_at on users
  when (new.email, new.phone_number, new.last_seen_at, new.created_at)
    is not (old.email, old.phone_number, old.last_seen_at, old.created_at)
begin
  insert into late_customers (edition_short_id, number, user_seq, is_personal)
    select known.edition_short_id,
      1 + coalesce((select max(number) from late_customers where edition_short_id = known.edition_short_id), 0), new.seq,
      (new.email, new.phone_number) is not (old.email, old.phone_number)
    from edition_customers as known
      cross join customer_run_states as state on state.edition_short_id = known.edition_short_id
    where known.user_seq = new.seq and new.seq < state.noted_until;
end;

create trigger users_found_otherwise
  after update of search, first_name, last_name, email_folded, phone_digits, email, phone_number on users
  when (new.search_text, new.email, new.phone_number) is not (old.search_text, old.email, old.phone_number)
begin
  insert into list_sizes (organization_id, customer_changes) values (new.organization_id, 1)
    on conflict (organization_id) do update set customer_changes = customer_changes + 1;
end;

create trigger edition_customers_found_otherwise
  after update of created_at, email, email_folded, phone_number, phone_digits, first_name, last_name, name_folded on edition_customers
  when (new.created_at, new.email, new.email_folded, new.phone_number, new.phone_digits, new.given_name_folded)
    is not (old.created_at, old.email, old.email_folded, old.phone_number, old.phone_digits, old.given_name_folded)
begin
  insert into list_sizes (organization_id, customer_changes)
    select organization_id, 1 from editions where short_id = new.edition_short_id
    on conflict (organization_id) do update set customer_changes = customer_changes + 1;
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

create trigger customers_joined_several after insert on edition_customers
  when exists (select 1 from edition_customers where user_seq = new.user_seq and edition_short_id <> new.edition_short_id)
begin
  insert into shared_customers (organization_short_id, editions, customers)
    select organization_short_id, editions, 1 from editions_of_customers where user_seq = new.user_seq
    on conflict (organization_short_id, editions) do update set customers = customers + 1;
  update shared_customers set customers = customers - 1
    where (organization_short_id, editions) = (select organization_short_id, replace(editions, ',' || new.edition_short_id, '')
      from editions_of_customers where user_seq = new.user_seq);
end;

create trigger customers_left_several after delete on edition_customers
  when exists (select 1 from edition_customers where user_seq = old.user_seq)
begin
  update shared_customers set customers = customers - 1
    where organization_short_id = (select organization_short_id from users where seq = old.user_seq)
      and editions = (select group_concat(',' || edition_short_id, '') from (
        select edition_short_id from edition_customers where user_seq = old.user_seq
        union select old.edition_short_id order by edition_short_id));
  update shared_customers set customers = customers + 1
    where (organization_short_id, editions) =
      (select organization_short_id, editions from editions_of_customers where user_seq = old.user_seq);
  insert into shared_customers (organization_short_id, editions, customers)
    select organization_short_id, editions, 1 from editions_of_customers
    where user_seq = old.user_seq and (select count(*) from edition_customers where user_seq = old.user_seq) > 1
    on conflict (organization_short_id, editions) do nothing;
end;

create trigger customers_of_none after update of customers on shared_customers when new.customers = 0
begin
  delete from shared_customers where organization_short_id = new.organization_short_id and editions = new.editions;
end;

create trigger users_seen_otherwise after update of last_seen_at on users when new.last_seen_at is not old.last_seen_at
begin
  insert into list_sizes (organization_id, customer_changes) values (new.organization_id, 1)
    on conflict (organization_id) do update set customer_changes = customer_changes + 1;
end;

create trigger customers_run_without_owners after insert on customer_runs when new.has_owners = 0
begin
  update customer_run_states set owners_generation = 0
    where edition_short_id = new.edition_short_id and owners_generation = new.generation;
end;

create trigger customers_given_otherwise_in_runs after update of created_at, email, phone_number on edition_customers
  when (new.created_at, new.email, new.phone_number) is not (old.created_at, old.email, old.phone_number)
begin
  insert into late_customers (edition_short_id, number, user_seq, is_personal)
    select known.edition_short_id,
      1 + coalesce((select max(number) from late_customers where edition_short_id = known.edition_short_id), 0), new.user_seq,
      known.edition_short_id = new.edition_short_id
    from edition_customers as known
      cross join customer_run_states as state on state.edition_short_id = known.edition_short_id
    where known.user_seq = new.user_seq and known.user_seq < state.noted_until
      and (known.edition_short_id = new.edition_short_id
        or (new.created_at, coalesce(new.email, '') <> '', coalesce(new.phone_number, '') <> '')
          is not (old.created_at, coalesce(old.email, '') <> '', coalesce(old.phone_number, '') <> ''));
end;

create trigger list_spans_added_up after insert on list_spans
  when new.list in ('audit_log', 'audit_log_resources', 'files', 'users')
begin
  insert into list_span_parts (list, scope, bits, span, counts, total)
    select new.list, new.scope, column1, new.span >> (column1 - 28), new.counts, new.total from (values (31), (34)) where true
    on conflict (list, scope, bits, span) do update set total = total + excluded.total, counts = (
      select json_group_object(key, n) from (select key, sum(value) as n from (
        select key, value from json_each(list_span_parts.counts) union all select key, value from json_each(excluded.counts))
        group by key having sum(value) <> 0));
end;

create trigger list_spans_added_up_anew after update of counts, total on list_spans
  when new.list in ('audit_log', 'audit_log_resources', 'files', 'users')
begin
  update list_span_parts set total = total + new.total - old.total, counts = (
      select json_group_object(key, n) from (select key, sum(value) as n from (
        select key, value from json_each(counts) union all select key, value from json_each(new.counts)
        union all select key, -value from json_each(old.counts))
        group by key having sum(value) <> 0))
    where (list, scope, bits, span) in (values (new.list, new.scope, 31, new.span >> 3), (new.list, new.scope, 34, new.span >> 6));
end;

create trigger list_spans_taken_out after delete on list_spans
  when old.list in ('audit_log', 'audit_log_resources', 'files', 'users')
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

create trigger customers_joined_only after insert on edition_customers
  when (select only_edition_short_id from users where seq = new.user_seq) is not new.edition_short_id
begin
  update users set only_edition_short_id = iif(only_edition_short_id is null, new.edition_short_id, null)
    where seq = new.user_seq and (only_edition_short_id is not null
      or (select count(*) from edition_customers where user_seq = new.user_seq) = 1);
end;

create trigger customers_left_only after delete on edition_customers begin
  update users set only_edition_short_id = (
      select iif(count(*) = 1, min(edition_short_id), null) from edition_customers where user_seq = old.user_seq)
    where seq = old.user_seq;
end;