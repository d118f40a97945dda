-- Payments and refunds are looked up with their order, or by an id alone. An imported payment has the id of its order, with
-- a prefix of its own, so that its key finds it by its id too. The others are in an index of ids.
create table transactions_by_order (
  id text not null,
  order_id text not null references orders (id),
  organization_id text not null,
  type text not null,
  status text not null,
  service text not null,
  amount_minor integer not null,
  currency text not null,
  service_fee_minor integer not null,
  handling_fee_minor integer not null,
  refunded_minor integer not null default 0,
  created_at integer not null,
  reserved_minor integer not null default 0 check (reserved_minor >= 0),
  provider_reference text,
  merchant_account_id text references merchant_accounts (id),
  refund_request_id text references refund_requests (id),
  primary key (order_id, id)
) strict, without rowid;
insert into transactions_by_order (id, order_id, organization_id, type, status, service, amount_minor, currency,
    service_fee_minor, handling_fee_minor, refunded_minor, created_at, reserved_minor, provider_reference,
    merchant_account_id, refund_request_id)
  select id, order_id, organization_id, type, status, service, amount_minor, currency, service_fee_minor,
    handling_fee_minor, refunded_minor, created_at, reserved_minor, provider_reference, merchant_account_id,
    refund_request_id
  from transactions order by order_id, id;
drop table transactions;
alter table transactions_by_order rename to transactions;

create unique index transactions_by_id on transactions (id) where substr(id, 5) <> substr(order_id, 5);
create index transactions_of_merchant_account on transactions (merchant_account_id)
  where merchant_account_id is not null;
create index transactions_of_refund on transactions (refund_request_id) where refund_request_id is not null;
create index transactions_of_provider on transactions (provider_reference) where provider_reference is not null;

create trigger transactions_of_refunds_kept before delete on transactions
  when exists (select 1 from refund_requests where order_id = old.order_id and transaction_id = old.id)
begin
  select raise(abort, 'FOREIGN KEY constraint failed');
end;
