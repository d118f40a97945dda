-- The numbers of what was sold in each edition, for its statistics. Triggers count every order, purchase, use and refund
-- request in the transaction that changes it, so the numbers are those of the lists at any time.

-- A kind, product, status and currency that occur together in an edition.
create table sales_series (
  id integer primary key,
  edition_id text not null,
  kind text not null,
  -- Empty for orders and refunds.
  product_id text not null,
  -- Empty for uses, as the currency is.
  status text not null,
  currency text not null,
  unique (edition_id, kind, product_id, status, currency)
) strict;

-- The sums of a series in a quarter of an hour. In every time zone the days begin at such a quarter.
create table sales_counts (
  series_id integer not null,
  -- The quarter's number since 1970 in UTC.
  quarter integer not null,
  items integer not null,
  -- The amount of orders, the price of purchases, and the amount that refunds ask for.
  amount_minor integer not null,
  deposit_minor integer not null,
  handling_fee_minor integer not null,
  refunded_minor integer not null,
  primary key (series_id, quarter)
) strict, without rowid;

-- What a row adds to the numbers, or takes from them, is inserted here.
create view sales_changes
  (edition_id, kind, product_id, status, currency, at, items, amount_minor, deposit_minor, handling_fee_minor, refunded_minor)
  as select null, null, null, null, null, null, null, null, null, null, null where 0;

-- 70 million quarters make the division round down before 1970, too.
create trigger sales_changed instead of insert on sales_changes begin
  insert into sales_series (edition_id, kind, product_id, status, currency)
    values (new.edition_id, new.kind, new.product_id, new.status, new.currency)
    on conflict do nothing;
  insert into sales_counts
      (series_id, quarter, items, amount_minor, deposit_minor, handling_fee_minor, refunded_minor)
    select id, (new.at + 63000000000000) / 900000 - 70000000, new.items, new.amount_minor, new.deposit_minor,
        new.handling_fee_minor, new.refunded_minor
      from sales_series where (edition_id, kind, product_id, status, currency)
        = (new.edition_id, new.kind, new.product_id, new.status, new.currency)
    on conflict (series_id, quarter) do update set items = items + excluded.items,
      amount_minor = amount_minor + excluded.amount_minor, deposit_minor = deposit_minor + excluded.deposit_minor,
      handling_fee_minor = handling_fee_minor + excluded.handling_fee_minor,
      refunded_minor = refunded_minor + excluded.refunded_minor;
  delete from sales_counts where new.items < 0 and items = 0
    and quarter = (new.at + 63000000000000) / 900000 - 70000000
    and series_id = (select id from sales_series where (edition_id, kind, product_id, status, currency)
      = (new.edition_id, new.kind, new.product_id, new.status, new.currency));
end;

create trigger order_added_to_sales after insert on orders begin
  insert into sales_changes values
    (new.edition_id, 'order', '', new.status, new.currency, new.created_at, 1, new.amount_minor, 0, 0, 0);
end;

create trigger order_taken_from_sales after delete on orders begin
  insert into sales_changes values
    (old.edition_id, 'order', '', old.status, old.currency, old.created_at, -1, -old.amount_minor, 0, 0, 0);
end;

-- An order never changes its edition and its currency.
create trigger order_changed_in_sales after update of status, amount_minor, created_at on orders
  when (new.status, new.amount_minor, new.created_at) is not (old.status, old.amount_minor, old.created_at) begin
  insert into sales_changes values
    (new.edition_id, 'order', '', new.status, new.currency, new.created_at, 1, new.amount_minor, 0, 0, 0),
    (old.edition_id, 'order', '', old.status, old.currency, old.created_at, -1, -old.amount_minor, 0, 0, 0);
end;

create trigger purchase_added_to_sales after insert on purchases begin
  insert into sales_changes select new.edition_id, 'purchase', new.product_id, new.status, currency, new.created_at, 1,
    new.price_minor, new.deposit_minor, new.handling_fee_minor, 0 from orders where id = new.order_id;
end;

create trigger purchase_taken_from_sales after delete on purchases begin
  insert into sales_changes select old.edition_id, 'purchase', old.product_id, old.status, currency, old.created_at, -1,
    -old.price_minor, -old.deposit_minor, -old.handling_fee_minor, 0 from orders where id = old.order_id;
end;

create trigger purchase_changed_in_sales
  after update of product_id, status, price_minor, deposit_minor, handling_fee_minor, created_at on purchases
  when (new.product_id, new.status, new.price_minor, new.deposit_minor, new.handling_fee_minor, new.created_at)
    is not (old.product_id, old.status, old.price_minor, old.deposit_minor, old.handling_fee_minor, old.created_at) begin
  insert into sales_changes select new.edition_id, 'purchase', new.product_id, new.status, currency, new.created_at, 1,
    new.price_minor, new.deposit_minor, new.handling_fee_minor, 0 from orders where id = new.order_id;
  insert into sales_changes select old.edition_id, 'purchase', old.product_id, old.status, currency, old.created_at, -1,
    -old.price_minor, -old.deposit_minor, -old.handling_fee_minor, 0 from orders where id = old.order_id;
end;

-- Uses belong to the product of their purchase.
create trigger purchase_uses_moved_in_sales after update of product_id on purchases
  when new.product_id <> old.product_id begin
  insert into sales_changes select new.edition_id, 'use', new.product_id, '', '', used_at, quantity, 0, 0, 0, 0
    from purchase_uses where purchase_id = new.id and reverted_at is null;
  insert into sales_changes select old.edition_id, 'use', old.product_id, '', '', used_at, -quantity, 0, 0, 0, 0
    from purchase_uses where purchase_id = old.id and reverted_at is null;
end;

create trigger purchase_use_added_to_sales after insert on purchase_uses when new.reverted_at is null begin
  insert into sales_changes select edition_id, 'use', product_id, '', '', new.used_at, new.quantity, 0, 0, 0, 0
    from purchases where id = new.purchase_id;
end;

create trigger purchase_use_taken_from_sales after delete on purchase_uses when old.reverted_at is null begin
  insert into sales_changes select edition_id, 'use', product_id, '', '', old.used_at, -old.quantity, 0, 0, 0, 0
    from purchases where id = old.purchase_id;
end;

create trigger purchase_use_changed_in_sales after update of quantity, used_at, reverted_at on purchase_uses begin
  insert into sales_changes select edition_id, 'use', product_id, '', '', new.used_at, new.quantity, 0, 0, 0, 0
    from purchases where id = new.purchase_id and new.reverted_at is null;
  insert into sales_changes select edition_id, 'use', product_id, '', '', old.used_at, -old.quantity, 0, 0, 0, 0
    from purchases where id = old.purchase_id and old.reverted_at is null;
end;

create trigger refund_request_added_to_sales after insert on refund_requests begin
  insert into sales_changes values (new.edition_id, 'refund', '', new.status, new.currency, new.created_at, 1,
    new.requested_minor, 0, 0, new.refunded_minor);
end;

create trigger refund_request_taken_from_sales after delete on refund_requests begin
  insert into sales_changes values (old.edition_id, 'refund', '', old.status, old.currency, old.created_at, -1,
    -old.requested_minor, 0, 0, -old.refunded_minor);
end;

create trigger refund_request_changed_in_sales
  after update of status, requested_minor, refunded_minor, created_at on refund_requests
  when (new.status, new.requested_minor, new.refunded_minor, new.created_at)
    is not (old.status, old.requested_minor, old.refunded_minor, old.created_at) begin
  insert into sales_changes values (new.edition_id, 'refund', '', new.status, new.currency, new.created_at, 1,
    new.requested_minor, 0, 0, new.refunded_minor);
  insert into sales_changes values (old.edition_id, 'refund', '', old.status, old.currency, old.created_at, -1,
    -old.requested_minor, 0, 0, -old.refunded_minor);
end;
