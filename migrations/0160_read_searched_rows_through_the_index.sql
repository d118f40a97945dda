-- Both indexes have external content: a match answers the row that it found, with what lists are filtered and ordered by, and
-- no other table is joined. Nothing more is stored. FTS5 looks the row up by the key of the view. Only what stands before
-- `seq` is indexed.
create view searched_orders as
  select
    char(unicode(substr(orders.edition_id, -3)) + 736, unicode(substr(orders.edition_id, -2)) + 736,
      unicode(substr(orders.edition_id, -1)) + 736) as edition,
    char(unicode(substr(orders.organization_id, -3)) + 917728, unicode(substr(orders.organization_id, -2)) + 917728,
      unicode(substr(orders.organization_id, -1)) + 917728) as organization,
    orders.own_search_text as text,
    orders.seq, orders.id, orders.organization_id, orders.edition_id, orders.edition_short_id, orders.user_id,
    orders.status, orders.type, orders.amount_minor, orders.created_at, orders.modified_at, orders.number_key,
    orders.number_folded, orders.own_search_text, orders.search_text, users.address_folded, users.phone_digits,
    (select json_group_array(edition_short_id) from edition_customers where user_seq = users.seq) as customer_editions
  from orders left join users on users.id = orders.user_id;

drop table order_search;
create virtual table order_search using fts5 (
  edition, organization, text,
  seq unindexed, id unindexed, organization_id unindexed, edition_id unindexed, edition_short_id unindexed,
  user_id unindexed, status unindexed, type unindexed, amount_minor unindexed, created_at unindexed,
  modified_at unindexed, number_key unindexed, number_folded unindexed, own_search_text unindexed,
  search_text unindexed, address_folded unindexed, phone_digits unindexed,
  customer_editions unindexed,
  content = 'searched_orders', content_rowid = 'seq', detail = 'none', columnsize = 0,
  tokenize = 'trigram case_sensitive 1'
);
insert into order_search (rowid, edition, organization, text)
  select seq,
    char(unicode(substr(edition_id, -3)) + 736, unicode(substr(edition_id, -2)) + 736,
      unicode(substr(edition_id, -1)) + 736),
    char(unicode(substr(organization_id, -3)) + 917728, unicode(substr(organization_id, -2)) + 917728,
      unicode(substr(organization_id, -1)) + 917728),
    own_search_text
  from orders;

-- `bought` has up to 101 orders: key, moment of creation, edition, and the contact that the order is found by.
create view searched_customers as
  select
    char(unicode(substr(organization_id, -3)) + 917728, unicode(substr(organization_id, -2)) + 917728,
      unicode(substr(organization_id, -1)) + 917728) as organization,
    search_text as text,
    seq, id, organization_id, organization_short_id, name_folded, address_folded, phone_digits, email, phone_number,
    created_at, last_seen_at,
    (select json_group_array(edition_short_id) from edition_customers where user_seq = users.seq) as editions,
    (select json_group_array(json_array(seq, created_at, edition_short_id, search))
      from (select seq, created_at, edition_short_id, search from orders where user_id = users.id limit 101)) as bought
  from users;

drop table customer_search;
create virtual table customer_search using fts5 (
  organization, text,
  seq unindexed, id unindexed, organization_id unindexed, organization_short_id unindexed, name_folded unindexed,
  address_folded unindexed, phone_digits unindexed, email unindexed, phone_number unindexed, created_at unindexed,
  last_seen_at unindexed, editions unindexed, bought unindexed,
  content = 'searched_customers', content_rowid = 'seq', detail = 'none', columnsize = 0,
  tokenize = 'trigram case_sensitive 1'
);
insert into customer_search (rowid, organization, text)
  select seq,
    char(unicode(substr(organization_id, -3)) + 917728, unicode(substr(organization_id, -2)) + 917728,
      unicode(substr(organization_id, -1)) + 917728),
    search_text
  from users;
