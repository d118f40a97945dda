-- Consents, and what people answered.

-- Definitions of consents.
create table consents (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  -- The definition that this one was copied from.
  origin_id text,
  key text not null,
  name text not null,
  name_key text not null,
  search text not null default '',
  title text not null default '{}' check (json_valid(title)),
  text text not null default '{}' check (json_valid(text)),
  link_url text not null default '{}' check (json_valid(link_url)),
  type text not null,
  channels text not null default '[]' check (json_valid(channels)),
  legal_basis text not null default 'consent',
  is_required integer not null default 0 check (is_required in (0, 1)),
  is_active integer not null default 1 check (is_active in (0, 1)),
  collect_at text not null default '[]' check (json_valid(collect_at)),
  position integer not null default 0,
  expires_after_days integer,
  reconsent_on_change integer not null default 0 check (reconsent_on_change in (0, 1)),
  wording_version integer not null default 1,
  content_hash text not null default '',
  metadata text not null default '{}' check (json_valid(metadata)),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- A key is unique in an organization or an edition.
create unique index consents_by_key on consents (organization_id, coalesce(edition_id, ''), key);
-- Serves lists of an organization ordered by creation.
create index consents_by_created on consents (organization_id, created_at, id);
-- Serves lists of an edition ordered by creation.
create index consents_of_edition on consents (edition_id, created_at, id) where edition_id is not null;

-- The wording people were shown, by version.
create table consent_versions (
  consent_id text not null references consents (id),
  version integer not null,
  title text not null check (json_valid(title)),
  text text not null check (json_valid(text)),
  link_url text not null check (json_valid(link_url)),
  legal_basis text not null,
  content_hash text not null,
  created_at integer not null,
  primary key (consent_id, version)
) strict, without rowid;

-- Answers, which are only ever added. They are numbered from 1 per person and definition: the key makes one of two
-- racing answers fail, and reads a history in order. `consents` is referenced by triggers, because a foreign key would
-- read every answer when a definition is deleted. So is `users`, because the answers of a customer who was merged keep
-- the id that their hashes cover. None of them is the latest: the answers that count are in the chains of the other.
create table consent_records (
  id text not null,
  organization_id text not null references organizations (id),
  consent_id text not null,
  user_id text not null,
  number integer not null default 1,
  consent_version integer not null,
  content_hash text not null,
  edition_id text references editions (id),
  order_id text,
  -- The import that brought the answer.
  import_id text,
  status text not null,
  -- The status of the last answer before it that was not pending.
  previous_status text,
  method text not null,
  source text not null,
  language text not null,
  occurred_at integer not null,
  expires_at integer,
  previous_record_id text,
  -- Proof that the answer was given, as text, because `evidence_hash` covers its exact characters. The hash stays when
  -- a person is erased.
  evidence text check (evidence is null or json_valid(evidence)),
  evidence_hash text,
  -- A hash of this record and of the previous hash: a chain that shows later changes.
  record_hash text not null,
  -- The version of the hash, which says which columns it covers.
  hash_version integer not null default 1,
  is_latest integer not null check (is_latest in (0, 1)),
  primary key (user_id, consent_id, number)
) strict, without rowid;
-- A person has one latest answer per definition.
create unique index consent_records_latest on consent_records (user_id, consent_id) where is_latest = 1;
-- Finds given consents that expire, for the sweep of each minute.
create index consent_records_due on consent_records (expires_at)
  where is_latest = 1 and status = 'given' and expires_at is not null;
-- Finds answers that were never confirmed, for the sweep of each minute.
create index consent_records_waiting on consent_records (expires_at) where is_latest = 1 and status = 'pending';

-- The numbers of records of a definition and of people with each status. Triggers keep it.
create table consent_stats (
  consent_id text primary key,
  records integer not null default 0,
  given integer not null default 0,
  skipped integer not null default 0,
  withdrawn integer not null default 0,
  expired integer not null default 0
) strict, without rowid;

create trigger consents_counted after insert on consents
begin
  insert into consent_stats (consent_id) values (new.id);
end;

create trigger consents_kept before delete on consents
  when exists (select 1 from consent_stats where consent_id = old.id and records > 0)
begin
  select raise(abort, 'FOREIGN KEY constraint failed');
end;

create trigger consents_uncounted after delete on consents
begin
  delete from consent_stats where consent_id = old.id;
end;

-- Stands in for the foreign key to `consents`, as does `consents_kept`.
create trigger consent_records_defined before insert on consent_records
  when not exists (select 1 from consents where id = new.consent_id)
begin
  select raise(abort, 'FOREIGN KEY constraint failed');
end;

-- These two stand in for the foreign key to `users`.
create trigger consent_records_of_user before insert on consent_records
  when not exists (select 1 from users where id = new.user_id)
begin
  select raise(abort, 'FOREIGN KEY constraint failed');
end;

create trigger users_with_records before delete on users
  when exists (select 1 from consent_records where user_id = old.id)
    and not exists (select 1 from user_merges where id = old.id)
begin
  select raise(abort, 'FOREIGN KEY constraint failed');
end;

-- Moves the person from the status of the previous answer to that of the new one.
create trigger consent_records_counted after insert on consent_records
begin
  update consent_stats set records = records + 1,
    given = given + (new.status = 'given') - (prior.status = 'given'),
    skipped = skipped + (new.status = 'skipped') - (prior.status = 'skipped'),
    withdrawn = withdrawn + (new.status = 'withdrawn') - (prior.status = 'withdrawn'),
    expired = expired + (new.status = 'expired') - (prior.status = 'expired')
  from (select coalesce((select status from consent_records where user_id = new.user_id
    and consent_id = new.consent_id and number = new.number - 1), '') as status) as prior
  where consent_id = new.consent_id;
end;
