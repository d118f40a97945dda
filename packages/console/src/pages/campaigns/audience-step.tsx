import { Group, Radio, Stack, Text, TextInput } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { loadWords, plural, words } from '../../words'
import type { DraftEdit } from './draft'
import { SegmentSelect } from './segment-select'
import { type CampaignDetail, type Channel, readType } from './types'

const t = await loadWords('campaigns')

/** Edits the segment and the channel. */
export function AudienceStep({ campaign, edit: { values, set } }: { campaign: CampaignDetail; edit: DraftEdit }) {
  const { edition = '' } = useParams({ strict: false })
  const { segment } = campaign
  const [name, setName] = useState(values.name)
  // A segment belongs to a channel, so another channel is stored together with its first segment.
  const [channel, setChannel] = useState<Channel>(values.channel)
  return (
    <Stack gap="md">
      <TextInput
        label={words.common.name}
        description={t.nameHint}
        required
        maxLength={255}
        value={name}
        error={name.trim() === '' ? t.nameRequired : null}
        onChange={({ currentTarget: { value } }) => {
          setName(value)
          if (value.trim() !== '') set({ name: value.trim() })
        }}
      />
      <Radio.Group
        label={t.channel}
        description={channel === values.channel ? undefined : t.channelChangeHint}
        value={channel}
        onChange={(next) => setChannel(next)}
      >
        <Group mt={6}>
          {Object.entries(t.channels).map(([value, label]) => (
            <Radio key={value} value={value} label={label} />
          ))}
        </Group>
      </Radio.Group>
      <div>
        <SegmentSelect
          key={channel}
          channel={channel}
          value={channel === segment.communication_channel || channel === values.channel ? values.segment_id : null}
          current={segment.communication_channel === channel ? segment : undefined}
          onChange={(segment_id) => set(channel === values.channel ? { segment_id } : { channel, segment_id })}
        />
        <Text size="sm" mt={6}>
          {t.types[readType(campaign)]}
          {segment.status === 'ready' && ` ${plural(segment.user_count, t.lastCalculated)}`}{' '}
          <Link
            className="link"
            to="/editions/$edition/segments/$segment"
            params={{ edition, segment: values.segment_id }}
          >
            {t.openSegment}
          </Link>
        </Text>
      </div>
    </Stack>
  )
}
