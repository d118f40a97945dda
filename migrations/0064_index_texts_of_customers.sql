-- What editions were given of a customer and is not what `users` says: `given_texts` of the customer.
alter table users add column search_given text not null default '';

-- What `users.search` has before the address and the number.
alter table users add column name_folded text not null generated always as (
  substr(search, 1, max(0, length(search) - length(email_folded) - length(phone_digits)
    - (email_folded <> '') - (phone_digits <> '')))
) virtual;

-- Names stand in capitals, which folded text never has, so that a search for contacts does not read names.
alter table users add column search_text text not null generated always as (
  upper(name_folded) || char(31) || email_folded || char(31) || phone_digits || char(31) || search_given
) virtual;

create view given_texts as
  select id as user_id, (
    select coalesce(group_concat(part, char(31)), '') from (
      select upper(name_folded) as part from user_editions
        where user_id = users.id and name_folded not in ('', users.name_folded)
      union
      select email_folded from user_editions
        where user_id = users.id and email_folded not in ('', users.email_folded)
      union
      select phone_digits from user_editions
        where user_id = users.id and phone_digits not in ('', users.phone_digits)
    )
  ) as text
  from users;

update users set search_given = given_texts.text from given_texts
  where given_texts.user_id = users.id and given_texts.text <> '';

-- As `order_search`.
create virtual table customer_search using fts5 (
  organization, text, content = '', detail = 'none', columnsize = 0, tokenize = 'trigram case_sensitive 1'
);
insert into customer_search (customer_search, rank) values ('secure-delete', 1);

insert into customer_search (rowid, organization, text)
  select seq,
    char(unicode(substr(organization_id, -3)) + 917728, unicode(substr(organization_id, -2)) + 917728,
      unicode(substr(organization_id, -1)) + 917728),
    search_text
  from users;

create trigger users_search_insert after insert on users begin
  insert into customer_search (rowid, organization, text) values (
    new.seq,
    char(unicode(substr(new.organization_id, -3)) + 917728, unicode(substr(new.organization_id, -2)) + 917728,
      unicode(substr(new.organization_id, -1)) + 917728),
    new.search_text
  );
end;

-- The update at the end lets the trigger after this one run: what is in the index by then is the text that it removes.
create trigger users_search_update after update of search, email_folded, phone_digits on users
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

create trigger user_editions_search_insert after insert on user_editions
  when exists (select 1 from users where id = new.user_id and (new.name_folded not in ('', name_folded)
    or new.email_folded not in ('', email_folded) or new.phone_digits not in ('', phone_digits))) begin
  update users set search_given = given_texts.text from given_texts
    where given_texts.user_id = new.user_id and users.id = new.user_id and search_given <> given_texts.text;
end;

create trigger user_editions_search_update after update of name_folded, email_folded, phone_digits on user_editions
  when old.name_folded <> new.name_folded or old.email_folded <> new.email_folded
    or old.phone_digits <> new.phone_digits begin
  update users set search_given = given_texts.text from given_texts
    where given_texts.user_id = new.user_id and users.id = new.user_id and search_given <> given_texts.text;
end;

create trigger user_editions_search_delete after delete on user_editions begin
  update users set search_given = given_texts.text from given_texts
    where given_texts.user_id = old.user_id and users.id = old.user_id and search_given <> given_texts.text;
end;
