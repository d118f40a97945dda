import { Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, get } from '../../api'
import { ActionButton } from '../../parts/action-button'
import { Facts } from '../../parts/facts'
import { FormDialog } from '../../parts/form-dialog'
import { nameLanguage } from '../../parts/names'
import { Section } from '../../parts/section'
import { Time } from '../../parts/time'
import { loadWords, plural, words } from '../../words'
import { ApprovalSection } from './approval'
import { formatWindow, SendWindowFields } from './send-window'
import { type CampaignDetail, isRunning, readType } from './types'

const t = await loadWords('campaigns')

/** Shows the message, the send window and the approval of a campaign. */
export function Sent({ campaign }: { campaign: CampaignDetail }) {
  const { channel, send_window, completed_at, accepted_translations, created, status } = campaign
  const [isOpen, setOpen] = useState(false)
  return (
    <Section
      title={t.about}
      actions={
        isRunning(status) && (
          <ActionButton operation="updateCampaign" variant="default" size="xs" onClick={() => setOpen(true)}>
            {t.changeWindow}
          </ActionButton>
        )
      }
    >
      <Stack gap="sm">
        <Facts
          facts={[
            [t.message, channel === 'email' ? <Message campaign={campaign} /> : null],
            [t.audienceType, t.types[readType(campaign)]],
            [t.leftOut, campaign.started_at !== null && campaign.skipped_count === 0 ? t.nobody : null],
            [t.sendWindow, send_window === null ? t.anyTime : formatWindow(send_window)],
            [words.common.created, <Time key="created" at={created} />],
            [t.completedAt, completed_at === null ? null : <Time at={completed_at} />],
            [
              t.acceptedTranslations,
              accepted_translations.length === 0 ? null : plural(accepted_translations.length, t.textCount),
            ],
          ]}
        />
        {channel === 'sms' && <SmsTexts campaign={campaign} />}
        <ApprovalSection campaign={campaign} />
      </Stack>
      <WindowDialog campaign={campaign} isOpen={isOpen} close={() => setOpen(false)} />
    </Section>
  )
}

function Message({ campaign: { email_message_id: id } }: { campaign: CampaignDetail }) {
  const { edition = '' } = useParams({ strict: false })
  const message = useQuery({
    ...get('/v1/email-messages/{id}', { params: { path: { id: id ?? '' } } }),
    enabled: id !== null,
  })
  if (id === null) return <>{words.common.none}</>
  if (message.error) return <>{t.messageGone}</>
  return (
    <Link className="link" to="/editions/$edition/email-messages/$message" params={{ edition, message: id }}>
      {message.data?.title ?? id}
    </Link>
  )
}

const SmsTexts = ({ campaign: { sms_body_translations: bodies, sms_sizes } }: { campaign: CampaignDetail }) => (
  <Stack gap="xs">
    {Object.entries(bodies).map(([language, text]) => (
      <div key={language}>
        <Group justify="space-between">
          <Text size="sm" fw={600}>
            {nameLanguage(language)}
          </Text>
          <Text size="xs" c="dimmed">
            {sms_sizes[language] && plural(sms_sizes[language].parts, t.smsCount)}
          </Text>
        </Group>
        <Text size="sm" className="code">
          {text}
        </Text>
      </div>
    ))}
  </Stack>
)

/** A running campaign can still get another send window. */
const WindowDialog = ({
  campaign,
  isOpen,
  close,
}: {
  campaign: CampaignDetail
  isOpen: boolean
  close: () => void
}) => (
  <FormDialog
    title={t.changeWindow}
    isOpen={isOpen}
    close={close}
    initialValues={{ send_window: campaign.send_window }}
    submitLabel={words.common.save}
    done={words.common.saved}
    send={(body, headers) => api.PATCH('/v1/campaigns/{id}', { params: { path: { id: campaign.id } }, headers, body })}
  >
    {(form) => (
      <SendWindowFields
        value={form.values.send_window}
        onChange={(window) => form.setFieldValue('send_window', window)}
        error={form.errors['send_window']}
      />
    )}
  </FormDialog>
)
