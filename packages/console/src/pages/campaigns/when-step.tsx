import { Group, Radio, Stack, TextInput } from '@mantine/core'
import { IconClock, IconSend } from '@tabler/icons-react'
import { useState } from 'react'
import { useEdition } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { toInstant, toLocal } from '../../parts/days'
import { loadWords } from '../../words'
import { findReason } from './allowed'
import { ApprovalSection } from './approval'
import type { DraftEdit } from './draft'
import { SendWindowFields } from './send-window'
import { StartDialog } from './start-dialog'
import type { CampaignDetail, Plan } from './types'

const t = await loadWords('campaigns')

interface Props {
  campaign: CampaignDetail
  edit: DraftEdit
  plan: Plan | undefined
}

/** Edits the time of the start and the send window, and asks for the approval. */
export function WhenStep({ campaign, edit, plan }: Props) {
  const zone = useEdition()?.timezone ?? 'UTC'
  const { scheduled_at } = campaign
  const [isLater, setLater] = useState(scheduled_at !== null)
  const [local, setLocal] = useState(scheduled_at === null ? '' : toLocal(scheduled_at, zone))
  const [isOpen, setOpen] = useState(false)
  const at = isLater && local !== '' ? toInstant(local, zone) : null
  // Missing translations can be accepted in the dialog.
  const obstacle = plan?.faults.find(({ code }) => code !== 'missing_translation')
  const unsaved = edit.isDirty || edit.isSaving ? t.saveFirst : null
  const isPast = at !== null && new Date(at).getTime() <= Date.now()
  const missingTime = !isLater ? null : at === null ? t.timeNeeded : isPast ? t.timePast : null
  const fault = obstacle ? (t.faults[obstacle.code as keyof typeof t.faults] ?? obstacle.detail) : null
  return (
    <Stack gap="md">
      <Radio.Group label={t.start} value={isLater ? 'later' : 'now'} onChange={(value) => setLater(value === 'later')}>
        <Group mt={6}>
          <Radio value="now" label={t.now} />
          <Radio value="later" label={t.later} />
        </Group>
      </Radio.Group>
      {isLater && (
        <TextInput
          type="datetime-local"
          label={t.startTime}
          description={t.zoneHint.replace('#', () => zone)}
          maw={280}
          required
          value={local}
          error={isPast ? t.timePast : null}
          onChange={({ currentTarget: { value } }) => setLocal(value)}
        />
      )}
      <SendWindowFields value={edit.values.send_window} onChange={(send_window) => edit.set({ send_window })} />
      <ApprovalSection campaign={campaign} />
      <Group>
        <ActionButton
          operation={isLater ? 'scheduleCampaign' : 'sendCampaignNow'}
          reason={unsaved ?? missingTime ?? findReason(campaign, isLater ? 'schedule' : 'send_now') ?? fault}
          size="md"
          leftSection={isLater ? <IconClock size={18} aria-hidden /> : <IconSend size={18} aria-hidden />}
          onClick={() => setOpen(true)}
        >
          {isLater ? (campaign.status === 'scheduled' ? t.reschedule : t.schedule) : t.sendNow}…
        </ActionButton>
      </Group>
      <StartDialog campaign={campaign} at={at} isOpen={isOpen} close={() => setOpen(false)} />
    </Stack>
  )
}
