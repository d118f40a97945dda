-- The folded address of a customer is made from the address, unless it is another text than that in lower case.
drop trigger users_search_insert;
drop trigger users_search_update;
drop trigger users_search_given;
drop trigger users_search_delete;
drop trigger edition_customers_search_insert;
drop trigger edition_customers_search_update;
drop trigger edition_customers_search_delete;
drop view given_texts;

alter table users drop column search_text;
alter table users add column address_folded text not null generated always as (
  iif(email_folded = '', coalesce(lower(email), ''), email_folded)
) virtual;
alter table users add column search_text text not null generated always as (
  upper(name_folded) || char(31) || address_folded || char(31) || phone_digits || char(31) || search_given
) virtual;
alter table edition_customers add column address_folded text not null generated always as (
  iif(email_folded = '', coalesce(lower(email), ''), email_folded)
) virtual;

create view given_texts as
  select id as user_id, (
    select coalesce(group_concat(part, char(31)), '') from (
      select upper(name_folded) as part from edition_customers
        where user_seq = users.seq and name_folded not in ('', users.name_folded)
      union
      select address_folded from edition_customers
        where user_seq = users.seq and address_folded not in ('', users.address_folded)
      union
      select phone_digits from edition_customers
        where user_seq = users.seq and phone_digits not in ('', users.phone_digits)
    )
  ) as text
  from users;

create trigger users_search_insert after insert on users begin
  insert into customer_search (rowid, organization, text) values (
    new.seq,
    char(unicode(substr(new.organization_id, -3)) + 917728, unicode(substr(new.organization_id, -2)) + 917728,
      unicode(substr(new.organization_id, -1)) + 917728),
    new.search_text
  );
end;

create trigger users_search_update after update of search, email, email_folded, phone_digits on users
  when old.search_text <> new.search_text begin
  insert into customer_search (customer_search, rowid, organization, text)
    values ('delete', old.seq, '', old.search_text);
  insert into customer_search (rowid, organization, text) values (new.seq, '', new.search_text);
  update users set search_given = given_texts.text from given_texts
    where given_texts.user_id = new.id and users.id = new.id and search_given <> given_texts.text;
end;

create trigger users_search_given after update of search_given on users
  when old.search_given <> new.search_given begin
  insert into customer_search (customer_search, rowid, organization, text)
    values ('delete', old.seq, '', old.search_text);
  insert into customer_search (rowid, organization, text) values (new.seq, '', new.search_text);
end;

create trigger users_search_delete after delete on users begin
  insert into customer_search (customer_search, rowid, organization, text) values (
    'delete',
    old.seq,
    char(unicode(substr(old.organization_id, -3)) + 917728, unicode(substr(old.organization_id, -2)) + 917728,
      unicode(substr(old.organization_id, -1)) + 917728),
    old.search_text
  );
end;

create trigger edition_customers_search_insert after insert on edition_customers
  when exists (select 1 from users where seq = new.user_seq and (new.name_folded not in ('', name_folded)
    or new.address_folded not in ('', address_folded) or new.phone_digits not in ('', phone_digits))) begin
  update users set search_given = given_texts.text from given_texts
    where given_texts.user_id = users.id and users.seq = new.user_seq and search_given <> given_texts.text;
end;

create trigger edition_customers_search_update
  after update of name_folded, email, email_folded, phone_digits on edition_customers
  when old.name_folded <> new.name_folded or old.address_folded <> new.address_folded
    or old.phone_digits <> new.phone_digits begin
  update users set search_given = given_texts.text from given_texts
    where given_texts.user_id = users.id and users.seq = new.user_seq and search_given <> given_texts.text;
end;

create trigger edition_customers_search_delete after delete on edition_customers begin
  update users set search_given = given_texts.text from given_texts
    where given_texts.user_id = users.id and users.seq = old.user_seq and search_given <> given_texts.text;
end;
