-- Accounts at payment providers, and what the providers report.

-- Accounts at payment providers. Secrets are sealed with a key of the Worker; the account id and the column name are
-- part of the seal.
create table merchant_accounts (
  id text primary key,
  organization_id text not null references organizations (id),
  name text not null,
  name_key text not null,
  description text not null default '',
  type text not null,
  supported_currencies text not null check (json_valid(supported_currencies)),
  is_active integer not null default 1 check (is_active in (0, 1)),
  settle_manually integer not null default 0 check (settle_manually in (0, 1)),
  provider_account text,
  sealed_api_key text,
  api_key_last4 text,
  api_key_set_at integer,
  sealed_webhook_secret text,
  webhook_secret_set_at integer,
  -- The key of the Worker that sealed the secrets; null where nothing is sealed.
  sealed_with text,
  version integer not null default 1,
  created_at integer not null default 0,
  modified_at integer not null default 0
) strict, without rowid;
-- Serves the list of merchant accounts.
create index merchant_accounts_of_organization on merchant_accounts (organization_id, created_at, id);
-- Finds secrets that have to be sealed again with a new key.
create index merchant_accounts_sealed on merchant_accounts (sealed_with) where sealed_with is not null;

-- Webhooks of payment providers that were processed, so that each is processed once.
create table payment_events (
  merchant_account_id text not null,
  -- The provider's id of the event.
  id text not null,
  kind text not null,
  provider_reference text not null,
  created_at integer not null,
  primary key (merchant_account_id, id)
) strict, without rowid;
-- Finds old events, which a sweep deletes.
create index payment_events_by_age on payment_events (created_at);
