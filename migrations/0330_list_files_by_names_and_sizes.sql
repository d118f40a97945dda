-- In another order than that of creation a list of files read all that the filter has. An index for each of these orders has
-- those of each edition and purpose, which lists merge as they merge those of `files_by_kind`.
create index files_by_modified on files (organization_id, coalesce(edition_id, '-') || ' ' || purpose, modified_at, id);
create index files_by_name on files (organization_id, coalesce(edition_id, '-') || ' ' || purpose, name, id);
create index files_by_size on files (organization_id, coalesce(edition_id, '-') || ' ' || purpose, size, id);

-- What no index serves, such as a search, is found once for each state of the files: the changes of them and of what refers to
-- them are counted.
alter table organization_storage add column file_changes integer not null default 0;

create trigger files_count_added after insert on files begin
  insert into organization_storage (organization_id, used_bytes, file_changes) values (new.organization_id, 0, 1)
    on conflict (organization_id) do update set file_changes = file_changes + 1;
end;
create trigger files_count_deleted after delete on files begin
  update organization_storage set file_changes = file_changes + 1 where organization_id = old.organization_id;
end;
create trigger files_count_changed
  after update of edition_id, name, purpose, mime_type, size, search, created_at, modified_at on files begin
  insert into organization_storage (organization_id, used_bytes, file_changes) values (new.organization_id, 0, 1)
    on conflict (organization_id) do update set file_changes = file_changes + 1;
end;

create trigger editions_count_shown_file after update of meta_image_id on editions
  when new.meta_image_id is not old.meta_image_id begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id in (select organization_id from files where id in (old.meta_image_id, new.meta_image_id));
end;
create trigger editions_count_added_file after insert on editions when new.meta_image_id is not null begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id = (select organization_id from files where id = new.meta_image_id);
end;
create trigger editions_count_deleted_file after delete on editions when old.meta_image_id is not null begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id = (select organization_id from files where id = old.meta_image_id);
end;
create trigger organizations_count_shown_file after update of avatar_file_id on organizations
  when new.avatar_file_id is not old.avatar_file_id begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id in (select organization_id from files where id in (old.avatar_file_id, new.avatar_file_id));
end;
create trigger product_images_count_added after insert on product_images begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id = (select organization_id from files where id = new.file_id);
end;
create trigger product_images_count_deleted after delete on product_images begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id = (select organization_id from files where id = old.file_id);
end;
create trigger email_message_images_count_added after insert on email_message_images begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id = (select organization_id from files where id = new.file_id);
end;
create trigger email_message_images_count_deleted after delete on email_message_images begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id = (select organization_id from files where id = old.file_id);
end;
create trigger data_imports_count_added_file after insert on data_imports when new.file_id is not null begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id = (select organization_id from files where id = new.file_id);
end;
create trigger data_imports_count_shown_file after update of file_id on data_imports when new.file_id is not old.file_id begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id in (select organization_id from files where id in (old.file_id, new.file_id));
end;
create trigger data_imports_count_deleted_file after delete on data_imports when old.file_id is not null begin
  update organization_storage set file_changes = file_changes + 1
    where organization_id = (select organization_id from files where id = old.file_id);
end;
