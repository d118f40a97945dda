-- Each message of a campaign wrote an entry of this index. Only the foreign key to campaigns read it, when a campaign was
-- deleted, and a campaign that has sent messages cannot be deleted. Rows refer to the campaign without a key now.
create table campaign_receipts_without_index (
  organization_id text not null references organizations (id),
  user_id text not null references users (id),
  campaign_id text not null,
  received_at integer,
  opened_at integer,
  clicked_at integer,
  primary key (user_id, campaign_id)
) strict, without rowid;
insert into campaign_receipts_without_index (organization_id, user_id, campaign_id, received_at, opened_at, clicked_at)
  select organization_id, user_id, campaign_id, received_at, opened_at, clicked_at from campaign_receipts;
drop table campaign_receipts;
alter table campaign_receipts_without_index rename to campaign_receipts;
