-- Customers of organizations, and what each edition was told about them.

-- A customer of one organization. `seq` is the order of creation and the rowid in the search index.
create table users (
  seq integer primary key,
  id text not null unique,
  organization_id text not null references organizations (id),
  organization_short_id text not null generated always as (substr(organization_id, -8)) virtual,
  email text,
  phone_number text,
  first_name text not null default '',
  last_name text not null default '',
  locale text not null,
  msg_channel text not null,
  is_verified integer not null default 0 check (is_verified in (0, 1)),
  is_active integer not null default 1 check (is_active in (0, 1)),
  metadata text not null default '{}' check (json_valid(metadata)),
  last_seen_at integer,
  -- An erased customer has no address, and an id in place of a number, because the check wants one of the two.
  erased_at integer,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  -- The edition of a customer who is in exactly one.
  only_edition_short_id text,
  -- Set where the statement that inserts the row counts it and no trigger does.
  counted_together integer not null default 0 check (counted_together in (0, 1)),
  -- Empty where `address_folded` makes the same from the address.
  email_folded text not null default '',
  phone_digits text not null default '',
  -- The folded name, or the character 30 where `name_folded` makes it from the names, followed by `email_folded` and
  -- the digits where there are any.
  search text not null,
  -- What editions were told of the customer and `users` does not say. Triggers on `edition_customers` maintain it.
  search_given text not null default '',
  name_folded text not null generated always as (
    iif(substr(search, 1, 1) = char(30), lower(trim(first_name || ' ' || last_name)),
      substr(search, 1, max(0, length(search) - length(email_folded) - length(phone_digits)
        - (email_folded <> '') - (phone_digits <> ''))))
  ) virtual,
  address_folded text not null generated always as (
    iif(email_folded = '', coalesce(lower(email), ''), email_folded)
  ) virtual,
  -- Names stand in capitals, which folded text never contains, so a search for contacts never matches names.
  search_text text not null generated always as (
    upper(name_folded) || char(10) || address_folded || char(10) || phone_digits || char(10) || search_given
  ) virtual,
  check (email is not null or phone_number is not null)
) strict;
-- An address belongs to one customer of an organization; imports find people by it, and lists are ordered by it. Null
-- addresses all differ.
create unique index users_by_email on users (organization_short_id, email);
-- A number belongs to one customer among those without an address.
create unique index users_by_phone_only on users (organization_short_id, phone_number) where email is null;
-- Holds an even sample of at most a sixteenth of the customers, for estimates of segments. Others write no entry.
create index users_sample on users (organization_short_id, ((seq & 2147483647) * 2654435761) & 4294967295)
  where ((seq & 2147483647) * 2654435761) & 4294967295 < 268435456;
-- Serves the order in which customers joined, with and without a number and a visit, for lists and for segment
-- calculations.
create index users_order_created
  on users (organization_short_id, (phone_number is null), (last_seen_at is null), created_at);
-- Serves lists ordered by number, of those who have one. The others stand in order in `users_order_created`.
create index users_order_phone on users (organization_short_id, phone_number, created_at)
  where phone_number is not null;
-- Serves lists ordered by last visit, of those who were seen. The others stand in order in `users_order_created`.
create index users_order_seen on users (organization_short_id, last_seen_at, created_at) where last_seen_at is not null;

-- What an edition's imports said of a customer. Roles of that edition see it, and not the row in `users`, of a customer
-- whom other editions know too.
create table edition_customers (
  -- `editions.short_id`.
  edition_short_id text not null,
  user_seq integer not null references users (seq),
  created_at integer not null,
  email text,
  phone_number text,
  first_name text not null default '',
  last_name text not null default '',
  locale text,
  -- Empty where `given_name_folded` makes the same from the names.
  name_folded text not null default '',
  -- Empty where `address_folded` makes the same from the address.
  email_folded text not null default '',
  phone_digits text not null default '',
  given_name_folded text not null generated always as (
    iif(name_folded = '', lower(trim(first_name || ' ' || last_name)), name_folded)
  ) virtual,
  address_folded text not null generated always as (
    iif(email_folded = '', coalesce(lower(email), ''), email_folded)
  ) virtual,
  primary key (edition_short_id, user_seq)
) strict, without rowid;
-- Finds the editions of a customer, which decide what a caller sees.
create index edition_customers_of_user on edition_customers (user_seq);

-- What editions were told of a customer and `users` does not say, as `users.search_given` holds it.
create view given_texts as
  select id as user_id, (
    select coalesce(group_concat(part, char(10)), '') from (
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

-- Finds customers by any three letters of `users.search_text`. `organization` is a mark made of the last three
-- characters of the id, moved to variation selectors, which folded text never contains. Two organizations may share a
-- mark, so results are compared with the row. `detail = none` stores nothing but the three-letter sequences.
create virtual table customer_search using fts5 (
  organization, text,
  seq unindexed, id unindexed, organization_id unindexed, organization_short_id unindexed, name_folded unindexed,
  address_folded unindexed, phone_digits unindexed, email unindexed, phone_number unindexed, created_at unindexed,
  last_seen_at unindexed, editions unindexed, bought unindexed,
  content = 'searched_customers', content_rowid = 'seq', detail = 'none', columnsize = 0,
  tokenize = 'trigram case_sensitive 1'
);

-- Erasures of customers, which run step by step in the background.
create table erasures (
  id text primary key,
  organization_id text not null references organizations (id),
  user_id text not null unique references users (id),
  user_seq integer not null,
  reason text not null default '',
  -- The account that asked for it, or `root`.
  caller_id text not null,
  -- [[channel, address]] that the passes look for; empty once the erasure is complete.
  addresses text not null check (json_valid(addresses)),
  -- There are two passes: the second finds what was written while the first ran.
  pass integer not null default 1,
  campaign_after integer not null default 0,
  event_after text not null,
  -- How far the rows of imports were searched: an import and a row.
  import_after text not null default '',
  next_step_at integer,
  completed_at integer,
  created_at integer not null
) strict, without rowid;
-- Finds erasures whose next step is due.
create index erasures_due on erasures (next_step_at) where next_step_at is not null;

create trigger users_search_insert after insert on users begin
  insert into customer_search (rowid, organization, text) values (
    new.seq,
    char(unicode(substr(new.organization_id, -3)) + 917728, unicode(substr(new.organization_id, -2)) + 917728,
      unicode(substr(new.organization_id, -1)) + 917728),
    new.search_text
  );
end;

-- The last update lets `users_search_given` run after this trigger: by then the index holds the text that it removes.
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
