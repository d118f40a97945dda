-- The segment that a campaign was last started with, as it was then: it may change or go afterwards.
alter table campaigns add column segment_snapshot text check (json_valid(segment_snapshot));

-- The message of a campaign that is over, once the message is deleted.
alter table campaigns add column deleted_message_id text;

update campaigns set segment_snapshot = (
  select json_object(
    -- Recipients of every start are listed: several places together are the whole organisation.
    'edition_id', case
      when contents.campaign_id is null then segments.edition_id
      when exists (
        select 1 from campaign_contents as earlier where earlier.campaign_id = campaigns.id
          and earlier.surroundings ->> '$.segment.edition_id' is not contents.surroundings ->> '$.segment.edition_id'
      ) then null
      else contents.surroundings ->> '$.segment.edition_id'
    end,
    'name', segments.name,
    'communication_type',
      coalesce(contents.surroundings ->> '$.segment.communication_type', segments.communication_type),
    'communication_channel', campaigns.channel,
    'status', iif(campaigns.user_count > 0, 'ready', segments.status),
    'user_count', iif(campaigns.run > 0, campaigns.user_count, segments.user_count)
  )
  from segments left join campaign_contents as contents
    on contents.campaign_id = campaigns.id and contents.content = (
      select max(content) from campaign_contents where campaign_contents.campaign_id = campaigns.id
    )
  where segments.id = campaigns.segment_id
  limit 1
)
where status in ('calculating', 'sending', 'sent', 'failed', 'cancelled');

-- Attempts that somebody asked for: they are made before all others, also behind an open breaker.
create index webhook_deliveries_asked on webhook_deliveries (endpoint_id, event_id)
  where manual is not null and status in ('pending', 'retrying');
