-- Bytes that an organisation keeps, once for each content. Files refer to them: the rows are the count of references.
-- A key is used once: bytes that go and come again get another one, so that no deletion meets a new upload.
create table stored_objects (
  storage_key text primary key,
  organization_id text not null references organizations (id),
  checksum_sha256 text not null,
  size integer not null check (size > 0),
  -- The sweep did not find the bytes: the next upload of the same content brings them back.
  is_missing integer not null default 0 check (is_missing in (0, 1)),
  created_at integer not null,
  unique (organization_id, checksum_sha256)
) strict, without rowid;

alter table files add column title text not null default '';
alter table files add column alt_text text not null default '{}' check (json_valid(alt_text));
alter table files add column checksum_sha256 text not null default '';
alter table files add column width integer;
alter table files add column height integer;
alter table files add column status text not null default 'ready' check (status in ('ready', 'quarantined'));
-- An account; null for the superuser.
alter table files add column uploaded_by text;
alter table files add column tags text not null default '[]' check (json_valid(tags));
alter table files add column metadata text not null default '{}' check (json_valid(metadata));
alter table files add column search text not null default '';
alter table files add column storage_key text references stored_objects (storage_key) on update cascade;

create index files_of_object on files (storage_key) where storage_key is not null;
create index editions_by_image on editions (meta_image_id) where meta_image_id is not null;

-- Bytes of stored objects and of uploads that are open. Without a limit of its own an organisation has the usual one.
create table organization_storage (
  organization_id text primary key references organizations (id),
  used_bytes integer not null check (used_bytes >= 0),
  limit_bytes integer check (limit_bytes >= 0)
) strict, without rowid;

-- Files that come in parts. A completed one keeps its row for a day, so that completing again answers the same file.
create table file_uploads (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  name text not null,
  title text not null,
  tags text not null check (json_valid(tags)),
  metadata text not null check (json_valid(metadata)),
  size integer not null check (size > 0),
  storage_key text not null,
  -- The store's own name of it.
  store_upload_id text not null,
  uploaded_by text,
  file_id text,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  expires_at integer not null
) strict, without rowid;

create index file_uploads_due on file_uploads (expires_at);

create table file_upload_parts (
  upload_id text not null references file_uploads (id) on delete cascade,
  number integer not null check (number > 0),
  size integer not null,
  checksum_sha256 text not null,
  store_etag text not null,
  primary key (upload_id, number)
) strict, without rowid;

-- Bytes that no row refers to any more; a key with an upload is an upload to abort.
create table objects_to_delete (
  storage_key text primary key,
  store_upload_id text,
  created_at integer not null
) strict, without rowid;

-- How far the daily comparison of store and database has come.
create table storage_sweeps (
  name text primary key,
  after_key text not null,
  begun_at integer not null
) strict, without rowid;
