-- The media type that the client declares for the whole file of an upload in parts.
alter table file_uploads add column content_type text;
