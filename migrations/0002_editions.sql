-- Events, their editions, and what an edition offers.

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
  fee_rule_id text,
  merchant_account_id text,
  merchant_account_extra_parameters text not null default '{}',
  merchant_id text not null default '{}',
  metadata text not null default '{}',
  sms_sender_name text not null default 'Unset',
  email_sender_name text,
  email_sender_address text,
  email_reply_to text,
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
-- Finds what uses a file before the file is deleted.
create index editions_by_image on editions (meta_image_id) where meta_image_id is not null;

-- Fee rules an edition can refer to. The operator of the platform writes them.
create table fee_rules (
  id text primary key,
  organization_id text not null references organizations (id),
  name text not null,
  description text not null default '',
  currency text not null,
  is_active integer not null default 1 check (is_active in (0, 1))
) strict, without rowid;
-- Finds the fee rules an edition may refer to.
create index fee_rules_of_organization on fee_rules (organization_id);

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
  -- Which key of the Worker sealed the secrets; null where nothing is sealed.
  sealed_with text,
  version integer not null default 1,
  created_at integer not null default 0,
  modified_at integer not null default 0
) strict, without rowid;
-- Serves the list of merchant accounts.
create index merchant_accounts_of_organization on merchant_accounts (organization_id, created_at, id);
-- Finds secrets that have to be sealed again with a new key.
create index merchant_accounts_sealed on merchant_accounts (sealed_with) where sealed_with is not null;

-- Categories of products.
create table categories (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  name text not null,
  name_translations text not null default '{}' check (json_valid(name_translations)),
  position integer not null default 0,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- Serves the categories of an edition in their order.
create index categories_of_edition on categories (edition_id, position, id);

-- What is sold. Imports create products by name; their other fields are filled in later.
create table products (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  category_id text references categories (id),
  name text not null,
  name_folded text not null,
  name_translations text not null default '{}' check (json_valid(name_translations)),
  -- Null until a price is set: an import knows what was paid, not what it costs.
  price_minor integer check (price_minor >= 0),
  deposit_minor integer check (deposit_minor >= 0),
  is_variant_required integer not null default 0 check (is_variant_required in (0, 1)),
  is_pickup_required integer not null default 0 check (is_pickup_required in (0, 1)),
  is_wallet_enabled integer not null default 0 check (is_wallet_enabled in (0, 1)),
  -- File ids in the order in which they are shown.
  images text not null default '[]' check (json_type(images) = 'array'),
  is_draft integer not null default 0 check (is_draft in (0, 1)),
  created_at integer not null,
  unique (edition_id, name_folded)
) strict, without rowid;

-- Images of products, one row per file id in `products.images`, so that a file in use is found by an index and not
-- deleted.
create table product_images (
  product_id text not null references products (id) on delete cascade,
  file_id text not null references files (id),
  primary key (product_id, file_id)
) strict, without rowid;
-- Finds what uses a file before the file is deleted.
create index product_images_by_file on product_images (file_id);

-- Variants of a product, such as a size.
create table variants (
  id text primary key,
  product_id text not null references products (id),
  name text not null,
  name_folded text not null,
  is_active integer not null default 1 check (is_active in (0, 1)),
  created_at integer not null,
  unique (product_id, name_folded)
) strict, without rowid;

-- Options of a product that change its price.
create table options (
  id text primary key,
  product_id text not null references products (id),
  name text not null,
  name_folded text not null,
  price_mod_minor integer not null default 0,
  deposit_mod_minor integer not null default 0,
  created_at integer not null,
  unique (product_id, name_folded)
) strict, without rowid;

-- Places where purchases are picked up or used.
create table locations (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  name text not null,
  name_folded text not null,
  is_draft integer not null default 0 check (is_draft in (0, 1)),
  created_at integer not null,
  unique (edition_id, name_folded)
) strict, without rowid;

-- A product shows images of its own organization only.
create trigger product_images_added after insert on products when new.images <> '[]'
begin
  select raise(abort, 'FOREIGN KEY constraint failed') where exists (
    select 1 from json_each(new.images) as listed left join files on files.id = listed.value
    where files.organization_id is not new.organization_id or files.purpose is not 'image');
  insert into product_images (product_id, file_id) select distinct new.id, value from json_each(new.images);
end;

create trigger product_images_changed after update of images on products when new.images <> old.images
begin
  select raise(abort, 'FOREIGN KEY constraint failed') where exists (
    select 1 from json_each(new.images) as listed left join files on files.id = listed.value
    where files.organization_id is not new.organization_id or files.purpose is not 'image');
  delete from product_images where product_id = new.id;
  insert into product_images (product_id, file_id) select distinct new.id, value from json_each(new.images);
end;
