-- A token ends with the token that minted it, and with the membership that its minter acted by.
alter table access_tokens add column parent_id text references access_tokens (id);
alter table access_tokens add column minter_member_id text;
-- How many tokens stand above this one.
alter table access_tokens add column generation integer not null default 0;
