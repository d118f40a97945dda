-- Merchant accounts are made and changed through the API. Secrets are sealed with a key of the Worker; the account id and
-- the name of the column are part of the seal.

alter table merchant_accounts add column provider_account text;
alter table merchant_accounts add column sealed_api_key text;
alter table merchant_accounts add column api_key_last4 text;
alter table merchant_accounts add column api_key_set_at integer;
alter table merchant_accounts add column sealed_webhook_secret text;
alter table merchant_accounts add column webhook_secret_set_at integer;
-- Which key of the Worker sealed them; null where nothing is sealed.
alter table merchant_accounts add column sealed_with text;
alter table merchant_accounts add column settle_manually integer not null default 0 check (settle_manually in (0, 1));
alter table merchant_accounts add column is_active integer not null default 1 check (is_active in (0, 1));
alter table merchant_accounts add column version integer not null default 1;
alter table merchant_accounts add column created_at integer not null default 0;
alter table merchant_accounts add column modified_at integer not null default 0;

drop index merchant_accounts_of_organization;
create index merchant_accounts_of_organization on merchant_accounts (organization_id, created_at, id);
-- Those that another key has to seal anew.
create index merchant_accounts_sealed on merchant_accounts (sealed_with) where sealed_with is not null;

-- What keeps an account from being removed.
create index transactions_of_merchant_account on transactions (merchant_account_id)
  where merchant_account_id is not null;
create index refund_requests_of_merchant_account on refund_requests (merchant_account_id)
  where merchant_account_id is not null;
create index editions_of_merchant_account on editions (merchant_account_id) where merchant_account_id is not null;
