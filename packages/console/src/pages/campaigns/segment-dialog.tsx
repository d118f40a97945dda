import { ActionIcon, Select, Stack, TextInput, Text, Tooltip } from '@mantine/core'
import { IconUsersPlus } from '@tabler/icons-react'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, type Schema } from '../../api'
import { useRefusalReason } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { FormDialog } from '../../parts/form-dialog'
import { loadWords, words } from '../../words'
import { type CampaignDetail, type Reason, readType, type Recipient } from './types'

const t = await loadWords('campaigns')

export interface RecipientFilter {
  state?: Recipient['state'] | undefined
  reason?: Reason | undefined
  engagement?: keyof typeof t.engagements | undefined
  link?: number | undefined
}

interface Props {
  campaign: Pick<CampaignDetail, 'id' | 'name' | 'channel' | 'segment'>
  filter: RecipientFilter
  /** The words for these people, such as "Did not open", with which the suggested name begins. */
  name: string
  isIcon?: boolean
  reason?: string | null
}

/** Makes a segment of the recipients that the filter selects. */
export function SegmentButton({ campaign, filter, name, isIcon = false, reason = null }: Props) {
  const [isOpen, setOpen] = useState(false)
  const refusal = useRefusalReason('createSegmentFromCampaign')
  const label = `${t.segmentOfThese}: ${name}`
  return (
    <>
      {isIcon ? (
        <Tooltip label={refusal ?? t.segmentOfThese}>
          <ActionIcon
            variant="subtle"
            aria-label={label}
            aria-disabled={refusal !== null}
            data-disabled={refusal !== null || undefined}
            aria-description={refusal ?? undefined}
            onClick={() => refusal === null && setOpen(true)}
          >
            <IconUsersPlus size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      ) : (
        <ActionButton
          operation="createSegmentFromCampaign"
          reason={reason}
          variant="default"
          size="xs"
          leftSection={<IconUsersPlus size={14} aria-hidden />}
          onClick={() => setOpen(true)}
        >
          {t.segmentOfThese}
        </ActionButton>
      )}
      <SegmentDialog campaign={campaign} filter={filter} name={name} isOpen={isOpen} close={() => setOpen(false)} />
    </>
  )
}

interface DialogProps extends Props {
  isOpen: boolean
  close: () => void
}

function SegmentDialog({ campaign, filter, name, isOpen, close }: DialogProps) {
  const navigate = useNavigate()
  const { edition = '' } = useParams({ strict: false })
  const { state, ...others } = filter
  return (
    <FormDialog
      title={t.segmentOfThese}
      isOpen={isOpen}
      close={close}
      submitLabel={t.createSegment}
      done={t.segmentCreated}
      initialValues={{
        name: `${name} · ${campaign.name}`.slice(0, 255),
        communication_type: readType(campaign),
        communication_channel: campaign.channel,
      }}
      canSubmit={(values) => values.name.trim() !== ''}
      send={async (values, headers) => {
        const body = {
          ...values,
          ...others,
          ...(state === 'sent' || state === 'failed' || state === 'skipped' ? { state } : {}),
        }
        return (await api.POST('/v1/campaigns/{id}/segments', { params: { path: { id: campaign.id } }, headers, body }))
          .data
      }}
      onSent={({ id }: Schema['Segment']) =>
        navigate({ to: '/editions/$edition/segments/$segment', params: { edition, segment: id } })
      }
    >
      {(form) => (
        <Stack gap="sm">
          <Text size="sm">{t.segmentExplained}</Text>
          <TextInput
            label={words.common.name}
            required
            maxLength={255}
            data-autofocus
            {...form.getInputProps('name')}
          />
          <Select
            label={t.channel}
            allowDeselect={false}
            data={Object.entries(t.channels).map(([value, label]) => ({ value, label }))}
            {...form.getInputProps('communication_channel')}
          />
          <Select
            label={words.common.type}
            allowDeselect={false}
            data={Object.entries(t.types).map(([value, label]) => ({ value, label }))}
            {...form.getInputProps('communication_type')}
          />
        </Stack>
      )}
    </FormDialog>
  )
}
