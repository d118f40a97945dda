-- What an order number is sorted by: folded, with the length of each number before its digits, so that A-2 stands before
-- A-10. NULL where there is no number.
alter table orders add column number_key text;

-- `made` is what is ready, `rest` what is still to be read, one number or one run of other characters a step.
update orders set number_key = (
  with recursive parts (made, rest) as (
    select '', orders.number_folded
    union all
    select
      case when rest glob '[0-9]*'
        -- Without the zeros before it; zero itself keeps one.
        then made || (
          with run (digits) as (select substr(rest, 1, length(rest) - length(ltrim(rest, '0123456789')))),
            plain (digits) as (select iif(ltrim(digits, '0') = '', '0', ltrim(digits, '0')) from run)
          select printf('%02d', length(digits)) || digits from plain)
        else made || substr(rest, 1, 1) end,
      case when rest glob '[0-9]*' then ltrim(rest, '0123456789') else substr(rest, 2) end
    from parts where rest <> ''
  )
  select made from parts where rest = ''
)
where order_number is not null;

drop index orders_edition_number;
drop index orders_organization_number;
create index orders_edition_number on orders (edition_id, number_key, created_at, seq);
create index orders_organization_number on orders (organization_id, number_key, created_at, seq);

-- Rows with a value and rows without one are read one after the other, in both directions of an order.
drop index users_order_email;
drop index users_order_phone;
drop index users_order_seen;
create index users_order_email on users (organization_id, email, seq);
create index users_order_phone on users (organization_id, phone_number, seq);
create index users_order_seen on users (organization_id, last_seen_at, seq);

-- An order is looked up by the id of the system that it came from, whichever that was.
drop index orders_by_external_id;
create unique index orders_by_external_id on orders (edition_id, external_id, external_source)
  where external_id is not null;

-- And found by it. SQL folds ASCII alone; other ids are folded by their next import.
update orders set
  search_own = search_own || char(31) || lower(external_id),
  search = search || char(31) || lower(external_id)
where external_id is not null;

-- The beginning of what a receiver answered, as plain text.
alter table webhook_attempts add column response_text text;
