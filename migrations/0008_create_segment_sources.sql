-- What people did with campaigns, as segments ask for it: one row for each campaign that was sent to a person.
create table campaign_receipts (
  organization_id text not null references organizations (id),
  user_id text not null references users (id),
  campaign_id text not null references campaigns (id),
  received_at integer,
  opened_at integer,
  clicked_at integer,
  primary key (user_id, campaign_id)
) strict, without rowid;

create index campaign_receipts_of_campaign on campaign_receipts (campaign_id);

-- Segments ask for each person what they bought; what they ask most often stands in the index itself.
create index purchases_of_user on purchases (user_id, product_id, organization_id);
drop index orders_of_user;
create index orders_of_user on orders (user_id, created_at, seq, organization_id, status, amount_minor);
