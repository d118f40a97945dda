-- Definitions are found by words and listed by place.
alter table consents add column search text not null default '';
update consents set search = lower(key) || char(31) || lower(name);

drop index consents_of_edition;
create index consents_by_created on consents (organization_id, created_at, id);
create index consents_of_edition on consents (edition_id, created_at, id) where edition_id is not null;

-- Answers are numbered from 1 for each person and definition. The key makes one of two answers that race fail, and reads
-- a person's answers and their history in order. It replaces the reference to the definition, which would make deleting
-- a definition read all answers of all of them: triggers keep that promise.
create table numbered_consent_records (
  id text not null,
  organization_id text not null references organizations (id),
  consent_id text not null,
  user_id text not null references users (id),
  number integer not null default 1,
  consent_version integer not null,
  content_hash text not null,
  edition_id text references editions (id),
  order_id text,
  -- The import that brought the answer.
  import_id text,
  status text not null,
  -- Of the last answer before that was not pending.
  previous_status text,
  method text not null,
  source text not null,
  language text not null,
  occurred_at integer not null,
  expires_at integer,
  previous_record_id text,
  -- What shows that the answer was given; the hash stays when a person is erased.
  evidence text check (evidence is null or json_valid(evidence)),
  evidence_hash text,
  -- Of this record and the hash of the one before: a chain that shows when a record was changed later.
  record_hash text not null,
  -- Which columns the hash covers.
  hash_version integer not null default 1,
  is_latest integer not null check (is_latest in (0, 1)),
  primary key (user_id, consent_id, number)
) strict, without rowid;

insert into numbered_consent_records (id, organization_id, consent_id, user_id, number, consent_version, content_hash,
  edition_id, order_id, status, previous_status, method, source, language, occurred_at, expires_at, previous_record_id,
  record_hash, is_latest)
select id, organization_id, consent_id, user_id,
  row_number() over (partition by user_id, consent_id order by is_latest, occurred_at, id),
  consent_version, content_hash, edition_id, order_id, status,
  lag(status) over (partition by user_id, consent_id order by is_latest, occurred_at, id),
  method, source, language, occurred_at, expires_at, previous_record_id, record_hash, is_latest
from consent_records;

drop table consent_records;
alter table numbered_consent_records rename to consent_records;

create unique index consent_records_latest on consent_records (user_id, consent_id) where is_latest = 1;
-- What each minute's sweep reads.
create index consent_records_due on consent_records (expires_at)
  where is_latest = 1 and status = 'given' and expires_at is not null;

-- How many people stand how to a definition, and how many records it has.
create table consent_stats (
  consent_id text primary key,
  records integer not null default 0,
  given integer not null default 0,
  skipped integer not null default 0,
  withdrawn integer not null default 0,
  expired integer not null default 0
) strict, without rowid;

insert into consent_stats (consent_id) select id from consents;
update consent_stats set records = found.records, given = found.given, skipped = found.skipped,
  withdrawn = found.withdrawn, expired = found.expired
from (select consent_id, count(*) as records, sum(is_latest = 1 and status = 'given') as given,
    sum(is_latest = 1 and status = 'skipped') as skipped, sum(is_latest = 1 and status = 'withdrawn') as withdrawn,
    sum(is_latest = 1 and status = 'expired') as expired
  from consent_records group by consent_id) as found
where found.consent_id = consent_stats.consent_id;

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

create trigger consent_records_defined before insert on consent_records
  when not exists (select 1 from consents where id = new.consent_id)
begin
  select raise(abort, 'FOREIGN KEY constraint failed');
end;

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
