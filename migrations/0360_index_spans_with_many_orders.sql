-- Leads to the short spans with many orders or purchases: in them a page by its number is found by keys that are kept. An
-- edition whose orders are spread over the day has none. What changes one of them writes a row more, once in a transaction of an import.
alter table order_counts add column orders integer as (pending_online + pending_in_person + pending_imported
  + confirmed_online + confirmed_in_person + confirmed_imported + completed_online + completed_in_person
  + completed_imported + cancelled_online + cancelled_in_person + cancelled_imported);

create index order_counts_dense on order_counts (edition_id)
  where span_bits = 21 and (orders > 256 or purchases > 256);
