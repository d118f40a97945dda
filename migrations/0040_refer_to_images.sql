alter table organizations add column avatar_file_id text references files (id);
create index organizations_by_avatar on organizations (avatar_file_id) where avatar_file_id is not null;

-- A list of ids of files, in the order in which they are shown.
alter table products add column images text not null default '[]' check (json_type(images) = 'array');

-- Ids of files inside JSON stand here too, kept by the triggers below, so that they are found by an index and no file
-- goes while something refers to it.
create table product_images (
  product_id text not null references products (id) on delete cascade,
  file_id text not null references files (id),
  primary key (product_id, file_id)
) strict, without rowid;

create index product_images_by_file on product_images (file_id);

create table email_message_images (
  message_id text not null references email_messages (id) on delete cascade,
  file_id text not null references files (id),
  primary key (message_id, file_id)
) strict, without rowid;

create index email_message_images_by_file on email_message_images (file_id);

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

create trigger email_message_images_added after insert on email_messages when instr(new.blocks, '"file_id"') > 0
begin
  insert into email_message_images (message_id, file_id)
  select distinct new.id, tree.value from json_tree(new.blocks) as tree where tree.key = 'file_id' and tree.type = 'text';
end;

create trigger email_message_images_changed after update of blocks on email_messages
  when new.blocks <> old.blocks and instr(new.blocks || old.blocks, '"file_id"') > 0
begin
  delete from email_message_images where message_id = new.id;
  insert into email_message_images (message_id, file_id)
  select distinct new.id, tree.value from json_tree(new.blocks) as tree where tree.key = 'file_id' and tree.type = 'text';
end;
