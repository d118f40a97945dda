-- Customers of editions are keyed by the number of the customer and by the end of the id of the edition, in a third of the
-- bytes. No two editions have ids with the same end.
alter table editions add column short_id text not null generated always as (substr(id, -8)) virtual;
create unique index editions_by_short_id on editions (short_id);

create table edition_customers (
  edition_short_id text not null,
  user_seq integer not null references users (seq),
  created_at integer not null,
  email text,
  phone_number text,
  first_name text not null default '',
  last_name text not null default '',
  locale text,
  name_folded text not null default '',
  email_folded text not null default '',
  phone_digits text not null default '',
  counted_together integer not null default 0 check (counted_together in (0, 1)),
  primary key (edition_short_id, user_seq)
) strict, without rowid;
insert into edition_customers (edition_short_id, user_seq, created_at, email, phone_number, first_name, last_name, locale,
    name_folded, email_folded, phone_digits, counted_together)
  select substr(given.edition_id, -8), users.seq, given.created_at, given.email, given.phone_number, given.first_name,
    given.last_name, given.locale, given.name_folded, given.email_folded, given.phone_digits, given.counted_together
  from user_editions as given join users on users.id = given.user_id
  order by 1, 2;
create index edition_customers_of_user on edition_customers (user_seq);

drop view given_texts;
drop table user_editions;

create view given_texts as
  select id as user_id, (
    select coalesce(group_concat(part, char(31)), '') from (
      select upper(name_folded) as part from edition_customers
        where user_seq = users.seq and name_folded not in ('', users.name_folded)
      union
      select email_folded from edition_customers
        where user_seq = users.seq and email_folded not in ('', users.email_folded)
      union
      select phone_digits from edition_customers
        where user_seq = users.seq and phone_digits not in ('', users.phone_digits)
    )
  ) as text
  from users;

create trigger edition_customers_search_insert after insert on edition_customers
  when exists (select 1 from users where seq = new.user_seq and (new.name_folded not in ('', name_folded)
    or new.email_folded not in ('', email_folded) or new.phone_digits not in ('', phone_digits))) begin
  update users set search_given = given_texts.text from given_texts
    where given_texts.user_id = users.id and users.seq = new.user_seq and search_given <> given_texts.text;
end;

create trigger edition_customers_search_update
  after update of name_folded, email_folded, phone_digits on edition_customers
  when old.name_folded <> new.name_folded or old.email_folded <> new.email_folded
    or old.phone_digits <> new.phone_digits begin
  update users set search_given = given_texts.text from given_texts
    where given_texts.user_id = users.id and users.seq = new.user_seq and search_given <> given_texts.text;
end;

create trigger edition_customers_search_delete after delete on edition_customers begin
  update users set search_given = given_texts.text from given_texts
    where given_texts.user_id = users.id and users.seq = old.user_seq and search_given <> given_texts.text;
end;

create trigger edition_customers_counted after insert on edition_customers when new.counted_together = 0
begin
  insert into order_counts (span_bits, edition_id, span, customers, changes)
    select 29, id, new.created_at >> 29, 1, 1 from editions where short_id = new.edition_short_id
    on conflict (span_bits, edition_id, span) do update set customers = customers + 1, changes = changes + 1;
end;

create trigger edition_customers_uncounted after delete on edition_customers
begin
  insert into order_counts (span_bits, edition_id, span, customers, changes)
    select 29, id, old.created_at >> 29, -1, 1 from editions where short_id = old.edition_short_id
    on conflict (span_bits, edition_id, span) do update set customers = customers - 1, changes = changes + 1;
end;

-- For the version before, until it is replaced.
create view user_editions as
  select editions.id as edition_id, users.id as user_id, given.created_at, given.email, given.phone_number,
    given.first_name, given.last_name, given.locale, given.name_folded, given.email_folded, given.phone_digits,
    given.counted_together
  from edition_customers as given
    join editions on editions.short_id = given.edition_short_id
    join users on users.seq = given.user_seq;

create trigger user_editions_insert instead of insert on user_editions begin
  insert into edition_customers (edition_short_id, user_seq, created_at, email, phone_number, first_name, last_name, locale,
      name_folded, email_folded, phone_digits, counted_together)
    values (substr(new.edition_id, -8), (select seq from users where id = new.user_id), new.created_at, new.email,
      new.phone_number, coalesce(new.first_name, ''), coalesce(new.last_name, ''), new.locale,
      coalesce(new.name_folded, ''), coalesce(new.email_folded, ''), coalesce(new.phone_digits, ''),
      coalesce(new.counted_together, 0));
end;

create trigger user_editions_update instead of update on user_editions begin
  update edition_customers set email = new.email, phone_number = new.phone_number, first_name = new.first_name,
      last_name = new.last_name, locale = new.locale, name_folded = new.name_folded, email_folded = new.email_folded,
      phone_digits = new.phone_digits
    where edition_short_id = substr(old.edition_id, -8) and user_seq = (select seq from users where id = old.user_id);
end;

create trigger user_editions_delete instead of delete on user_editions begin
  delete from edition_customers
    where edition_short_id = substr(old.edition_id, -8) and user_seq = (select seq from users where id = old.user_id);
end;
