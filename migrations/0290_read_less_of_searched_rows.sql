-- FTS5 computes all columns of a view for each row that the index finds. Those that no version reads are null, and what a
-- customer was given by editions is left out where the order's edition is the only one: nothing is hidden of them then.
drop view searched_orders;
create view searched_orders as
  select
    null as edition, null as organization, null as text, orders.seq, null as id, orders.organization_id,
    null as edition_id, orders.edition_short_id, null as user_id, orders.status, orders.type, orders.amount_minor,
    orders.created_at, orders.modified_at, orders.number_key, orders.number_folded, orders.own_search_text,
    null as search_text, users.address_folded, users.phone_digits,
    iif(
      exists (select 1 from edition_customers
        where user_seq = users.seq and edition_short_id <> orders.edition_short_id),
      (select json_group_array(json_array(edition_short_id, name_folded, address_folded, phone_digits, email, phone_number,
        created_at)) from edition_customers where user_seq = users.seq),
      '[]') as customer_editions,
    orders.search as contact,
    (select json_group_array(json_array(id, status, reason, source, requested_minor, created_at, modified_at))
      from refund_requests where order_id = orders.id) as requests
  from orders left join users on users.id = orders.user_id;

drop view searched_customers;
create view searched_customers as
  select
    null as organization, null as text, seq, id, organization_id, null as organization_short_id, name_folded,
    address_folded, phone_digits, email, phone_number, created_at, last_seen_at,
    (select json_group_array(json_array(edition_short_id, name_folded, address_folded, phone_digits, email, phone_number,
        created_at)) from edition_customers where user_seq = users.seq) as editions,
    (select json_group_array(json_array(seq, created_at, edition_short_id, search, modified_at, number_key, number_folded,
          status, type, amount_minor, own_search_text, json(
            (select json_group_array(json_array(id, status, reason, source, requested_minor, created_at, modified_at))
              from refund_requests where order_id = bought_order.id))))
      from (select seq, id, created_at, edition_short_id, search, modified_at, number_key, number_folded, status, type,
          amount_minor, own_search_text from orders where user_id = users.id limit 101) as bought_order) as bought
  from users;
