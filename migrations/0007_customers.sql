-- Customers of organizations, and what each edition was told about them.

-- A customer of one organization, as roles of the organization see them. `seq` is the order of creation and the rowid in
-- the search index. It is never used again, because campaigns know a customer who was merged by it.
create table users (
  seq integer primary key autoincrement,
  id text not null unique,
  organization_id text not null references organizations (id),
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
  erased_at integer,
  -- True if the organization added the customer without an edition. Roles of editions do not change such a customer.
  is_of_organization integer not null default 0 check (is_of_organization in (0, 1)),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  phone_digits text not null default '',
  -- The folded name, the folded address and the digits of the number, separated by line breaks, which folded text
  -- never contains, so that no search matches across two of them.
  search_text text not null default '',
  check (email is not null or phone_number is not null or erased_at is not null)
) strict;
-- An address belongs to one customer of an organization; imports find people by it, and lists are ordered by it. Null
-- addresses all differ.
create unique index users_by_email on users (organization_id, email);
-- A number belongs to one customer among those without an address.
create unique index users_by_phone_only on users (organization_id, phone_number) where email is null;
-- Serves lists and the walks of segment calculations in the order in which customers joined. Other orderings are sorted
-- from it, without reading the table.
create index users_by_joining on users (organization_id, created_at, seq, phone_number, email, last_seen_at);

-- A customer of an edition, as roles of the edition see them: what imports of this edition said, and nothing that came
-- from elsewhere. `seq` is the order in which customers joined, and the rowid in the search index.
create table edition_customers (
  seq integer primary key,
  edition_id text not null references editions (id),
  user_seq integer not null references users (seq),
  created_at integer not null,
  email text,
  phone_number text,
  first_name text not null default '',
  last_name text not null default '',
  locale text not null,
  metadata text not null default '{}' check (json_valid(metadata)),
  phone_digits text not null default '',
  -- Data from the edition's imports, written as in `users.search_text`.
  search_text text not null default ''
) strict;
-- A customer is in an edition once. It finds what an edition knows of a customer.
create unique index edition_customers_of_edition on edition_customers (edition_id, user_seq);
-- Finds the editions of a customer, and which of them the customer joined last.
create index edition_customers_of_user on edition_customers (user_seq, edition_id);
-- Serves lists of an edition and the walks of segment calculations in the order in which customers joined. Other
-- orderings are sorted from it, without reading the table.
create index edition_customers_by_joining
  on edition_customers (edition_id, created_at, seq, user_seq, email, phone_number);

-- Finds customers by any three letters of `users.search_text`. `organization` is a mark made of the last three
-- characters of the id, moved to variation selectors, which folded text never contains. Two organizations may share a
-- mark, so results are compared with the row. `detail = none` stores nothing but the three-letter sequences, and
-- `content = ''` no second copy of the text.
create virtual table customer_search using fts5 (
  organization, text, content = '', detail = 'none', columnsize = 0, tokenize = 'trigram case_sensitive 1'
);

-- Finds customers of an edition in the same way, by `edition_customers.search_text`. Roles of editions search it alone, so
-- that neither an answer nor its time depends on what other editions know. `edition` is a mark like that of organizations,
-- moved to combining characters.
create virtual table edition_customer_search using fts5 (
  edition, text, content = '', detail = 'none', columnsize = 0, tokenize = 'trigram case_sensitive 1'
);

-- Erasures of customers, which run step by step in the background.
create table erasures (
  id text primary key,
  organization_id text not null references organizations (id),
  user_id text not null unique references users (id),
  user_seq integer not null,
  reason text not null default '',
  -- The account that erased the customer, or `root`.
  caller_id text not null,
  -- [[channel, address]] that the passes look for; empty once the erasure is complete.
  addresses text not null check (json_valid(addresses)),
  -- When the customer was created. Nothing older names them.
  user_created_at integer not null,
  -- There are two passes: the second finds what was written while the first ran.
  pass integer not null default 1,
  -- The places that the pass searches, and its position; empty at its beginning.
  place text not null default '',
  cursor text not null default '',
  -- When the next step is due; null after the last one.
  due_at integer,
  claimed_until integer,
  completed_at integer,
  created_at integer not null
) strict, without rowid;
-- Finds erasures whose next step is due.
create index erasures_due on erasures (due_at) where due_at is not null;

-- Customers who were merged into another one. Their rows in `users` are gone, and campaigns, links and records of consents
-- still name them.
create table user_merges (
  -- The customer who was merged.
  id text primary key,
  -- Their `users.seq`.
  seq integer not null unique,
  organization_id text not null references organizations (id),
  -- The customer who took their place. A later merge of that customer replaces it.
  into_id text not null references users (id),
  -- The editions that the customer was in (JSON list of ids). Their roles may see who took the place.
  edition_ids text not null check (json_type(edition_ids) = 'array'),
  merged_at integer not null
) strict, without rowid;
-- Finds who was merged into a customer.
create index user_merges_of_user on user_merges (into_id);
-- Finds the merges of an organization.
create index user_merges_of_organization on user_merges (organization_id);

-- Addresses that a customer has from customers who were merged into them. Imports find the customer by them, and links
-- that were sent to them still work. Nothing is sent to them.
create table earlier_addresses (
  user_id text not null references users (id),
  channel text not null,
  address text not null,
  organization_id text not null references organizations (id),
  created_at integer not null,
  primary key (user_id, channel, address)
) strict, without rowid;
-- Finds the customer of an address.
create index earlier_addresses_by_address on earlier_addresses (organization_id, channel, address, created_at);

create trigger users_search_insert after insert on users begin
  insert into customer_search (rowid, organization, text) values (
    new.seq,
    char(unicode(substr(new.organization_id, -3)) + 917728, unicode(substr(new.organization_id, -2)) + 917728,
      unicode(substr(new.organization_id, -1)) + 917728),
    new.search_text
  );
end;

create trigger users_search_update after update of search_text on users when old.search_text <> new.search_text begin
  insert into customer_search (customer_search, rowid, organization, text) values (
    'delete', old.seq,
    char(unicode(substr(old.organization_id, -3)) + 917728, unicode(substr(old.organization_id, -2)) + 917728,
      unicode(substr(old.organization_id, -1)) + 917728),
    old.search_text
  );
  insert into customer_search (rowid, organization, text) values (
    new.seq,
    char(unicode(substr(new.organization_id, -3)) + 917728, unicode(substr(new.organization_id, -2)) + 917728,
      unicode(substr(new.organization_id, -1)) + 917728),
    new.search_text
  );
end;

create trigger users_search_delete after delete on users begin
  insert into customer_search (customer_search, rowid, organization, text) values (
    'delete', old.seq,
    char(unicode(substr(old.organization_id, -3)) + 917728, unicode(substr(old.organization_id, -2)) + 917728,
      unicode(substr(old.organization_id, -1)) + 917728),
    old.search_text
  );
end;

create trigger edition_customers_search_insert after insert on edition_customers begin
  insert into edition_customer_search (rowid, edition, text) values (
    new.seq,
    char(unicode(substr(new.edition_id, -3)) + 736, unicode(substr(new.edition_id, -2)) + 736,
      unicode(substr(new.edition_id, -1)) + 736),
    new.search_text
  );
end;

create trigger edition_customers_search_update after update of search_text on edition_customers when old.search_text <> new.search_text begin
  insert into edition_customer_search (edition_customer_search, rowid, edition, text) values (
    'delete', old.seq,
    char(unicode(substr(old.edition_id, -3)) + 736, unicode(substr(old.edition_id, -2)) + 736,
      unicode(substr(old.edition_id, -1)) + 736),
    old.search_text
  );
  insert into edition_customer_search (rowid, edition, text) values (
    new.seq,
    char(unicode(substr(new.edition_id, -3)) + 736, unicode(substr(new.edition_id, -2)) + 736,
      unicode(substr(new.edition_id, -1)) + 736),
    new.search_text
  );
end;

create trigger edition_customers_search_delete after delete on edition_customers begin
  insert into edition_customer_search (edition_customer_search, rowid, edition, text) values (
    'delete', old.seq,
    char(unicode(substr(old.edition_id, -3)) + 736, unicode(substr(old.edition_id, -2)) + 736,
      unicode(substr(old.edition_id, -1)) + 736),
    old.search_text
  );
end;
