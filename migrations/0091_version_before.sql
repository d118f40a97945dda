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

create view user_editions as
  select editions.id as edition_id, users.id as user_id, given.created_at, given.email, given.phone_number,
    given.first_name, given.last_name, given.locale, given.name_folded, given.email_folded, given.phone_digits,
    given.counted_together
  from edition_customers as given
    join editions on editions.short_id = given.edition_short_id
    join users on users.seq = given.user_seq;

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

create trigger user_editions_insert instead of insert on user_editions begin
  insert into edition_customers (edition_short_id, user_seq, created_at, email, phone_number, first_name, last_name, locale,
      name_folded, email_folded, phone_digits, counted_together)
    values (substr(new.edition_id, -8), (select seq from users where id = new.user_id), new.created_at, new.email,
      new.phone_number, coalesce(new.first_name, ''), coalesce(new.last_name, ''), new.locale,
      coalesce(new.name_folded, ''), coalesce(new.email_folded, ''), coalesce(new.phone_digits, ''),
      coalesce(new.counted_together, 0));
end;

create trigger user_editions_update instead of update on user_editions begin
  update edition_customers set email = new.email, phone_number = new.phone_number, first_name = new.first_name,
      last_name = new.last_name, locale = new.locale, name_folded = new.name_folded, email_folded = new.email_folded,
      phone_digits = new.phone_digits
    where edition_short_id = substr(old.edition_id, -8) and user_seq = (select seq from users where id = old.user_id);
end;

create trigger user_editions_delete instead of delete on user_editions begin
  delete from edition_customers
    where edition_short_id = substr(old.edition_id, -8) and user_seq = (select seq from users where id = old.user_id);
end;
