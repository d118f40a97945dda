-- By what an edition said a customer is found there, field by field, so that each can be brought up to date alone.
alter table user_editions add column locale text;
alter table user_editions add column name_folded text not null default '';
alter table user_editions add column email_folded text not null default '';
alter table user_editions add column phone_digits text not null default '';

-- `users.search` ends with the address and the number; what stands before them is the name.
update user_editions set
  (locale, email_folded, phone_digits, name_folded) =
    (select locale, email_folded, phone_digits,
      substr(search, 1, max(0, length(search) - length(email_folded) - length(phone_digits)
        - (email_folded <> '') - (phone_digits <> '')))
      from users where users.id = user_id)
where (select count(*) from user_editions as others where others.user_id = user_editions.user_id) = 1;

alter table user_editions drop column search;
