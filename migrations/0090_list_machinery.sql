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

create virtual table found_customers using fts5 (
  entry unindexed, content = 'customer_entries', content_rowid = 'seq', detail = 'none', columnsize = 0
);

create virtual table found_editions using fts5 (
  entry unindexed, content = 'edition_entries', content_rowid = 'seq', detail = 'none', columnsize = 0
);

create view customer_interval_changes as
  select scope, ordering, value, created_at, seq, 0 as change from customer_intervals where 0;

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
