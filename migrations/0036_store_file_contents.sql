alter table files add column checksum_sha256 text not null default '';
alter table files add column width integer;
alter table files add column height integer;
alter table files add column status text not null default 'ready' check (status in ('ready', 'quarantined'));
alter table files add column storage_key text;

create index files_of_object on files (storage_key) where storage_key is not null;
