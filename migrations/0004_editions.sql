-- Events, their editions, and the fee rules of editions.

-- A series of editions, such as a yearly festival.
create table events (
  id text primary key,
  organization_id text not null references organizations (id),
  name text not null,
  name_key text not null,
  search text not null,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- Serves the list of events ordered by name.
create index events_by_name on events (organization_id, name_key, id);
-- Serves the list of events ordered by creation.
create index events_by_created on events (organization_id, created_at, id);

-- One edition of an event. Orders, purchases and refunds belong to an edition.
create table editions (
  id text primary key,
  organization_id text not null references organizations (id),
  event_id text not null references events (id),
  name text not null,
  name_key text not null,
  full_name text not null,
  slug text not null,
  start_at integer,
  end_at integer,
  timezone text not null,
  default_country_code text not null,
  is_draft integer not null default 1 check (is_draft in (0, 1)),
  is_archived integer not null default 0 check (is_archived in (0, 1)),
  published_at integer,
  default_language text not null,
  enabled_languages text not null check (json_valid(enabled_languages)),
  tax_type text not null,
  default_price_tax_rate real not null default 0,
  default_deposit_tax_rate real not null default 0,
  default_packaging_deposit_tax_rate real not null default 0,
  currency text not null,
  fee_rule_id text references fee_rules (id),
  merchant_account_id text references merchant_accounts (id),
  merchant_account_extra_parameters text not null default '{}',
  merchant_id text not null default '{}',
  metadata text not null default '{}',
  sms_sender_name text not null default 'Unset',
  email_sender_name text,
  email_sender_address text,
  email_reply_to text,
  -- The account that last changed the name or the senders above.
  sender_changed_by text,
  sender_changed_at integer,
  meta_title text not null default '{}',
  meta_description text not null default '{}',
  meta_image_id text,
  transaction_receipt_email_id text,
  refund_confirmation_email_id text,
  search text not null,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  unique (organization_id, slug)
) strict, without rowid;
-- Serves the list of editions, archived ones apart.
create index editions_by_created on editions (organization_id, is_archived, created_at, id);
-- Finds editions that use an account before it is deleted.
create index editions_of_merchant_account on editions (merchant_account_id) where merchant_account_id is not null;
-- Finds editions that use a fee rule before it is deleted.
create index editions_of_fee_rule on editions (fee_rule_id) where fee_rule_id is not null;
-- Finds what uses a file before the file is deleted.
create index editions_by_image on editions (meta_image_id) where meta_image_id is not null;

-- Fees that sales channels add to orders of the editions that refer to them.
create table fee_rules (
  id text primary key,
  organization_id text not null references organizations (id),
  name text not null,
  name_key text not null,
  name_folded text not null,
  description text not null default '',
  currency text not null,
  -- Per cent of the amount of an order.
  rate real not null default 0 check (rate between 0 and 100),
  -- In the currency of the rule, beside the rate.
  fixed_amount_minor integer not null default 0 check (fixed_amount_minor >= 0),
  is_active integer not null default 1 check (is_active in (0, 1)),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- Serves the list of fee rules, and finds those an edition may refer to.
create index fee_rules_of_organization on fee_rules (organization_id, created_at, id);
