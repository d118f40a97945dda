-- Roles of several editions have each of their customers once. How many are in which editions says how many that are, when each edition
-- counts its own: a customer of two editions or more is counted in the row of exactly these. One of a single edition writes nothing.
create table shared_customers (
  organization_short_id text not null,
  -- Short ids in their order, behind commas.
  editions text not null,
  customers integer not null,
  primary key (organization_short_id, editions)
) strict, without rowid;

insert into shared_customers (organization_short_id, editions, customers)
  select users.organization_short_id, shared.editions, count(*)
  from (
    select user_seq, group_concat(',' || edition_short_id, '') as editions
    from (select user_seq, edition_short_id from edition_customers indexed by edition_customers_of_user
      order by user_seq, edition_short_id limit -1)
    group by user_seq having count(*) > 1
  ) as shared
    join users on users.seq = shared.user_seq
  group by 1, 2;

-- The editions of customers who are in several.
create view editions_of_customers as
  select users.seq as user_seq, users.organization_short_id,
    (select group_concat(',' || edition_short_id, '') from (select edition_short_id from edition_customers
      where user_seq = users.seq order by edition_short_id limit -1)) as editions
  from users;

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

-- A change of their last visit is one of the state in which customers are found and kept in that order.
create trigger users_seen_otherwise after update of last_seen_at on users when new.last_seen_at is not old.last_seen_at
begin
  insert into list_sizes (organization_id, customer_changes) values (new.organization_id, 1)
    on conflict (organization_id) do update set customer_changes = customer_changes + 1;
end;
