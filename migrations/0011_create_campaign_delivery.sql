-- What a campaign says, as it was when it was started: a repeated call to the provider says the same.
create table campaign_contents (
  campaign_id text not null references campaigns (id) on delete cascade,
  -- The run that it was drawn for.
  content integer not null,
  language text not null,
  subject text not null,
  html text not null,
  text text not null,
  -- Positions in campaign_links, in the order in which the template names them.
  links text not null check (json_valid(links)),
  -- Names and senders that every message of the campaign shows.
  surroundings text not null check (json_valid(surroundings)),
  created_at integer not null,
  primary key (campaign_id, content, language)
) strict, without rowid;

-- Where the counted links of a campaign lead. Messages that are out name them by position, so none ever changes.
create table campaign_links (
  campaign_id text not null references campaigns (id) on delete cascade,
  position integer not null,
  url text not null,
  primary key (campaign_id, position)
) strict, without rowid;

-- Addresses that did not take a message but may take another: one row a message, however often it is told.
create table soft_bounces (
  organization_id text not null references organizations (id),
  channel text not null,
  address text not null,
  reference text not null,
  bounced_at integer not null,
  primary key (organization_id, channel, address, reference)
) strict, without rowid;
