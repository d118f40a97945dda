import { Alert } from '@mantine/core'
import { api } from '../../api'
import { useEdition } from '../../caller'
import { SendTest } from '../../parts/send-test'
import { loadWords } from '../../words'
import type { CampaignDetail } from './types'

const t = await loadWords('campaigns')

/** Sends the message to colleagues before customers get it. */
export function TestStep({ campaign }: { campaign: CampaignDetail }) {
  const edition = useEdition()
  if (campaign.channel === 'sms')
    return (
      <Alert color="blue" variant="outline">
        {t.noSmsTest}
      </Alert>
    )
  if (!edition) return null
  return (
    <SendTest
      operation="sendTestCampaign"
      edition={edition.id}
      organization={edition.organization.id}
      reason={campaign.email_message_id === null ? t.faults.required : null}
      send={async (body, headers) => {
        const init = { params: { path: { id: campaign.id } }, body, headers }
        return (await api.POST('/v1/campaigns/{id}/send-test', init)).data
      }}
    />
  )
}
