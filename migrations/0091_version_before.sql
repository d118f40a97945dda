create view carts as select id as order_id, cart ->> 'id' as id, 'completed' as status,
    cart ->> 'coupon_code' as coupon_code, coalesce(cart ->> 'subtotal_minor', 0) as subtotal_minor,
    coalesce(cart ->> 'deposit_minor', 0) as deposit_minor,
    coalesce(cart ->> 'handling_fee_minor', 0) as handling_fee_minor,
    coalesce(cart ->> 'service_fee_minor', 0) as service_fee_minor,
    coalesce(cart ->> 'discount_minor', 0) as discount_minor, coalesce(cart ->> 'tax_minor', 0) as tax_minor,
    amount_minor as total_minor, created_at
  from orders;

create view cart_items as select orders.id as order_id, line.key as position, line.value ->> 'id' as id,
    line.value ->> 'product_id' as product_id, line.value ->> 'variant_id' as variant_id,
    line.value ->> 'location_id' as location_id, coalesce(line.value -> 'options', '[]') as options,
    line.value ->> 'quantity' as quantity, coalesce(line.value ->> 'price_minor', 0) as price_minor,
    coalesce(line.value ->> 'deposit_minor', 0) as deposit_minor,
    coalesce(line.value ->> 'handling_fee_minor', 0) as handling_fee_minor
  from orders join json_each(orders.cart, '$.items') as line;

create trigger carts_added instead of insert on carts
begin
  update orders set cart = json_patch('{}', json_object(
      'id', new.id, 'coupon_code', new.coupon_code, 'subtotal_minor', nullif(new.subtotal_minor, 0),
      'deposit_minor', nullif(new.deposit_minor, 0), 'handling_fee_minor', nullif(new.handling_fee_minor, 0),
      'service_fee_minor', nullif(new.service_fee_minor, 0), 'discount_minor', nullif(new.discount_minor, 0),
      'tax_minor', nullif(new.tax_minor, 0), 'items', json('[]')))
    where id = new.order_id;
end;

create trigger carts_changed instead of update on carts
begin
  update orders set cart = json_patch('{}', json_object(
      'id', cart ->> 'id', 'coupon_code', new.coupon_code, 'subtotal_minor', nullif(new.subtotal_minor, 0),
      'deposit_minor', nullif(new.deposit_minor, 0), 'handling_fee_minor', nullif(new.handling_fee_minor, 0),
      'service_fee_minor', nullif(new.service_fee_minor, 0), 'discount_minor', nullif(new.discount_minor, 0),
      'tax_minor', nullif(new.tax_minor, 0), 'items', json(cart -> 'items')))
    where id = new.order_id;
end;

create trigger carts_deleted instead of delete on carts
begin
  select 1;
end;

create trigger cart_items_added instead of insert on cart_items
begin
  update orders set cart = json_insert(cart, '$.items[#]', json_patch('{}', json_object(
      'id', new.id, 'product_id', new.product_id, 'quantity', new.quantity, 'variant_id', new.variant_id,
      'location_id', new.location_id, 'options', json(nullif(new.options, '[]')),
      'price_minor', nullif(new.price_minor, 0), 'deposit_minor', nullif(new.deposit_minor, 0),
      'handling_fee_minor', nullif(new.handling_fee_minor, 0))))
    where id = new.order_id;
end;

create trigger cart_items_deleted instead of delete on cart_items
begin
  update orders set cart = json_set(cart, '$.items', json('[]')) where id = old.order_id;
end;
