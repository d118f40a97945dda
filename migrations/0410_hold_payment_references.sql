-- The payment that has had a reference longest in its organisation decides which edition pays it back.
alter table transactions add column organization_short_id text;
alter table transactions add column reference_since integer;
drop index transactions_of_provider;
create index transactions_of_provider on transactions (organization_short_id, provider_reference, reference_since)
  where reference_since is not null;

alter table refund_requests add column is_payable integer not null default 0 check (is_payable in (0, 1));
