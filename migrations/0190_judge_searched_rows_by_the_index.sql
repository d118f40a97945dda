-- What the index finds answers all that lists compare and order: of an order also the contact of its customer and its refund
-- requests, of a customer what each edition was given, and all of that for each of up to 101 orders. Nothing more is stored.
drop view searched_orders;
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
    (select json_group_array(json_array(edition_short_id, name_folded, address_folded, phone_digits, email, phone_number,
        created_at)) from edition_customers where user_seq = users.seq) as customer_editions,
    orders.search as contact,
    (select json_group_array(json_array(id, status, reason, source, requested_minor, created_at, modified_at))
      from refund_requests where order_id = orders.id) as requests
  from orders left join users on users.id = orders.user_id;

drop table order_search;
create virtual table order_search using fts5 (
  edition, organization, text,
  seq unindexed, id unindexed, organization_id unindexed, edition_id unindexed, edition_short_id unindexed,
  user_id unindexed, status unindexed, type unindexed, amount_minor unindexed, created_at unindexed,
  modified_at unindexed, number_key unindexed, number_folded unindexed, own_search_text unindexed,
  search_text unindexed, address_folded unindexed, phone_digits unindexed, customer_editions unindexed,
  contact unindexed, requests unindexed,
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

-- The version before takes the first four values of an order, and looks for a short id among the editions.
drop view searched_customers;
create view searched_customers as
  select
    char(unicode(substr(organization_id, -3)) + 917728, unicode(substr(organization_id, -2)) + 917728,
      unicode(substr(organization_id, -1)) + 917728) as organization,
    search_text as text,
    seq, id, organization_id, organization_short_id, name_folded, address_folded, phone_digits, email, phone_number,
    created_at, last_seen_at,
    (select json_group_array(json_array(edition_short_id, name_folded, address_folded, phone_digits, email, phone_number,
        created_at)) from edition_customers where user_seq = users.seq) as editions,
    (select json_group_array(json_array(seq, created_at, edition_short_id, search, modified_at, number_key, number_folded,
          status, type, amount_minor, own_search_text, json(
            (select json_group_array(json_array(id, status, reason, source, requested_minor, created_at, modified_at))
              from refund_requests where order_id = bought_order.id))))
      from (select * from orders where user_id = users.id limit 101) as bought_order) as bought
  from users;

-- A search of refund requests finds one by what its provider calls it.
create index refund_requests_of_reference on refund_requests (provider_reference) where provider_reference is not null;
