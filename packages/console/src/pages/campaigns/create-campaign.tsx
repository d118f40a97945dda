import { SegmentedControl, Stack, TextInput, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api'
import { useEdition } from '../../caller'
import { FormDialog } from '../../parts/form-dialog'
import { loadWords, words } from '../../words'
import { SegmentSelect } from './segment-select'
import type { CampaignDetail, Channel } from './types'

const t = await loadWords('campaigns')

interface Props {
  isOpen: boolean
  close: () => void
  /** The campaign whose audience, content and send window the new one takes. */
  source?: CampaignDetail
}

/** Makes a draft, and opens it. */
export function CreateCampaign({ isOpen, close, source }: Props) {
  const edition = useEdition()
  const navigate = useNavigate()
  if (!edition) return null
  const initialValues = {
    name: source ? t.copyOf.replace('#', () => source.name).slice(0, 255) : '',
    channel: source?.channel ?? 'email',
    segment_id: source?.segment.id ?? '',
    email_message_id: source?.email_message_id ?? null,
  }
  return (
    <FormDialog
      title={source ? t.duplicate : t.create}
      isOpen={isOpen}
      close={close}
      submitLabel={source ? t.duplicate : t.create}
      initialValues={initialValues}
      canSubmit={({ name, segment_id }) => name.trim() !== '' && segment_id !== ''}
      send={async ({ channel, ...values }, headers) => {
        const { data } = await api.POST('/v1/campaigns', {
          headers,
          body: {
            ...values,
            channel,
            organization_id: edition.organization.id,
            edition_id: edition.id,
            ...(source?.channel === channel
              ? { sms_body: source.sms_body_translations, send_window: source.send_window }
              : {}),
          },
        })
        return data
      }}
      onSent={({ id }) =>
        navigate({
          to: '/editions/$edition/campaigns/$campaign',
          params: { edition: edition.id, campaign: id },
          search: { step: source ? 'audience' : 'content' },
        })
      }
    >
      {(form) => (
        <Stack gap="sm">
          <TextInput
            label={words.common.name}
            description={t.nameHint}
            data-autofocus
            required
            maxLength={255}
            {...form.getInputProps('name')}
          />
          {source === undefined && (
            <div>
              <Text size="sm" fw={500} mb={4} id="campaign-channel">
                {t.channel}
              </Text>
              <SegmentedControl
                fullWidth
                aria-labelledby="campaign-channel"
                data={Object.entries(t.channels).map(([value, label]) => ({ value, label }))}
                value={form.values.channel}
                onChange={(channel) => form.setValues({ channel: channel as Channel, segment_id: '' })}
              />
            </div>
          )}
          <SegmentSelect
            key={form.values.channel}
            channel={form.values.channel}
            value={form.values.segment_id || null}
            current={source?.segment}
            onChange={(id) => form.setFieldValue('segment_id', id)}
            error={form.errors['segment_id']}
          />
        </Stack>
      )}
    </FormDialog>
  )
}
