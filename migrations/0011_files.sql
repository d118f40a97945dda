-- Files of organizations and the bytes they refer to.

-- Bytes an organization keeps, once per content; rows of `files` count the references. A storage key is used once:
-- bytes that are deleted and uploaded again get a new key, so a late deletion never meets a new upload.
create table stored_objects (
  storage_key text primary key,
  organization_id text not null references organizations (id),
  checksum_sha256 text not null,
  size integer not null check (size > 0),
  -- True if the sweep did not find the bytes. The next upload of the same content brings them back.
  is_missing integer not null default 0 check (is_missing in (0, 1)),
  created_at integer not null,
  unique (organization_id, checksum_sha256)
) strict, without rowid;

-- A file as clients see it. Several files may share the same bytes.
create table files (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  name text not null,
  name_key text not null,
  title text not null default '',
  alt_text text not null default '{}' check (json_valid(alt_text)),
  purpose text not null,
  mime_type text not null,
  size integer not null,
  checksum_sha256 text not null default '',
  width integer,
  height integer,
  access_key text not null,
  storage_key text references stored_objects (storage_key) on update cascade,
  status text not null default 'ready' check (status in ('ready', 'quarantined')),
  -- An account; null for the superuser.
  uploaded_by text,
  tags text not null default '[]' check (json_valid(tags)),
  metadata text not null default '{}' check (json_valid(metadata)),
  search text not null default '',
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- Serves lists of files: newest first in its own order, other orderings sorted from what it holds.
create index files_of_organization on files
  (organization_id, created_at, id, edition_id, purpose, mime_type, modified_at, name_key, size, search);
-- Finds out whether bytes are still referred to.
create index files_of_object on files (storage_key) where storage_key is not null;

-- Bytes of stored objects and of open uploads, by organization.
create table organization_storage (
  organization_id text primary key references organizations (id),
  used_bytes integer not null check (used_bytes >= 0),
  -- The limit of the organization; null for the usual one.
  limit_bytes integer check (limit_bytes >= 0)
) strict, without rowid;

-- Uploads in parts. A completed upload keeps its row for a day, so that completing it again returns the same file.
create table file_uploads (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  name text not null,
  title text not null,
  tags text not null check (json_valid(tags)),
  metadata text not null check (json_valid(metadata)),
  size integer not null check (size > 0),
  -- The media type that the client declares for the whole file.
  content_type text,
  storage_key text not null,
  -- The store's own id of the upload.
  store_upload_id text not null,
  uploaded_by text,
  file_id text,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  expires_at integer not null
) strict, without rowid;
-- Finds uploads that have expired.
create index file_uploads_due on file_uploads (expires_at);

-- Parts of an upload that have arrived.
create table file_upload_parts (
  upload_id text not null references file_uploads (id) on delete cascade,
  number integer not null check (number > 0),
  size integer not null,
  checksum_sha256 text not null,
  store_etag text not null,
  primary key (upload_id, number)
) strict, without rowid;

-- Bytes that no row refers to any more. A row with a `store_upload_id` is an upload to abort.
create table objects_to_delete (
  storage_key text primary key,
  store_upload_id text,
  created_at integer not null
) strict, without rowid;

-- Scans of files by a virus scanner, and their results. A file without a row was taken while no scanner was configured.
create table file_scans (
  file_id text primary key references files (id) on delete cascade,
  state text not null check (state in ('pending', 'clean', 'infected')),
  reason text,
  attempts integer not null default 0,
  -- When the scanner is asked next; null once it has answered.
  due_at integer,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- Finds files for which the scanner is due to be asked.
create index file_scans_due on file_scans (due_at) where due_at is not null;
