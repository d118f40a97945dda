-- Organizations, the people who work for them, and the tokens they call the API with. All times are integers:
-- milliseconds since 1970, UTC. Amounts of money are integers in minor units. Ids end in 26 characters that begin with
-- their time, so sorting by id sorts by creation. Text that is searched is folded by the service, not by SQL. Lists are
-- sorted by `name_key` and `title_key`, which the service writes with the name or title (`buildSortKey`).

-- One row per customer of this service; every other row belongs to one.
create table organizations (
  id text primary key,
  name text not null,
  name_key text not null,
  slug text not null unique,
  -- Conditions of the organization before a refund is approved.
  refund_policy text not null default '{}' check (json_valid(refund_policy)),
  -- The price of one part of an SMS, for the plans of campaigns.
  sms_price text check (json_valid(sms_price)),
  -- True if campaigns are sent only with the approval of a second account.
  requires_campaign_approval integer not null default 0 check (requires_campaign_approval in (0, 1)),
  avatar_file_id text references files (id),
  search text not null,
  -- The key of the hashes that replace order ids of erased customers. Nothing else uses it, and it is never replaced: with
  -- another key, imports would not recognise these orders.
  erasure_key text not null default (lower(hex(randomblob(32)))),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- Serves the list of all organizations ordered by name.
create index organizations_by_name on organizations (name_key, id);
-- Serves the list of all organizations ordered by creation.
create index organizations_by_created on organizations (created_at, id);
-- Serves the list of all organizations ordered by last change.
create index organizations_by_modified on organizations (modified_at, id);
-- Finds what uses a file before the file is deleted.
create index organizations_by_avatar on organizations (avatar_file_id) where avatar_file_id is not null;
