-- A list of what a search finds looks up what it compares and orders, and no more: each table answers one text for a row of its
-- view, made when it is asked for. FTS5 reads the row by itself, as it reads those of `order_search`. Nothing is stored or
-- indexed. The version before reads the columns of `order_search` and `customer_search`.
create view order_entries as
  select seq, json_array(organization_id, created_at, edition_short_id, search, modified_at, number_key, number_folded, status,
      type, amount_minor, own_search_text) as entry
  from orders;
create virtual table found_orders using fts5 (
  entry unindexed, content = 'order_entries', content_rowid = 'seq', detail = 'none', columnsize = 0
);

create view buyer_entries as
  select orders.seq, json_array(address_folded, phone_digits) as entry
  from orders left join users on users.id = orders.user_id;
create virtual table found_buyers using fts5 (
  entry unindexed, content = 'buyer_entries', content_rowid = 'seq', detail = 'none', columnsize = 0
);

-- What a customer was given by editions is left out where the order's edition is the only one: nothing is hidden of them then.
create view buyer_edition_entries as
  select orders.seq, iif(
      exists (select 1 from edition_customers where user_seq = users.seq and edition_short_id <> orders.edition_short_id),
      (select json_group_array(json_array(edition_short_id, given_name_folded, address_folded, phone_digits, email,
        phone_number, created_at)) from edition_customers where user_seq = users.seq),
      '[]') as entry
  from orders left join users on users.id = orders.user_id;
create virtual table found_buyer_editions using fts5 (
  entry unindexed, content = 'buyer_edition_entries', content_rowid = 'seq', detail = 'none', columnsize = 0
);

create view request_entries as
  select seq, (select json_group_array(json_array(id, status, reason, source, requested_minor, created_at, modified_at))
      from refund_requests where order_id = orders.id) as entry
  from orders;
create virtual table found_requests using fts5 (
  entry unindexed, content = 'request_entries', content_rowid = 'seq', detail = 'none', columnsize = 0
);

-- Of a customer of one edition the edition and the moment of joining it.
create view customer_entries as
  select seq, format('[%s,%s]',
    json_array(id, organization_id, name_folded, address_folded, phone_digits, email, phone_number, created_at, last_seen_at),
    coalesce(
      (select json_array(json_array(min(edition_short_id), '', '', '', null, null, min(created_at)))
        from edition_customers where user_seq = users.seq having count(*) = 1),
      (select json_group_array(json_array(edition_short_id, given_name_folded, address_folded, phone_digits, email,
        phone_number, created_at)) from edition_customers where user_seq = users.seq))) as entry
  from users;
create virtual table found_customers using fts5 (
  entry unindexed, content = 'customer_entries', content_rowid = 'seq', detail = 'none', columnsize = 0
);

-- Of a customer of one edition the edition, which the index has.
create view edition_entries as
  select seq, coalesce(
      (select json_array(json_array(min(edition_short_id), '', '', '', null, null, 0))
        from edition_customers where user_seq = users.seq having count(*) = 1),
      (select json_group_array(json_array(edition_short_id, given_name_folded, address_folded, phone_digits, email,
        phone_number, created_at)) from edition_customers where user_seq = users.seq)) as entry
  from users;
create virtual table found_editions using fts5 (
  entry unindexed, content = 'edition_entries', content_rowid = 'seq', detail = 'none', columnsize = 0
);

-- Up to 101 orders of a customer.
create view bought_entries as
  select seq, format('[%s,[%s]]', json_array(organization_id, address_folded, phone_digits),
    (select group_concat(json_array(seq, created_at, edition_short_id, search, modified_at, number_key, number_folded, status,
        type, amount_minor, own_search_text))
      from (select seq, created_at, edition_short_id, search, modified_at, number_key, number_folded, status, type,
          amount_minor, own_search_text from orders where user_id = users.id limit 101))) as entry
  from users;
create virtual table found_bought using fts5 (
  entry unindexed, content = 'bought_entries', content_rowid = 'seq', detail = 'none', columnsize = 0
);

-- The same orders, with what a search of refund requests compares of them, and their requests.
create view bought_request_entries as
  select seq, format('[%s,[%s]]', json_array(organization_id, address_folded, phone_digits),
    (select group_concat(format('[%s,[%s]]', json_array(seq, edition_short_id, search),
        (select group_concat(json_array(id, status, reason, source, requested_minor, created_at, modified_at))
          from refund_requests where order_id = bought.id)))
      from (select seq, id, edition_short_id, search from orders where user_id = users.id limit 101) as bought)) as entry
  from users;
create virtual table found_bought_requests using fts5 (
  entry unindexed, content = 'bought_request_entries', content_rowid = 'seq', detail = 'none', columnsize = 0
);
