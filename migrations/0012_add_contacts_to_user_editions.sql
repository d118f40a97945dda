-- What the imports of an edition said of a customer. It is all that a role of that edition sees of somebody whom other
-- editions know too.
alter table user_editions add column email text;
alter table user_editions add column phone_number text;
alter table user_editions add column first_name text not null default '';
alter table user_editions add column last_name text not null default '';
-- Folded, as `users.search` is.
alter table user_editions add column search text not null default '';

-- Of a customer of one edition, all that is known came from there. What several editions said was not kept apart.
update user_editions set
  (email, phone_number, first_name, last_name, search) =
    (select email, phone_number, first_name, last_name, search from users where users.id = user_id)
where (select count(*) from user_editions as others where others.user_id = user_editions.user_id) = 1;
