-- An address is unique in its organisation, and customers are listed by it: one index does both. Addresses that are null
-- are all different.
drop index users_by_email;
drop index users_order_email;
create unique index users_by_email on users (organization_id, email);

-- A cart is found by its order alone: its own id needs no index.
create table carts_by_order (
  order_id text primary key references orders (id),
  id text not null,
  status text not null,
  coupon_code text,
  subtotal_minor integer not null,
  deposit_minor integer not null,
  handling_fee_minor integer not null,
  service_fee_minor integer not null,
  discount_minor integer not null,
  tax_minor integer not null,
  total_minor integer not null,
  created_at integer not null
) strict, without rowid;
insert into carts_by_order select order_id, id, status, coupon_code, subtotal_minor, deposit_minor, handling_fee_minor,
    service_fee_minor, discount_minor, tax_minor, total_minor, created_at from carts;
drop table carts;
alter table carts_by_order rename to carts;
