-- A frequent search of orders in the order of `amount` or `modified` kept its count alone, because no count of changes is about
-- these. Now it keeps what was found, as in other orders: the longest spans count changes of both. An order that is changed
-- writes a row more, and a new one none.
alter table order_counts add column sort_changes integer not null default 0;

create trigger orders_sorted_otherwise after update of amount_minor, modified_at on orders
  when (new.amount_minor, new.modified_at) is not (old.amount_minor, old.modified_at)
begin
  update order_counts set sort_changes = sort_changes + 1
    where span_bits = 33 and edition_id = new.edition_id and span = new.created_at >> 33;
end;
