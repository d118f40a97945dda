-- Lead to a page of customers by its number, as `order_intervals` to one of orders. An interval counts the settled customers of
-- an organisation from its key up to the key of the next one. The first interval of each ordering begins before all customers.
-- The keys of others are those of customers: an e-mail address, a telephone number or the moment of a visit, with the moment
-- at which the customer joined and their number.
create table customer_intervals (
  scope text not null,
  ordering text not null check (ordering in ('email', 'no_email', 'phone', 'no_phone', 'seen', 'unseen')),
  value any not null,
  created_at integer not null,
  seq integer not null,
  total integer not null default 0,
  primary key (scope, ordering, value, created_at, seq)
) strict, without rowid;

-- What is written here changes intervals: a key of a customer comes (1) or goes (-1). No interval keeps a key that goes, which
-- may say who a customer was: the interval before it takes its customers. `+` takes types away: keys are compared as they are.
create view customer_interval_changes as
  select scope, ordering, value, created_at, seq, 0 as change from customer_intervals where 0;

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

-- Customers are settled, that is counted here, some minutes after they joined: `settled_lists` says of an organisation from which
-- moment on they are not. So a new one writes nothing. Addresses are unique, and customers without one are listed by their
-- number: their keys have no moment. An erased customer has no telephone number, but their id in its place.
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

-- A change of an address, a number or a visit moves a customer in its ordering alone.
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
