-- Roles of an edition see of customers who are in others, too, what their own edition was given. Lists looked for other editions of
-- each customer, two rows each, and most customers are in one. A customer says which one this is. Where it is null, the editions are
-- looked for. Triggers keep it in the transaction in which a customer joins or leaves, whichever version writes.
alter table users add column only_edition_short_id text;

update users set only_edition_short_id = one.edition_short_id
  from (select user_seq, min(edition_short_id) as edition_short_id from edition_customers indexed by edition_customers_of_user
    group by user_seq having count(*) = 1) as one
  where users.seq = one.user_seq;

-- The import names the edition of new customers. Others are named here, or name none any more when they join a second edition.
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
