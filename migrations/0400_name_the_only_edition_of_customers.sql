-- Roles of an edition see of customers who are in others, too, what their own edition was given. Lists looked for other editions of
-- each customer, two rows each, and most customers are in one. A customer says which one this is. Where it is null, the editions are
-- looked for. Triggers keep it in the transaction in which a customer joins or leaves, whichever version writes.
alter table users add column only_edition_short_id text;

update users set only_edition_short_id = one.edition_short_id
  from (select user_seq, min(edition_short_id) as edition_short_id from edition_customers indexed by edition_customers_of_user
    group by user_seq having count(*) = 1) as one
  where users.seq = one.user_seq;

-- The import names the edition of new customers. Those who are added otherwise are named here.
create trigger customers_joined_only after insert on edition_customers
  when (select only_edition_short_id from users where seq = new.user_seq) is not new.edition_short_id
    and not exists (select 1 from edition_customers where user_seq = new.user_seq and edition_short_id <> new.edition_short_id)
begin
  update users set only_edition_short_id = new.edition_short_id where seq = new.user_seq;
end;

-- As before, and the customer is in one edition no more.
drop trigger customers_joined_several;
create trigger customers_joined_several after insert on edition_customers
  when exists (select 1 from edition_customers where user_seq = new.user_seq and edition_short_id <> new.edition_short_id)
begin
  update users set only_edition_short_id = null where seq = new.user_seq and only_edition_short_id is not null;
  insert into shared_customers (organization_short_id, editions, customers)
    select organization_short_id, editions, 1 from editions_of_customers where user_seq = new.user_seq
    on conflict (organization_short_id, editions) do update set customers = customers + 1;
  update shared_customers set customers = customers - 1
    where (organization_short_id, editions) = (select organization_short_id, replace(editions, ',' || new.edition_short_id, '')
      from editions_of_customers where user_seq = new.user_seq);
end;

create trigger customers_left_only after delete on edition_customers begin
  update users set only_edition_short_id = (
      select iif(count(*) = 1, min(edition_short_id), null) from edition_customers where user_seq = old.user_seq)
    where seq = old.user_seq;
end;
