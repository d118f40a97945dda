-- Customers of an edition have no index of its own: runs have them in each order of lists, as those of orders (0185). The values
-- that roles of the edition see of customers of several editions are orderings of their own.
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
  primary key (edition_short_id, ordering, generation, is_delta, number)
) strict, without rowid;

-- As `order_run_states`. Customers are young from a number on, not from a moment.
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
  walk text
) strict, without rowid;

-- Customers who changed, joined or left an edition without being young, in the order of these changes.
create table late_customers (
  edition_short_id text not null,
  number integer not null,
  user_seq integer not null,
  -- Runs may have a value of theirs that is no longer stored otherwise.
  is_personal integer not null check (is_personal in (0, 1)),
  primary key (edition_short_id, number)
) strict, without rowid;

create index late_customers_personal on late_customers (edition_short_id, number) where is_personal = 1;

-- One who joins a second edition is shown otherwise in the first. A new customer is young, and none is noted.
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

create trigger customers_given_otherwise_in_runs after update of created_at, email, phone_number on edition_customers
  when (new.created_at, new.email, new.phone_number) is not (old.created_at, old.email, old.phone_number)
begin
  insert into late_customers (edition_short_id, number, user_seq, is_personal)
    select state.edition_short_id,
      1 + coalesce((select max(number) from late_customers where edition_short_id = state.edition_short_id), 0), new.user_seq, 1
    from customer_run_states as state
    where state.edition_short_id = new.edition_short_id and new.user_seq < state.noted_until;
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
