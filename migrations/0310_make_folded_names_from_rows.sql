-- As folded addresses, folded names are made from the names, unless they are other texts than these in lower case: of a customer
-- where `search` begins with the character 30, which folded text never has, and of what an edition says where there is none.
drop trigger users_search_insert;
drop trigger users_search_update;
drop trigger users_search_given;
drop trigger users_search_delete;
drop trigger users_found_otherwise;
drop trigger edition_customers_search_insert;
drop trigger edition_customers_search_update;
drop trigger edition_customers_search_delete;
drop trigger edition_customers_found_otherwise;
drop view given_texts;
drop view searched_orders;
drop view searched_customers;

alter table users drop column search_text;
alter table users drop column name_folded;
alter table users add column name_folded text not null generated always as (
  iif(substr(search, 1, 1) = char(30), lower(trim(first_name || ' ' || last_name)),
    substr(search, 1, max(0, length(search) - length(email_folded) - length(phone_digits)
      - (email_folded <> '') - (phone_digits <> ''))))
) virtual;
alter table users add column search_text text not null generated always as (
  upper(name_folded) || char(31) || address_folded || char(31) || phone_digits || char(31) || search_given
) virtual;
alter table edition_customers add column given_name_folded text not null generated always as (
  iif(name_folded = '', lower(trim(first_name || ' ' || last_name)), name_folded)
) virtual;

create view given_texts as
  select id as user_id, (
    select coalesce(group_concat(part, char(31)), '') from (
      select upper(given_name_folded) as part from edition_customers
        where user_seq = users.seq and given_name_folded not in ('', users.name_folded)
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

create trigger users_search_update after update of search, first_name, last_name, email, email_folded, phone_digits on users
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

create trigger users_found_otherwise
  after update of search, first_name, last_name, email_folded, phone_digits, email, phone_number on users
  when (new.search_text, new.email, new.phone_number) is not (old.search_text, old.email, old.phone_number)
begin
  insert into list_sizes (organization_id, customer_changes) values (new.organization_id, 1)
    on conflict (organization_id) do update set customer_changes = customer_changes + 1;
end;

create trigger edition_customers_search_insert after insert on edition_customers
  when exists (select 1 from users where seq = new.user_seq and (new.given_name_folded not in ('', name_folded)
    or new.address_folded not in ('', address_folded) or new.phone_digits not in ('', phone_digits))) begin
  update users set search_given = given_texts.text from given_texts
    where given_texts.user_id = users.id and users.seq = new.user_seq and search_given <> given_texts.text;
end;

create trigger edition_customers_search_update
  after update of first_name, last_name, name_folded, email, email_folded, phone_digits on edition_customers
  when old.given_name_folded <> new.given_name_folded or old.address_folded <> new.address_folded
    or old.phone_digits <> new.phone_digits begin
  update users set search_given = given_texts.text from given_texts
    where given_texts.user_id = users.id and users.seq = new.user_seq and search_given <> given_texts.text;
end;

create trigger edition_customers_search_delete after delete on edition_customers begin
  update users set search_given = given_texts.text from given_texts
    where given_texts.user_id = users.id and users.seq = old.user_seq and search_given <> given_texts.text;
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

create view searched_orders as
  select
    null as edition, null as organization, null as text, orders.seq, null as id, orders.organization_id,
    null as edition_id, orders.edition_short_id, null as user_id, orders.status, orders.type, orders.amount_minor,
    orders.created_at, orders.modified_at, orders.number_key, orders.number_folded, orders.own_search_text,
    null as search_text, users.address_folded, users.phone_digits,
    iif(
      exists (select 1 from edition_customers
        where user_seq = users.seq and edition_short_id <> orders.edition_short_id),
      (select json_group_array(json_array(edition_short_id, given_name_folded, address_folded, phone_digits, email,
        phone_number, created_at)) from edition_customers where user_seq = users.seq),
      '[]') as customer_editions,
    orders.search as contact,
    (select json_group_array(json_array(id, status, reason, source, requested_minor, created_at, modified_at))
      from refund_requests where order_id = orders.id) as requests
  from orders left join users on users.id = orders.user_id;

create view searched_customers as
  select
    null as organization, null as text, seq, id, organization_id, null as organization_short_id, name_folded,
    address_folded, phone_digits, email, phone_number, created_at, last_seen_at,
    (select json_group_array(json_array(edition_short_id, given_name_folded, address_folded, phone_digits, email,
        phone_number, created_at)) from edition_customers where user_seq = users.seq) as editions,
    (select json_group_array(json_array(seq, created_at, edition_short_id, search, modified_at, number_key, number_folded,
          status, type, amount_minor, own_search_text, json(
            (select json_group_array(json_array(id, status, reason, source, requested_minor, created_at, modified_at))
              from refund_requests where order_id = bought_order.id))))
      from (select seq, id, created_at, edition_short_id, search, modified_at, number_key, number_folded, status, type,
          amount_minor, own_search_text from orders where user_id = users.id limit 101) as bought_order) as bought
  from users;
