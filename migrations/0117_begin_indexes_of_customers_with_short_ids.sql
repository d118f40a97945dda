-- As the indexes of orders: those of an organisation begin with the end of its id, which no other organisation has.
alter table organizations add column short_id text not null generated always as (substr(id, -8)) virtual;
create unique index organizations_by_short_id on organizations (short_id);

alter table users add column organization_short_id text not null generated always as (substr(organization_id, -8)) virtual;
drop index users_by_email;
create unique index users_by_email on users (organization_short_id, email);
drop index users_by_phone_only;
create unique index users_by_phone_only on users (organization_short_id, phone_number) where email is null;
drop index users_sample;
create index users_sample on users (organization_short_id, ((seq & 2147483647) * 2654435761) & 4294967295)
  where ((seq & 2147483647) * 2654435761) & 4294967295 < 268435456;
drop index users_order_created;
create index users_order_created
  on users (organization_short_id, (phone_number is null), (last_seen_at is null), created_at);
drop index users_order_phone;
create index users_order_phone on users (organization_short_id, phone_number, created_at) where phone_number is not null;
drop index users_order_seen;
create index users_order_seen on users (organization_short_id, last_seen_at, created_at) where last_seen_at is not null;
