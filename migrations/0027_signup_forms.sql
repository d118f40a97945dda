-- Forms with which people sign up for consents, and their requests until they are confirmed.

create table signup_forms (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  name text not null,
  name_key text not null,
  title text not null default '{}' check (json_valid(title)),
  text text not null default '{}' check (json_valid(text)),
  -- The languages of the page. The first one is the default.
  languages text not null check (json_valid(languages)),
  -- Ids of consents of the same organisation or edition, in the order of the page. Some may have been deleted.
  consent_ids text not null check (json_valid(consent_ids)),
  -- The origins that may embed the page and post to it.
  allowed_sites text not null default '[]' check (json_valid(allowed_sites)),
  -- Where a visitor goes after the request. It belongs to an allowed site.
  redirect_url text,
  mails_per_hour integer not null,
  is_active integer not null default 1 check (is_active in (0, 1)),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- Serves lists of an organization ordered by creation.
create index signup_forms_by_created on signup_forms (organization_id, created_at, id);
-- Serves lists of an edition ordered by creation.
create index signup_forms_of_edition on signup_forms (edition_id, created_at, id) where edition_id is not null;

-- One row per request, which counts for the limits of an hour. A request that gets no mail has no address and no
-- evidence. No customer is named: a request belongs to an address.
create table signup_requests (
  id text primary key,
  -- The form may have been deleted since.
  form_id text not null,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  address text,
  -- Keyed hashes of the mailbox behind the address, and of the network.
  mailbox_hash text not null,
  network_hash text,
  language text not null,
  -- The consents with the versions of the wordings that were shown.
  consents text not null check (json_valid(consents)),
  evidence text check (json_valid(evidence)),
  confirmed_at integer,
  expires_at integer not null,
  created_at integer not null
) strict, without rowid;
-- Counts the requests of a form.
create index signup_requests_of_form on signup_requests (form_id, created_at);
-- Counts the requests of a network.
create index signup_requests_of_network on signup_requests (network_hash, created_at) where network_hash is not null;
-- Finds the last mail to a mailbox.
create index signup_requests_of_mailbox on signup_requests (mailbox_hash, created_at) where address is not null;
-- Finds the requests of an address for exports and erasures.
create index signup_requests_of_address on signup_requests (organization_id, address) where address is not null;
-- Finds requests that have expired.
create index signup_requests_due on signup_requests (expires_at);
